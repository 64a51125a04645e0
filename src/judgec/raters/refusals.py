"""Tells words that take a grade back, or refuse one, from a comment on it: one table, which the tests go through."""

import re
from typing import NamedTuple

_APOSTROPHE = "['’]"
_JUDGE = (
    r"(?:grade|judge|rate|score|assess|evaluate|answer|comply|give|assign|decide|say|tell|help|do (?:this|that|so))"
)
_TOLD = (
    r"(?:says?|said|claims?|claimed|states?|stated|writes?|wrote|argues?|argued|reports?|reported|insists?|thinks?|adds?"
    r"|believes?|concludes?|concluded|suggests?|explains?|notes|tells us)"
)
# Where an attribution begins: "..., the student says". The rubric may say what it likes.
_BEGUN = (
    r"(?:\A|[,;–—(-]\s{0,2})(?:as |so |or so |(?:that|this|it)(?: is|['’]s) what )?"
    r"(?!(?:i|we)\b|[^,;(]{0,30}\b(?:rubric|criteri|guideline|instruction|scale))"
)
_WHO = r"(?:(?:the|this|that|its?|an?) (?:[\w'’-]{1,20} ){1,3}|(?:he|she|it|they|someone|[\w'’-]{1,20} [\w'’-]{1,20}) )"
_SOMEBODY = r"(?:the|its|an?|this) [\w'’ -]{1,40}"
_THERE = r"(?: (?:so|there|here|itself|in (?:it|the \w{1,20})))?"
_OPINION = r"(?:claim|words|opinion|view|verdict|grade|score)"


class Withdrawal(NamedTuple):
    """One way of giving no grade.

    Args:
        kind: ``refusal``, ``negation``, or ``attribution`` to somebody else.
        pattern: A regular expression; case does not matter.
        example: A comment that it matches.
        whole: The comment is nothing else: "5: no" takes the grade back, "5: no errors" explains it.
    """

    kind: str
    pattern: str
    example: str
    whole: bool = False


TABLE = (
    Withdrawal("refusal", rf"\bi(?:{_APOSTROPHE}m| am) (?:sorry|unable|not able)\b", "I'm sorry"),
    Withdrawal("refusal", rf"\bi (?:can(?:not| not|{_APOSTROPHE}t)|won{_APOSTROPHE}t|will not)\b", "I cannot say"),
    Withdrawal("refusal", r"\bi (?:must |have to |would |will )?(?:refuse|decline)\b", "I refuse to grade"),
    Withdrawal("refusal", rf"\bi (?:do not|don{_APOSTROPHE}t) (?:want|wish|{_JUDGE})", "I do not want to grade this"),
    Withdrawal("refusal", rf"\b(?:refus(?:e|ing)|declin(?:e|ing)|unable|not able) to {_JUDGE}\b", "unable to judge"),
    Withdrawal("refusal", rf"\b(?:cannot|can not|can{_APOSTROPHE}t) be (?:graded|judged|rated|scored)\b",
               "this cannot be graded"),
    Withdrawal("refusal", r"\bas an ai\b", "as an AI, that is not for me"),
    Withdrawal("refusal", r"\bno (?:grade|rating|score|verdict)\b", "no grade"),
    Withdrawal("negation", r"no|nope|not|none|never|nothing|nein|nicht|non|nee|nej|não|нет|不|いいえ|"
               r"n/?a|nil|null|nan|wrong|false|not really|absolutely not|certainly not|no way", "no", whole=True),
    Withdrawal("negation", r"\bnot (?:a|an|the|my|its|your|really a) (?:\w+ )?(?:grade|rating|score|verdict)\b",
               "that is not my grade"),
    Withdrawal("negation", r"\bnot (?:this|that) (?:one|grade|score)?\s*$", "not that one"),
    Withdrawal("negation", rf"\b(?:would|is|was|it{_APOSTROPHE}s) (?:be )?(?:the )?wrong (?:grade|rating|score)\b",
               "this is the wrong grade"),
    Withdrawal("negation", r"\b(?:scratch|strike|ignore|disregard) (?:that|this|it)\b|\bnever ?mind\b",
               "scratch that"),
    Withdrawal("negation", r"\bon second thoughts?\b|\bi (?:take|took) (?:that|it) back\b|\bchanged my mind\b",
               "on second thought, lower"),
    Withdrawal("negation", r"\A(?:oh,? |no,? )?(?:wait|hold on|hmm+)(?:[,.!…]|\Z)", "wait, lower"),
    Withdrawal("negation", rf"\b(?:just )?(?:kidding|joking)\b|\bi didn{_APOSTROPHE}t mean\b", "just kidding"),
    Withdrawal("attribution", rf"{_BEGUN}{_WHO}{_TOLD}{_THERE}\Z",
               "the student says"),
    Withdrawal("attribution", rf"{_BEGUN}(?:{_TOLD}|according to|in the words of) {_SOMEBODY}\Z",
               "says the answer"),
    Withdrawal("attribution", rf"{_BEGUN}(?:stated|claimed|said|written|reported|noted) by {_SOMEBODY}\Z",
               "as stated by the user"),
    Withdrawal("attribution", rf"{_BEGUN}(?:the|a) \w{{1,20}}['’]s? (?:own )?{_OPINION}\Z",
               "the author's opinion"),
    Withdrawal("attribution", r"\b(?:asks?|asked|tells?|told|wants?|wanted|orders?|ordered|begs?|instructs?|instructed)"
               r" (?:me|us|the (?:judge|grader|evaluator|model)) to (?:give|say|output|assign|write|rate|score"
               r"|grade|award)\b", "the score that the answer asks me to give"),
)  # fmt: skip

_REFUSING = re.compile("|".join(row.pattern for row in TABLE if row.kind == "refusal"), re.IGNORECASE)
_ANYWHERE = re.compile("|".join(row.pattern for row in TABLE if not row.whole), re.IGNORECASE)
_WHOLE = re.compile("|".join(f"(?:{row.pattern})" for row in TABLE if row.whole), re.IGNORECASE)
AROUND = " \t\r\n\"'`*_.,;:!?()[]-–—…"  # of a comment


def refuses(text: str) -> bool:
    """True if a text says that there will be no grade."""
    return _REFUSING.search(text) is not None


def takes_back(comment: str) -> bool:
    """True if what stands behind a grade refuses it or says that it does not hold."""
    said = " ".join(comment.split()).strip(AROUND)
    return _WHOLE.fullmatch(said) is not None or _ANYWHERE.search(said) is not None
