"""The answer by itself and beside its question: length, refusals, and whether it gives what was asked for."""

import re
from math import log1p
from typing import NamedTuple

from judgec.evidence.overlap import Weight, ratio, support
from judgec.evidence.text import Library, StemmedText, read
from judgec.records.language import ENGLISH

_NOT = r"(?:do(?:es)?|did|is|are|was|were|has|have|can|could|would)(?: not|n't)"
_TELL = (
    r"(?:answer|say|tell|determine|find|locate|identify|confirm|verify|provide|give|offer|mention|specify|state|"
    r"contain|include|address|discuss|indicate|clarify|describe|explain|list|know|cover|refer|reveal|disclose|help|"
    r"assist)"
)
_TOLD = (
    r"(?:answered|said|determined|found|located|identified|confirmed|provided|given|mentioned|specified|stated|"
    r"contained|included|addressed|discussed|indicated|known|available|clear|certain|sure|enough|sufficient|"
    r"possible|able|aware|familiar|listed|described|disclosed|explicitly|directly|specific)"
)
_SOURCE = (
    r"(?:information|mention|answer|data|evidence|details?|context|records?|reference|indication|knowledge|"
    r"sources?)"
)
_REFUSAL = re.compile(
    r"\b(?=[acdhilnuw])(?:"  # letters that one of these begins with: far faster than to try each of them everywhere
    rf"{_NOT}(?: \w+){{0,2}}? {_TELL}\b|{_NOT}(?: \w+)? {_TOLD}\b"
    rf"|{_NOT} (?:have|has|appear|seem)\b(?: \w+){{0,4}}? {_SOURCE}\b"
    rf"|(?:not|never)(?: \w+)? {_TOLD}\b|no(?: \w+){{0,2}}? {_SOURCE}\b"
    r"|(?:cannot|can't|couldn't|unable to|impossible to|not able to|hard to|difficult to)(?: be)?(?: \w+)? "
    rf"(?:{_TELL}|{_TOLD})\b"
    rf"|(?:insufficient|lacks?|lacking|without (?:more|further|additional))(?: \w+)? {_SOURCE}\b"
    r"|unanswerable\b|unknown\b|unclear\b|i(?: a|')m (?:sorry|afraid|unaware)\b|i apologi[sz]e\b"
    r"|as an ai\b|^n/a\b|no idea\b)"
)
"""Ways to say that an answer is not known or not given, as assistants and people phrase them in English."""

_PAGES = (
    r"(?:passages?|excerpts?|pages?|texts?|documents?|documentation|contexts?|materials?|sources?|sections?|snippets?|"
    r"fragments?|sheets?)"
)
_GIVEN = (
    r"(?:(?:i|we) (?:have|had|was|were|am|are|can|could|may)(?: been)? ?(?:\w+ )??"
    r"(?:given|shown|access|see|find|read|consult)\b"
    rf"|{_PAGES} (?:(?:i|we) have|at hand|in front|available)"
    rf"|{_PAGES} (?:that |which )?(?:was|were) (?:retrieved|given|provided)"
    rf"|(?:my|retrieved|provided|given|supplied) {_PAGES}\b)"
)
_EMPTY_HANDS = re.compile(
    r"\b(?:i|we) (?:have|had|see|saw|found|(?:can|could) (?:see|find|offer|give|locate))(?: \w+)? "
    r"(?:no|nothing|neither|none|only fragments)\b"
    r"|\b(?:i|we) (?:do not|don't|did not|didn't) (?:have|see|find)\b"
    rf"|\b(?:no|not|nothing|neither|none|beyond|outside|missing|absent)\b[^.;]*\b{_GIVEN}"
    rf"|\b{_PAGES} (?:i|we) (?:have|was given|were given) (?:deal|deals|is about|are about|cover|covers) .*\bother\b"
)
"""The same said of what the writer holds: "I have no figures", "nothing in the pages I was shown says where"."""

