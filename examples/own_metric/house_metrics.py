"""What our style guide asks of an answer: the name of a substance, not of a brand."""

from pytest_medfaith.metrics.base import Metric

BRANDS = ("Advil", "Tylenol", "Voltaren")


def named_brands(report):
    """Returns (claims that name a brand, claims); None for an answer without claims."""
    texts = [verdict.claim.text for verdict in report.verdicts]
    if not texts:
        return None
    return sum(any(brand in text for brand in BRANDS) for text in texts), len(texts)


brand_names = Metric(
    name="brand_names",
    direction="lower",
    definition="claims that name a brand / claims",
    range=(0.0, 1.0),
    per_case=named_brands,
    part="count",
    whole="claims",
)
