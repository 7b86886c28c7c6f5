"""What a run's labelled answers teach a small model: silver rows, and how far a student agrees with its teacher."""