_REFUSAL_CUES = (
    *(
        "n't",
        "not",
        "never",
        "no ",
        "unable",
        "impossible",
        "hard to",
        "difficult to",
        "insufficient",
        "lack",
    ),
    *(
        "without",
        "unanswerable",
        "unknown",
        "unclear",
        "sorry",
        "afraid",
        "unaware",
        "i apolog",
        "as an ai",
        "n/a",
    ),
)
_EMPTY_CUES = ("i ", "we ", "my ", "given", "provided", "retrieved", "supplied", "at hand", "in front", "available")
_ABSENT_CUES = ("no", "n't", "neither", "beyond", "outside", "missing", "absent", "only fragments", "other")
"""One of these is in every refusal, of the second kind one of both; looking for them first is far cheaper than the
pattern."""

_GREETING = re.compile(
    r"\W*(?:sure|certainly|of course|absolutely|okay|great question|good question|"
    r"thank you for your question|thanks for asking|hello|hi)\b[,!.]*",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"\b(?:i'd|i would|i'm|i am)(?: be)? (?:happy|glad|pleased) to (?:help|assist|answer)[^.!?\n]*[.!]"
    r"|\b(?:i hope (?:this|that) helps?|let me know if|feel free to ask|please let me know)[^.!?\n]*[.!]?",
    re.IGNORECASE,
)
_ATTRIBUTION = re.compile(
    r"\b(?=[abf])(?:based (?:up)?on|according to|as (?:stated|mentioned|described) in|from) "
    r"(?:(?:the|this|your|all|above|given|information|details|content|provided|in|available) ){0,6}"
    r"(?:document|context|passage|text|article|information|source|content|material)s?"
    r"(?: (?:provided|given|above|you provided))?,?",
    re.IGNORECASE,
)
_OFFER_CUES = ("happy", "glad", "pleased", "hope", "let me", "feel free")
_ATTRIBUTION_CUES = ("based", "according", "as stated", "as mentioned", "as described", "from ")
_ATTRIBUTED_CUES = (
    *("document", "context", "passage", "text", "article", "information", "source", "content", "material"),
)

ANSWER_NAMES = (
    "length",
    "sentences",
    "refusal",  # share of sentences
    "refused",
    "refused_at_once",
    "refused_then_answered",
    "courtesy",
    "question_coverage",
    "new_stems",
    "repetition",
    "numbers",
    "names",
    "names_share",
    "word_length",
    "gives_number",
    "gives_name",
    "gives_polarity",
    "ends_open",
    "begins_small",
    "question_length",
)


class JudgedAnswer(NamedTuple):
    """An answer as it is judged.

    Args:
        text: As given.
        passage: Its stems.
        claims: The same without courtesies and refusing sentences: what can be right or wrong.
        courtesy: Share of its characters that are courtesies.
        refused: For each of its sentences, whether it refuses.
    """

    text: str
    passage: StemmedText
    claims: StemmedText
    courtesy: float
    refused: tuple[bool, ...]

    @property
    def refusal(self) -> float:
        """Share of the sentences that say the answer is not known or not given; 0 for an empty answer."""
        return ratio(sum(self.refused), len(self.refused))


def refuses(sentence: str) -> bool:
    """True when a lower-case sentence says in English that the answer is not known or not given."""
    if _any(_REFUSAL_CUES, sentence) and _REFUSAL.search(sentence) is not None:
        return True
    return _may_be_empty(sentence) and _EMPTY_HANDS.search(sentence) is not None


def _may_be_empty(said: str) -> bool:
    return _any(_EMPTY_CUES, said) and _any(_ABSENT_CUES, said)


def _any(cues: tuple[str, ...], said: str) -> bool:
    """True if one of them stands there."""
    return any(map(said.__contains__, cues))


def refusing(passage: StemmedText, like: StemmedText | None = None) -> tuple[bool, ...]:
    """For each sentence of a text whether it refuses; found once a text.

    Args:
        passage: The text.
        like: A text of the same language that has most of these sentences.
    """
    known = passage.refusing
    if known is None and like is not None:
        before = dict(zip((line for line, _ in like.lines), refusing(like), strict=True))
        known = tuple([before[line] if line in before else refuses(line) for line, _ in passage.lines])
    elif known is None:
        lines = [line for line, _ in passage.lines]
        said = "\n".join(lines)
        if _any(_REFUSAL_CUES, said) or _may_be_empty(said):
            known = tuple([refuses(line) for line in lines])
        else:  # what no sentence can have
            known = (False,) * len(lines)
    passage.refusing = known
    return known


