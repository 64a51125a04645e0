"""Says how far the members of a jury agreed."""

from collections.abc import Mapping

from judgec.report.numbers import number, percent


def jury_sentence(found: Mapping[str, object]) -> str:
    """Sentence on how far the members of a jury agreed.

    Args:
        found: From ``AskedJudges.agreement``.
    """
    pairs = found["pairs"]
    assert isinstance(pairs, list)  # as it was made
    said = [
        f"{pair['a']} and {pair['b']} gave the same grade to {percent(pair['exact'])} of {pair['n']} "
        f"(kappa {'undefined' if pair['kappa'] is None else number(pair['kappa'])})"
        for pair in pairs
        if pair["exact"] is not None
    ]
    return f"The jury, a vote each: {'; '.join(said) or 'no two of them judged the same'}."
