"""Losses, which training makes small: for minimal pairs, for a teacher's logits, and for silver rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_medfaith.distill.records import SilverPair
from pytest_medfaith.records import LABELS

TEACHER_WEIGHT = 0.7  # weight of the teacher's probabilities; the label has the rest
TEMPERATURE = 3.0  # by which both models' logits are divided in `soft_loss`


def contrast_loss(logits: Any, targets: Any, bundles: Any) -> Any:
    """Returns the mean contrast loss over minimal pairs with different labels; 0 where there are none.

    A minimal pair is a claim with two texts that differ in one spot. Its loss is -log p(this text, and not
    the other one, gives the claim its label). A model that ignores the texts gives both the same logits, and
    pays log 2. Source: Dua, Dasigi, Singh & Gardner (2021), "Learning with Instance Bundles for Reading
    Comprehension".

    Args:
        logits: (n, 3).
        targets: (n,) label indices.
        bundles: (n,) number of each row's bundle; rows of the same bundle are minimal pairs.
    """
    import torch

    # of_label[j, i] is row j's log-probability of row i's label.
    of_label = torch.log_softmax(logits, dim=1)[:, targets]
    clash = (bundles[:, None] == bundles[None, :]) & (targets[:, None] != targets[None, :])
    if not clash.any():
        return logits.new_zeros(())
    return torch.nn.functional.softplus(of_label - of_label.diagonal()[None, :])[clash].mean()


def soft_loss(logits: Any, teacher: Any, targets: Any) -> Any:
    """Returns 0.7 KL(teacher, student) at temperature 3, times 9, plus 0.3 cross-entropy of the labels.

    A batch without labels has the divergence only, at full weight.

    Args:
        logits: (n, 3), the student's.
        teacher: (n, 3), the teacher's logits.
        targets: (n,) label indices, -1 where there is no label.
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
    """Returns the mean cross-entropy of silver rows, plus a regulariser where it has a weight.

    With `soft`, a row with the teacher's probabilities q costs 0.7 times -sum q log p, plus 0.3 times the
    cross-entropy of its label. The regulariser keeps a student from calling a claim entailed by evidence on
    other drugs and diseases: it is the mean of (1 - J) p(entail), with J the Jaccard index of the concepts
    (CUIs) of claim and evidence. It is 0 for rows that are entailed, or name no concept.

    Args:
        logits: (n, 3).
        rows: the n rows of the batch.
        soft: whether the teacher's probabilities are learned.
        entity_weight: weight of the regulariser; 0 leaves it out.
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
