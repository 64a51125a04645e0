"""A compile on constructed labels in four languages: prompt, card, report, and the judge that is read back."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from judgec.compile.search.candidates import task_module
from judgec.raters import programs
from judgec.raters.export.python import python_files
from judgec.raters.judge import load_judge
from judgec.raters.programs import Program
from judgec.raters.registry import judge_module
from judgec.records.scale import Scale
from judgec.records.tasks.registry import TASKS
from judgec.records.tasks.translations import TRANSLATIONS, translated
from tests.compile.small import Outcome, compiled_from, notes_of, write
from tests.evidence.language_sets import GRADES, NOUNS, language_set
from tests.raters.export.test_python import ALONE, FOREIGN
from tests.raters.test_judge import never


def compiled_in(home: Path, *languages: str) -> Outcome:
    rows = [
        {"item_id": item.item_id, "query_id": item.query_id, **item.inputs, "grade": GRADES[grade]}
        for language in languages
        for item, grade in zip(*language_set(language, 20), strict=True)
    ]
    return compiled_from(home, rows, name="-".join(languages), lm="embedded")


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return compiled_in(tmp_path_factory.mktemp("german"), "german")


@pytest.fixture(scope="module")
def program(german: Outcome) -> Program:
    return programs.load(german.settings.home, "german@1")


def test_saved_judge_knows_its_language_and_reads_it_when_it_judges(german: Outcome, program: Program) -> None:
    assert german.saved.card.languages == ("german",)
    assert german.saved.report["languages"] == ["german"]
    assert any("in German:" in note for note in notes_of(german))
    judge = load_judge(program)
    assert judge.evidence is not None
    assert judge.evidence.languages == ("german",)
    (predict,) = task_module(german.compiled.dataset.labels).predictors()
    assert predict.signature.output_fields["reason"].json_schema_extra["desc"].endswith("in German")
    items, grades = language_set("german", 30, seed=9)
    judged = judge.judge(items, never)
    assert all(re.match(r"(In its favour|Against it): .*\.$", reason) for reason in judged.rationale)
    scores, grade = judged.score[:, 0], np.array(grades)
    assert scores[grade == 3].min() > scores[grade == 0].max()


def test_exported_judge_has_the_stemmer_and_says_the_same(program: Program, tmp_path: Path) -> None:
    judge = load_judge(program)
    for path, text in python_files(program, judge).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    items = language_set("german", 5, seed=4)[0]
    file = write(tmp_path / "items.jsonl", [{"item_id": one.item_id, **one.inputs} for one in items])
    run = [sys.executable, "-c", f"FOREIGN = {FOREIGN!r}\n{ALONE}", str(tmp_path), str(file)]
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=tmp_path)
    here = list(judge.judge(items, never).rows(judge.scale))
    assert [json.loads(line)["score"] for line in done.stdout.splitlines()] == [row["score"] for row in here]


@pytest.mark.full
@pytest.mark.parametrize(
    ("languages", "noted"),
    [(("english",), ""), (("spanish",), "texts are in Spanish"), (("spanish", "german"), "each item in its own")],
)
def test_other_languages_compile_too(languages: tuple[str, ...], noted: str, tmp_path: Path) -> None:
    found = compiled_in(tmp_path, *languages)
    assert set(found.saved.card.languages) == set(languages)
    judge = load_judge(programs.load(tmp_path, f"{found.saved.card.name}@1"))
    assert judge.evidence is not None
    assert judge.evidence.languages == found.saved.card.languages
    assert any("the texts are in" in note for note in notes_of(found)) is bool(noted)
    assert noted in " ".join(notes_of(found))


@pytest.mark.parametrize("language", NOUNS)
def test_prompt_has_rubric_and_reason_in_the_language(language: str) -> None:
    module = judge_module("grade", Scale(grades=(1, 2, 3, 4, 5)), ("grade",), ("query", "answer"), (language,))
    (predict,) = module.predictors()
    best = {
        "english": "5: fully accurate",
        "german": "5: völlig richtig",
        "spanish": "5: totalmente correcta",
        "french": "5: entièrement exacte",
    }
    assert best[language] in predict.signature.instructions
    desc = predict.signature.output_fields["reason"].json_schema_extra["desc"]
    assert desc.endswith(f"in {language.title()}") is (language != "english")


def test_prompt_of_several_languages_asks_for_that_of_the_query_and_keeps_the_rubric() -> None:
    module = judge_module("grade", Scale(grades=(1, 2, 3, 4, 5)), ("grade",), ("query",), ("german", "english"))
    (predict,) = module.predictors()
    assert predict.signature.output_fields["reason"].json_schema_extra["desc"].endswith("language of the query")
    assert "5: fully accurate" in predict.signature.instructions


def test_meanings_of_the_user_are_not_translated() -> None:
    assert translated(("bad", "fully"), "german") == ("bad", "fully")
    assert translated(("in part", "fully"), "polish") == ("in part", "fully")


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_every_meaning_of_the_answer_tasks_is_translated(language: str) -> None:
    for name in ("grade", "answer", "relevance"):
        spec = TASKS[name]
        for said in (spec.meanings, *spec.aspect_meanings.values()):
            assert said
            assert not set(translated(said, language)) & set(said)


def test_a_language_without_a_stemmer_is_named_on_the_page(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {
            "item_id": f"i{n}",
            "query_id": f"q{n}",
            "query": f"Коли було збудовано вежу {n} і хто її спроєктував?",
            "answer": "Вежа була збудована у тому році." if n % 2 else "Я не знаю, бо це не відомо.",
            "grade": 1 + 3 * (n % 2),
        }
        for n in range(30)
    ]
    found = compiled_from(tmp_path, rows, name="ukrainian", lm="embedded")
    card = found.saved.card
    assert card.languages == ("ukrainian",)
    assert "stemmer for Ukrainian" in programs.page_path(tmp_path, card).read_text(encoding="utf-8")
