"""What a run's labelled answers teach a small model: silver rows, and a student's agreement with them."""
