"""The user's own prompts race with the judge as it is; the rubric stays, and caps hold."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import judgec
from judgec.compile.measured import Compiled
from judgec.compile.search.candidates import RUBRIC, first_predictor
from judgec.compile.settings import CallSettings, CompileSettings, SearchSettings
from judgec.errors import InputError, UserError
from judgec.labels.labels import read_labels
from judgec.lm.adapters import verdict_form
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Silent
from judgec.verbs.candidates import Prompt, candidates_of
from judgec.verbs.compile_judge import _settings
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from tests.compile.small import unsaved, write
from tests.service.fake_openai import FakeOpenAI
from tests.service.grading_world import KEY_PHRASE, MILD_PHRASE, rows, teachable

TAUGHT = f"You know sensors well: {KEY_PHRASE}, and {MILD_PHRASE}."
PROMPTS = {"vague": "Grade the answer.", "taught": TAUGHT}


def compiled_with(home: Path, server: FakeOpenAI, prompts: Mapping[str, str], *, budget: int | None = None) -> Compiled:
    labels = read_labels(str(write(home / "labels.jsonl", rows(90))))
    spec = LMSpec.parse("openai/gpt-4o-mini", api_base=server.base_url)
    settings = CompileSettings(
        "own", home, spec, search=SearchSettings("labeled", prompts=prompts), caps=CallSettings(budget), evidence=False,
        folds=1,
    )  # fmt: skip
    return unsaved(labels, settings)


def test_own_prompts_race_and_the_rubric_stays(tmp_path: Path) -> None:
    with FakeOpenAI(teachable) as server:
        compiled = compiled_with(tmp_path, server, PROMPTS)
    scored = {name: at.value for name, (_, at) in compiled.choice.searched.items()}
    assert {"zero-shot", "vague", "taught"} < set(scored)
    assert scored["taught"] > scored["vague"]
    own = compiled.choice.searched["taught"][0]
    told = first_predictor(own.module).signature.instructions
    assert told.startswith(TAUGHT + RUBRIC)
    assert own.settings == {"kind": "instructions"}


def test_own_prompt_that_is_best_is_chosen(tmp_path: Path) -> None:
    with FakeOpenAI(teachable) as server:  # room for few demonstrations beside it
        compiled = compiled_with(tmp_path, server, {"taught": TAUGHT}, budget=230)
        assert server.calls <= 230
    assert compiled.shipped.name == "taught"


def test_own_prompts_that_the_budget_has_no_room_for_are_not_raced(tmp_path: Path) -> None:
    with FakeOpenAI(teachable) as server:
        compiled = compiled_with(tmp_path, server, PROMPTS, budget=95)
        assert server.calls <= 95
    assert compiled.shipped.name == "zero-shot"
    assert any("no search: " in note for note in compiled.notes)


def options(folder: Path, *files: str, lm: str = "openai/gpt-4o-mini") -> CompileJudgeOptions:
    return CompileJudgeOptions(labels=str(folder / "labels.jsonl"), instructions=files, lm=lm, home=folder)


def test_instructions_come_from_files_and_from_the_datasheet(tmp_path: Path) -> None:
    write(tmp_path / "labels.jsonl", rows(30))
    (tmp_path / "labels.datasheet.toml").write_text('[judge]\ninstructions = "IoT sensors by Infineon."\n')
    (tmp_path / "mine.txt").write_text("Be strict.\n", encoding="utf-8")
    labels, settings = _settings(options(tmp_path, str(tmp_path / "mine.txt")), Silent())
    assert settings.search.prompts == {"datasheet": "IoT sensors by Infineon.", "mine": "Be strict."}
    assert not any("datasheet" in note for note in labels.label_set.notes)
    assert _settings(options(tmp_path, lm="embedded"), Silent())[1].search.prompts == {}


@pytest.mark.parametrize(
    ("file", "text", "lm", "message"),
    [
        ("none.txt", None, "openai/gpt-4o-mini", "file of UTF-8 text"),
        ("empty.txt", " \n", "openai/gpt-4o-mini", "no text in it"),
        ("mine.txt", "Be strict.", "embedded", "no model is named"),
        ("zero-shot.txt", "Be strict.", "openai/gpt-4o-mini", "zero-shot is the name of"),
    ],
)
def test_bad_instructions_are_one_clear_error(
    tmp_path: Path, file: str, text: str | None, lm: str, message: str
) -> None:
    write(tmp_path / "labels.jsonl", rows(30))
    if text is not None:
        (tmp_path / file).write_text(text)
    with pytest.raises(UserError, match=message):
        _settings(options(tmp_path, str(tmp_path / file), lm=lm), Silent())


def test_a_datasheet_with_another_judge_table_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "labels.jsonl", rows(30))
    (tmp_path / "labels.datasheet.toml").write_text('task = "grade"\n[judge]\nprompt = "x"\n')
    with pytest.raises(InputError, match=r"datasheet.toml:2: .*\[judge\] with instructions"):
        judgec.read_labels(str(tmp_path / "labels.jsonl"))


def test_own_prompt_in_a_file_is_a_candidate_of_its_model_or_of_the_compiles(tmp_path: Path) -> None:
    file = tmp_path / "strict.txt"
    file.write_text("Be strict.\n")
    typed = (f"prompt:{file}@openai/gpt-4.1", f"kind=prompt:{file}", "openai/gpt-4o-mini")
    found = candidates_of(
        CompileJudgeOptions(labels=tmp_path / "labels.jsonl", lm="openai/gpt-4o", candidates=typed, home=tmp_path)
    )
    assert found.beside == {
        "strict": Prompt("openai/gpt-4.1", "strict", "Be strict."),
        "kind": Prompt("openai/gpt-4o", "kind", "Be strict."),
        "openai/gpt-4o-mini": Prompt("openai/gpt-4o-mini"),
    }


def test_own_prompt_may_declare_the_form_of_its_verdict_in_a_line_that_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "nota.txt").write_text("verdict = 'Puntuación: {v}'\nSé estricto.\n")
    typed = (f"prompt:{tmp_path / 'nota.txt'}@openai/gpt-4.1", "openai/gpt-4o-mini")
    found = candidates_of(CompileJudgeOptions(labels=tmp_path / "labels.jsonl", candidates=typed, home=tmp_path))
    own = Prompt("openai/gpt-4.1", "nota", "Sé estricto.", verdict="Puntuación: {v}")
    assert found.beside["nota"] == own
    write(tmp_path / "labels.jsonl", rows(30))
    asked = {one.name: one.module for one in found.asked(read_labels(str(tmp_path / "labels.jsonl")))}
    assert {name: verdict_form(one.deepcopy()) for name, one in asked.items()} == {
        "nota": "Puntuación: {v}",
        "openai/gpt-4o-mini": None,
    }
    assert "Puntuación" not in str(first_predictor(asked["nota"]).signature.instructions)


@pytest.mark.parametrize("line", ["verdict = 'Nota'", "verdict = Nota: {v}", "verdict = '{v}'", "verdict = 7"])
def test_own_prompt_with_a_line_that_declares_no_form_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "nota.txt").write_text(f"{line}\nSé estricto.\n")
    typed = (f"prompt:{tmp_path / 'nota.txt'}@openai/gpt-4.1", "openai/gpt-4o-mini")
    with pytest.raises(UserError, match=r"nota.txt:1: verdict = .* is valid"):
        candidates_of(CompileJudgeOptions(labels=tmp_path / "labels.jsonl", candidates=typed, home=tmp_path))


@pytest.mark.parametrize(
    ("typed", "message"),
    [("prompt:none.txt@openai/gpt-4o", "none.txt is no such file"), ("prompt:strict.txt", "embedded has no prompt")],
)
def test_own_prompt_without_a_file_or_a_model_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "strict.txt").write_text("Be strict.")
    with pytest.raises(UserError, match=message):
        candidates_of(CompileJudgeOptions(labels=tmp_path / "labels.jsonl", lm="embedded", candidates=(typed,)))
