"""What a training makes small: cross-entropy, contrast between minimal pairs, divergence from a teacher."""

from __future__ import annotations

from typing import Any

TEACHER_WEIGHT = 0.7  # of the teacher's part of the soft loss
TEMPERATURE = 3.0  # of both models' logits in the soft loss


def contrast_loss(logits: Any, targets: Any, bundles: Any) -> Any:
    """Returns the mean contrast loss over minimal pairs of unlike labels; 0 where there are none.

    The loss of a minimal pair is -log p(this text, and not the text beside it, gives the claim its label). A
    model that reads the claim alone gives both texts the same logits, and pays log 2.
    Source: Dua, Dasigi, Singh & Gardner (2021), "Learning with Instance Bundles for Reading Comprehension".

    Args:
        logits: (n, 3).
        targets: label indices, (n,).
        bundles: number of the bundle of each row, (n,); rows of a bundle are minimal pairs.
    """
    import torch

    # of_label[j, i] is row j's log-probability of row i's label.
    of_label = torch.log_softmax(logits, dim=1)[:, targets]
    clash = (bundles[:, None] == bundles[None, :]) & (targets[:, None] != targets[None, :])
    if not clash.any():
        return logits.new_zeros(())
    return torch.nn.functional.softplus(of_label - of_label.diagonal()[None, :])[clash].mean()


def soft_loss(logits: Any, teacher: Any, targets: Any) -> Any:
    """Returns 0.7 KL(teacher, student) at temperature 3, times 9, plus 0.3 cross-entropy.

    A batch without any label has the divergence alone, at full weight.

    Args:
        logits: the student's, (n, 3).
        teacher: logits, (n, 3).
        targets: label indices (n,), -1 where there is none.
    """
    import torch

    student, wanted = (torch.log_softmax(each / TEMPERATURE, dim=1) for each in (logits, teacher))
    divergence = (
        torch.nn.functional.kl_div(student, wanted, reduction="batchmean", log_target=True) * TEMPERATURE**2
    )
    labelled = targets >= 0
    if not labelled.any():
        return divergence
    hard = torch.nn.functional.cross_entropy(logits[labelled], targets[labelled])
    return TEACHER_WEIGHT * divergence + (1 - TEACHER_WEIGHT) * hard