def without_courtesies(text: str) -> str:
    """``text`` without greetings, offers of help and references to "the provided document", which claim
    nothing.
    """
    low = text.lower()
    greeting = _GREETING.match(text)
    bare = text[greeting.end() :] if greeting else text
    if _any(_OFFER_CUES, low):
        bare = _OFFER.sub(" ", bare)
    if _any(_ATTRIBUTION_CUES, low) and _any(_ATTRIBUTED_CUES, low):
        bare = _ATTRIBUTION.sub(" ", bare)
    return bare


def read_answer(text: str, library: Library) -> JudgedAnswer:
    """``text`` with its refusals and courtesies found."""
    passage = library.read(text)
    refused = refusing(passage)
    bare = without_courtesies(text)
    claims = passage if bare == text else read(bare, library.reader)
    if bare != text or any(refused):
        kept = [i for i, refuse in enumerate(refusing(claims, passage)) if not refuse]
        lines, quotes = [claims.lines[i] for i in kept], [claims.quotes[i] for i in kept]
        sentences = [claims.sentences[i] for i in kept]
        claims = StemmedText(lines, 0, quotes, library.reader, sentences=sentences)
    return JudgedAnswer(text, passage, claims, 1.0 - ratio(len(bare.strip()), len(text.strip()), 1.0), refused)


def answer_features(answer: JudgedAnswer, question: StemmedText, weight: Weight) -> tuple[float, ...]:
    """The numbers of ``ANSWER_NAMES`` for an answer with at least one word."""
    reply, asked, refusal = answer.passage, question.vocabulary, answer.refusal
    n_words, n_stems, text = len(reply.stems), len(reply.vocabulary), answer.text.strip()
    return (
        log1p(n_words),
        log1p(len(reply.sentences)),
        refusal,
        float(any(answer.refused)),
        float(answer.refused[0]),
        4.0 * refusal * (1.0 - refusal),
        answer.courtesy,
        support(question.content, reply.vocabulary, weight, 0.5),
        len(reply.vocabulary.keys() - asked.keys()) / n_stems,
        1.0 - n_stems / n_words,
        log1p(len(reply.numbers)),
        log1p(len(reply.names)),
        len(reply.names) / n_stems,
        len(reply.compact) / n_words / 10.0,
        *_gives(reply, question),
        float(text[-1:].isalnum()),
        float(text[:1].islower()),
        log1p(len(question.stems)),
    )


_QUANTITY = frozenset(
    ["when", "year", "date", "old", "long", "far", "age", "percentag", "mani", "much", "number", "tall"]
)
_PERSON_OR_PLACE = frozenset(["who", "whom", "whose", "where"])
_SAYS = frozenset({"yes", "no"})
_POLAR_OPENINGS = "is are was were do doe did can could has have had will should"
_POLAR = frozenset(_POLAR_OPENINGS.split())


def _gives(reply: StemmedText, question: StemmedText) -> tuple[float, float, float]:
    """Marks whether a figure, a name, a yes or no is given where one is asked for: 1 yes, -1 no, 0 not asked
    for, or not in English.
    """
    if question.reader.language != ENGLISH:
        return 0.0, 0.0, 0.0
    asked = question.vocabulary
    polar = bool(question.stems) and question.stems[0] in _POLAR
    return (
        0.0 if _QUANTITY.isdisjoint(asked) else 1.0 if reply.numbers.keys() - asked.keys() else -1.0,
        0.0 if _PERSON_OR_PLACE.isdisjoint(asked) else 1.0 if reply.names.keys() - asked.keys() else -1.0,
        (1.0 if reply.stems[0] in _SAYS else -1.0) if polar else 0.0,
    )


def asked_for(reply: StemmedText, question: StemmedText) -> tuple[str, float] | None:
    """The kind of reply that is asked for, and 1 where a reply of at least one word gives it, else -1; None of other
    questions.
    """
    for thing, given in zip(("a number", "a name", "a yes or no"), _gives(reply, question), strict=True):
        if given:
            return thing, given
    return None
