"""A judge that is a Python function."""


def recall(answer: str, reference: str) -> float:
    """Share of the reference's words that the answer has."""
    words, said = set(reference.split()), set(answer.split())
    return len(words & said) / len(words) if words else 0.0
