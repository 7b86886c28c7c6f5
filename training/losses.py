"""What a training makes small: cross-entropy, contrast between minimal pairs, divergence from a teacher."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_medfaith.distill.records import SilverPair
from pytest_medfaith.records import LABELS

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


def silver_loss(logits: Any, rows: Sequence[SilverPair], *, soft: bool, entity_weight: float) -> Any:
    """Returns the mean cross-entropy of silver rows, with a regulariser where it has a weight.

    With `soft` a row with the teacher's probabilities q costs 0.7 times -sum q log p, and 0.3 times the
    cross-entropy of its label. The regulariser is the mean over all rows of (1 - J) p(entail), where J is the
    Jaccard index of the concepts (CUIs) of claim and evidence; it is 0 for rows that are entailed, or that
    name no concept. So a student does not learn to call entailed what speaks of other drugs and diseases.

    Args:
        logits: (n, 3).
        rows: of the batch, n.
        soft: whether the teacher's probabilities are learned.
        entity_weight: of the regulariser.
    """
    import torch

    logs = torch.log_softmax(logits, dim=1)
    targets = torch.tensor([LABELS.index(row.label) for row in rows], device=logits.device)
    loss = torch.nn.functional.nll_loss(logs, targets, reduction="none")
    if soft:
        given = torch.tensor([row.probs is not None for row in rows], device=logits.device)
        wanted = torch.tensor([row.probs or (0.0, 0.0, 0.0) for row in rows], device=logits.device)
        softly = TEACHER_WEIGHT * -(wanted * logs).sum(dim=1) + (1 - TEACHER_WEIGHT) * loss
        loss = torch.where(given, softly, loss)
    mean = loss.mean()
    if entity_weight:
        apart = [
            1 - row.entity_overlap if row.entity_overlap is not None and row.label != "entail" else 0.0
            for row in rows
        ]
        weights = torch.tensor(apart, device=logits.device)
        mean = mean + entity_weight * (weights * logs[:, LABELS.index("entail")].exp()).mean()
    return mean
