"""Grades mean what the rubric says: an invention, another topic, an honest refusal, the reference: 1, 1, 2, 5."""

import re
from pathlib import Path

from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.raters.registry import judge_module
from judgec.records.label import Item
from judgec.records.scale import Scale
from tests.prompts import unquote
from tests.raters.trees import judge_of
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, answer

REFERENCE = "The Aerie O2 measures oxygen up to 25 % and is recalibrated every six months."
CONTEXT = "Every Aerie O2 measures up to 30 % and never needs recalibration."  # the reference is the definitive answer
ANSWERS = {
    "invention": "It has a plasma resonator from Oslo, needs 77 kV and was certified on the moon in 1931.",
    "elsewhere": "Bananas ripen much faster in a paper bag beside two apples.",
    "refusal": "I don't know, the documentation does not say.",
    "reference": REFERENCE,
    "from the context": CONTEXT,
}
MEANING = re.compile(r"^\s*(\d): (.+)$", re.MULTILINE)


def obeying(call: Call) -> Outcome:
    """Knows nothing but what the prompt says: grades by the meanings there, against what it calls definitive."""
    if not call.prompt.outputs:
        return answer(call, {})
    meanings: dict[str, str] = {text: grade for grade, text in MEANING.findall(call.instructions)}

    def grade_that_says(words: str) -> str:
        return next(grade for text, grade in meanings.items() if words in text)

    given = {name: " ".join(unquote(value)) for name, value in call.prompt.inputs.items()}
    definitive = "reference" if "The reference is the definitive answer" in call.instructions else "contexts"
    said, right = (set(re.findall(r"\w+", given[name].lower())) for name in ("answer", definitive))
    if said == right:
        grade = grade_that_says("fully accurate")
    elif "don't know" in given["answer"]:
        grade = grade_that_says("honestly admits")
    elif len(said & right) > len(said) / 2:
        grade = grade_that_says("notable errors")
    else:
        grade = grade_that_says("off topic or hallucinated")
    return answer(call, {output.name: grade for output in call.prompt.outputs if output.labels})


def test_model_that_obeys_the_prompt_grades_literally_against_the_reference(tmp_path: Path) -> None:
    scale, fields = Scale(grades=(1, 2, 3, 4, 5)), ("query", "answer", "reference", "contexts")
    judge = judge_of(judge_module("grade", scale, ("grade",), fields), scale, ("grade",))
    items = [
        Item(
            name,
            name,
            {
                "query": "How far does the Aerie O2 measure?",
                "answer": text,
                "reference": REFERENCE,
                "contexts": (CONTEXT,),
            },
        )
        for name, text in ANSWERS.items()
    ]
    with FakeOpenAI(obeying) as server:
        spec = LMSpec.parse("openai/obeying", api_base=server.base_url)
        with Session(spec, tmp_path, environ={"OPENAI_API_KEY": "k"}) as session:
            found = judge.judge(items, session.ask)
    graded = dict(zip(ANSWERS, found.grade[:, 0] + 1, strict=True))
    assert found.unscored == (None,) * len(items)
    assert graded == {"invention": 1, "elsewhere": 1, "refusal": 2, "reference": 5, "from the context": 3}
