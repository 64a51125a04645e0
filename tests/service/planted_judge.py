"""A judge that leans on one input: with it, it is right nearly always; without it, it rejects everything.

Its model is a real server on this machine, which counts every call that it gets.
"""

from pathlib import Path

from judgec.labels.reading import as_reading
from judgec.verbs.source import LabelSource
from tests.compile.small import compiled_from
from tests.prompts import unquote
from tests.service.replies import Call, Outcome, answer, digest

MODEL = "openai/gpt-4o-mini"  # has a list price, so that dollars can be capped
COLOURS = ("red", "green", "blue", "white", "black")
MISTAKES = 12  # one in so many is misread


def rows(queries: int, name: str, field: str = "reference", *, without: bool = False) -> list[dict[str, object]]:
    """Two answers a query, one right and one or two of them wrong, as the field says; graded 1 to 5.

    Args:
        queries: How many.
        name: Tells the rows of several files apart.
        field: What says which answer is right.
        without: Leave it out.
    """
    made: list[dict[str, object]] = []
    for number in range(queries):
        right = COLOURS[number % 5]
        for k, said in enumerate((right, COLOURS[(number + 1 + number % 2) % 5])):
            row: dict[str, object] = {
                "item_id": f"{name}{number}/{k}",
                "query_id": f"{name}{number}",
                "query": f"Which colour has the flag of {name}{number}?",
                "answer": f"The flag of {name}{number} is {said}.",
                "grade": 5 if said == right else 1,
            }
            told = f"The flag of {name}{number} is {right}."
            made.append(row if without else row | {field: [told] if field == "contexts" else told})
    return made


def leaning(call: Call) -> Outcome:
    """5 where the answer is what the prompt's reference or contexts say, 1 otherwise; now and then the contrary."""
    inputs = {name: "\n".join(unquote(value)) for name, value in call.prompt.inputs.items()}
    said = inputs.get("answer", "").strip()
    known = inputs.get("reference", "") + inputs.get("contexts", "")
    right = bool(said) and said in known
    if known and digest("slip", said) % MISTAKES == 0:
        right = not right
    return answer(
        call, {output.name: output.labels[-1 if right else 0] for output in call.prompt.outputs if output.labels}
    )


def planted(home: Path, api_base: str, field: str = "reference", *, folds: int = 1, lm: str = MODEL) -> None:
    """Compile it as ``lean`` on labels that all have the field."""
    read = LabelSource(str(home / "lean.jsonl"), as_reading(accept_at="3"))
    compiled_from(
        home,
        rows(60, "c", field),
        lm=lm,
        api_base=api_base,
        name="lean",
        accept_at="3",
        folds=folds,
        source=read.to_json(),
    )
