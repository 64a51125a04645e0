"""Checks the range that labels cover: whether they can speak for the items that they are to correct."""

from collections.abc import Sequence

from scipy import special

from judgec.records.label import FloatArray

# Of items drawn as the n labelled ones were a share Beta(2, n - 1), about Gamma(2) / (n + 1), is outside their range.
REFUSED = 0.017  # chance that a random sample is refused: above 6 / (n + 1)
RARE = 0.01  # chance below which a random sample would have missed a kind of item


def out_of_range(labelled: FloatArray, others: FloatArray, draws: int, *, looks: int = 1) -> str:
    """The reason why the labelled scores do not cover the other ones, or an empty text.

    Args:
        labelled: The judge's scores of the labelled items; no NaN.
        others: Its scores of the items that nobody labelled; no NaN.
        draws: Independent draws behind the labelled items: their queries.
        looks: So many samples are looked at; the chance that any random one is refused stays the same.
    """
    if not len(labelled) or not len(others):
        return ""
    low, high = float(labelled.min()), float(labelled.max())
    outside = float(((others < low) | (others > high)).mean())
    allowed = float(special.gammainccinv(2, REFUSED / looks)) / (draws + 1)
    if outside <= allowed:
        return ""
    return (
        f"{100 * outside:.0f} % of the judge's scores lie outside {low:.3g} to {high:.3g}, the range of the "
        f"labelled items; of a random sample of {draws} queries at most {100 * allowed:.0f} % would"
    )


def missing_kinds(labelled: Sequence[str], others: Sequence[str], draws: int, what: str) -> str:
    """The reason why labels that lack a kind of item are no random sample of all, or an empty text.

    Args:
        labelled: The kind (agent, group) of each labelled item.
        others: That of each other item.
        draws: Independent draws behind the labelled items: their queries.
        what: What a kind is called.
    """
    known = set(labelled)
    whole = len(labelled) + len(others)
    for kind in sorted(set(others) - known - {""}):
        share = sum(other == kind for other in others) / whole
        if (1 - share) ** draws < RARE:
            return f"{100 * share:.0f} % of the items are of {what} {kind}, which no label is of"
    return ""
