"""Questions that the documents do not answer, by rule: about what they could say, and about what is in none of them.

Four ways, as far as a passage has what they need; ``drafts.check`` searches the whole corpus for each question before
it is called unanswerable:

- what a document could tell of its subject and hardly does (needs a title);
- an event of what the passage is about, in a year near those that it names and nowhere in the corpus;
- a statement of the passage, made of somebody whose name stands nowhere in the corpus;
- what such a person did about the passage's topic.
"""

import re
from collections import Counter
from collections.abc import Sequence

from judgec.evidence.text import FUNCTION_STEMS, stem
from judgec.rag.queries.filters import DATE
from judgec.rag.queries.sampling import Draw, seeded
from judgec.rag.queries.scenarios.drafts import Draft
from judgec.rag.retrieval.passages import Passage
from judgec.rag.rules.facts import NAME, Fact, titled

NOTHING = "neither a title nor a topic to ask about"
NEAREST = 5  # absent years around a passage's own that one is drawn from
USUAL = range(1801, 2020)  # years asked for where a passage names none
SHORTEST = 4  # letters of a word of a topic

ABSENT = (  # what a document could tell and hardly does
    "carbon footprint",
    "customs tariff number",
    "insured value",
    "annual electricity bill",
    "favourite colour",
    "Bluetooth range",
    "crash-test rating",
    "patent licence fee",
    "recycling quota",
    "stock-exchange ticker",
    "telephone extension",
    "horoscope sign",
    "calorie count",
    "resale price in euros",
    "library shelf mark",
    "mean time between failures",
    "Wi-Fi password",
    "shoe size",
    "parking permit",
    "vaccination schedule",
)

_FIRST = (
    *("Adelorn", "Brisoula", "Corvath", "Delphira", "Eskarin", "Fennovar", "Gwendrith", "Halvenor", "Ilsabrand"),
    *("Jorunvik", "Kestrana", "Lyndomir", "Marvetta", "Norrigan", "Ophrelle", "Perrowin", "Quillona", "Rasmovar"),
)
_LAST = (
    *("Abernoth", "Brandeskow", "Castervelt", "Drummeling", "Elversholt", "Farnequist", "Grimbaldi", "Hesterlund"),
    *("Ingersvold", "Jessenroth", "Kolderwyn", "Lindqvarn", "Mossenbeck", "Nachtergal", "Ostrowind", "Pellenberg"),
)
_EVENTS = (  # nobody can infer them from what is true before and after
    "What was announced about {about} in {year}?",
    "Which award was given for {about} in {year}?",
    "Which lawsuit about {about} was decided in {year}?",
    "Which exhibition was devoted to {about} in {year}?",
)
_WORKS = (
    "What did {name} find out about {about}?",
    "Which objection to {about} did {name} raise?",
    "How much did {name} spend on {about}?",
    "Who worked with {name} on {about}?",
    "Which of {name}'s publications is about {about}?",
)
_YEAR = re.compile(r"(?<![\w.,-])(?:1[0-9]\d\d|20\d\d)(?![\w%]|[.,]\d)")
_WORD = re.compile(r"[^\W\d_]+")
_BREAK = re.compile(r"[^\w\s]|\d")


def absent_years(chunks: Sequence[Passage]) -> tuple[int, ...]:
    """The years from 1000 to 2099 that stand in no passage, in order."""
    seen = {number for chunk in chunks for number in re.findall(r"\d{4}", f"{chunk.title}\n{chunk.text}")}
    return tuple(year for year in range(1000, 2100) if str(year) not in seen)


def has_subject(passage: Passage) -> bool:
    """True if there is something in a passage to ask about."""
    return bool(passage.title or topic(passage.text))


def unanswerable(draw: Draw, facts: Sequence[Fact], years: Sequence[int]) -> Draft | str:
    """A question of one of the four ways, drawn among those that the passage allows; or why there is none.

    Args:
        draw: The passage and the seed.
        facts: What rules find in the passage.
        years: From ``absent_years`` of the corpus.
    """
    chunk, rng = draw.chunks[0], seeded(draw.seed, "absent")
    name = f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"
    title = titled(chunk)
    about = title or rng.choice(names(chunk.text) or [topic(chunk.text)])
    ways: list[Draft] = []
    if title:
        focus = rng.choice(ABSENT)
        ways.append(Draft(f"What is the {focus} of the {title}?", "", focus=focus, subject=title))
    if about and (near := _near(chunk.text, years)):
        year = str(rng.choice(near))
        ways.append(Draft(rng.choice(_EVENTS).format(about=about, year=year), "", focus=year))
    if about:
        ways.append(Draft(rng.choice(_WORKS).format(name=name, about=about), "", focus=name))
    stated = [(fact, found) for fact in facts if (found := NAME.match(fact.cloze)) and _is_name(found.group())]
    if stated:
        fact, found = rng.choice(stated)
        said = f"{name}{fact.cloze[found.end() :]}"
        ways.append(Draft(f'Which {fact.kind} completes this statement: "{said}"?', "", focus=name))
    return rng.choice(ways) if ways else NOTHING


def names(text: str) -> list[str]:
    """The names of several words that a text holds, each once, in order."""
    return [name for name in dict.fromkeys(NAME.findall(text)) if _is_name(name)]


def _is_name(found: str) -> bool:
    """False for a date, and for a sentence's first word before a name: "In Paris"."""
    return stem(found.partition(" ")[0].casefold()) not in FUNCTION_STEMS and not DATE.search(found)


def _near(text: str, years: Sequence[int]) -> list[int]:
    """Absent years beside those that a text names, outside their range: what lies within may follow from the text."""
    own = [int(year) for year in _YEAR.findall(text)]
    if not own:
        return [year for year in years if year in USUAL]
    low, high = min(own), max(own)
    outside = [year for year in years if not low <= year <= high]
    return sorted(outside, key=lambda year: (min(abs(year - low), abs(year - high)), year))[:NEAREST]


def topic(text: str) -> str:
    """Topic of a text: two content words that stand side by side in it again and again, or a word that does.

    Empty where it has no word of four letters that is not a function word.
    """
    pairs: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for part in _BREAK.split(text):
        before = ""
        for word in _WORD.findall(part):
            low = word.casefold()
            fits = len(low) >= SHORTEST and stem(low) not in FUNCTION_STEMS
            if fits:
                words[low] += 1
                if before and before != low:
                    pairs[f"{before} {low}"] += 1
            before = low if fits else ""
    for found, least in ((pairs, 2), (words, 2), (pairs, 1), (words, 1)):
        best = found.most_common(1)  # the first of equals: a counter keeps the order of the text
        if best and best[0][1] >= least:
            return best[0][0]
    return ""
