"""What people say of claims: rows of a labels file, the claims drawn for them, agreement of reviewers."""
