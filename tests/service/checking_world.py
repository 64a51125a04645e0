"""Constructed answers of which some claims are true, and a model that finds out which."""

from collections.abc import Mapping

from tests.prompts import unquote
from tests.service.replies import Call, Outcome, answer, digest

PLACES = ("Aarau", "Bergen", "Cadiz", "Delft", "Evora", "Fulda", "Ghent", "Hvar", "Izmir", "Jena")
FACTS = (
    "The harbour of {place} was opened in {a}.",
    "Its lighthouse is {b} metres tall.",
    "About {c} ships call there every year.",
)


def _figures(number: int) -> dict[str, object]:
    draw = digest("facts", str(number))
    return {"a": 1800 + draw % 150, "b": 20 + draw // 150 % 60, "c": 300 + draw // 9000 % 900}


def claims_row(number: int) -> dict[str, object]:
    """An answer of three claims; the grade is how many of them its passage says."""
    place = f"{PLACES[number % len(PLACES)]} {number // len(PLACES)}"
    figures = _figures(number)
    facts = [fact.format(place=place, **figures) for fact in FACTS]
    wrong = digest("wrong", str(number)) % 8
    said = [
        FACTS[k].format(place=place, **{name: int(str(value)) + 7 for name, value in figures.items()})
        if wrong >> k & 1
        else fact
        for k, fact in enumerate(facts)
    ]
    return {
        "query": f"What is known of the harbour of {place}?",
        "answer": " ".join(said),
        "contexts": [" ".join(facts), f"The market of {place} is on Fridays."],
        "nuggets": [{"text": facts[0], "importance": "vital"}, f"okay: {facts[1]}"],
        "grade": 1 + 3 - wrong.bit_count(),
    }


def cited_row(number: int) -> dict[str, object]:
    """A sentence that cites one of two documents, and whether it is the right one."""
    row = claims_row(8 * number)
    right, contexts = digest("cited", str(number)) % 2, row["contexts"]
    assert isinstance(contexts, list)
    sentence = contexts[0].split(". ")[0]
    return {
        "query": row["query"],
        "answer": f"{sentence} [{1 if right else 2}].",
        "contexts": contexts,
        "supported": "yes" if right else "no",
    }


def check(call: Call) -> Outcome:
    """Lines that are right, and a grade that is none: what it knows of the item is in the lines alone."""
    inputs, outputs = call.prompt.inputs, call.prompt.outputs
    grades = {one.name: one.labels[digest(inputs.get("answer", "")) % len(one.labels)] for one in outputs if one.labels}
    return answer(call, grades, _lines(inputs))


def _lines(inputs: Mapping[str, str]) -> str:
    if "answer" not in inputs:
        return "nothing to check"
    answer_, passages = "".join(unquote(inputs["answer"])), list(unquote(inputs.get("contexts", "")))
    known = [sentence.rstrip(".") for text in passages for sentence in text.split(". ")]
    lines = []
    for claim in answer_.split(". "):
        bare = claim.partition(" [")[0].rstrip(".")
        cited = passages[int(claim[claim.index("[") + 1]) - 1] if "[" in claim else None
        found = bare in known if cited is None else bare in cited
        first = bare.split()[0]
        near = bare if found else next((one for one in known if cited is None and one.startswith(first)), "")
        lines.append(f"- {'supported' if found else 'contradicted'} | {bare} | {near}")
    return "\n".join(lines)


def hidden_row(number: int) -> dict[str, object]:
    """Three claims of which no text says whether they are true; the grade is how many are."""
    return {
        "query": f"What is known of gate {number}?",
        "answer": f"Gate {number} is blue. Its bolt is of iron. Its lamp is lit.",
        "contexts": ["A wall has gates."],
        "grade": 1 + _truth(number).bit_count(),
    }


def know(call: Call) -> Outcome:
    """Knows which claims of ``hidden_row`` are true and says so line by line; its grade has nothing to do with it."""
    said = "".join(unquote(call.prompt.inputs.get("answer", "")))
    if not said:
        return answer(call, {})
    truth = _truth(int(said.split()[1]))
    claims = said.split(". ")
    lines = [f"{'supported' if truth >> k & 1 else 'not found'} | {claim} |" for k, claim in enumerate(claims)]
    grades = {o.name: o.labels[digest("grade", said) % len(o.labels)] for o in call.prompt.outputs if o.labels}
    return answer(call, grades, "\n".join(lines))


def rubric_row(number: int) -> dict[str, object]:
    """An answer and three criteria of which no text says whether they are met; the grade is what they weigh."""
    truth = _truth(number)
    met = [bool(truth >> k & 1) for k in range(3)]
    return {
        "query": f"How is gate {number} opened?",
        "answer": f"Gate {number} is opened as all gates are.",
        "criteria": [
            {"criterion": text, "points": points, "criteria_met": one}
            for text, points, one in zip(
                ("Warns of the dog.", "Names the key.", "Is polite."), (5, 2, 1), met, strict=True
            )
        ],
        "grade": 1 + round(4 * sum(points for points, one in zip((5, 2, 1), met, strict=True) if one) / 8),
    }


def weigh(call: Call) -> Outcome:
    """Knows which criteria of ``rubric_row`` are met and says so line by line; its grade has nothing to do with it."""
    said = "".join(unquote(call.prompt.inputs.get("answer", "")))
    if not said:
        return answer(call, {})
    truth = _truth(int(said.split()[1]))
    lines = [f"{'given' if truth >> k & 1 else 'missing'} | {k + 1} |" for k in range(3)]
    grades = {o.name: o.labels[digest("grade", said) % len(o.labels)] for o in call.prompt.outputs if o.labels}
    return answer(call, grades, "\n".join(lines))


def _truth(number: int) -> int:
    return digest("truth", str(number)) % 8
