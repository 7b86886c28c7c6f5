"""Makes training rows for a small model (the student) out of answers that a teacher labelled in a run.

They are called silver rows: labelled by a model, not by people. It also measures how far a student agrees
with its teacher.
"""
