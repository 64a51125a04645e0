"""Rewritings of a question by rule: a situation around it, typing errors, German."""

import re

from judgec.rag.queries.sampling import seeded
from judgec.rag.rules.facts import Fact

ERROR_SHARE = 0.25  # of the words that may carry an error
SHORTEST = 5  # letters of a word that may
_WORD = re.compile(r"(?<![\w'-])[a-z]+(?![\w'-])")

_SITUATIONS = (
    "I am new in the team and have to brief a colleague this afternoon. {}",
    "I am writing a report and my reviewer wants every statement checked. {}",
    "We are on site without the paper documents and have to decide today. {}",
    "A customer is on the line and wants an answer that I can vouch for. {}",
)
_KINDS = {"number": "Welche Zahl", "date": "Welches Datum", "name": "Welcher Name"}


def situation(question: str, seed: int) -> str:
    """The question inside a user's situation."""
    return seeded(seed, "situation").choice(_SITUATIONS).format(question)


def noisy(question: str, seed: int) -> str:
    """The question with typing errors: letters swapped, left out or doubled in lower-case words of five and more.

    Figures, capitals and their words stay. At least one word changes where one may.
    """
    rng = seeded(seed, "typos")
    places = [match.span() for match in _WORD.finditer(question) if match.end() - match.start() >= SHORTEST]
    if not places:
        return question
    chosen = sorted(rng.sample(places, max(1, round(ERROR_SHARE * len(places)))), reverse=True)
    for begin, end in chosen:
        word = question[begin:end]
        at = rng.randrange(1, len(word) - 2)
        kinds = [word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:]]
        if word[at] != word[at + 1]:
            kinds.append(word[:at] + word[at + 1] + word[at] + word[at + 2 :])
        question = question[:begin] + rng.choice(kinds) + question[end:]
    return question


def german(fact: Fact) -> str:
    """The question about a fact in German; names and the passage's own words stay as they are."""
    if fact.asked:
        return f"Welchen Wert hat „{fact.asked}“ bei {fact.subject}?"
    about = f" über {fact.subject}" if fact.subject else ""
    return f"{_KINDS[fact.kind]} ergänzt diese Aussage{about}: „{fact.cloze}“?"
