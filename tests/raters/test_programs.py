"""Versions on disk: numbers, names, aliases, and files that somebody tampered with."""

import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import dspy
import pytest

from judgec.errors import ArtifactError, UserError
from judgec.raters.predictors import put_prompts, saved_prompts
from judgec.raters.programs import (
    Program,
    aliases,
    champion_or_newest,
    find,
    load,
    names,
    save,
    set_aliases,
    tree_of,
    versions,
)
from tests.records.test_card import make_card
from tests.table.seals import forgotten


def module(*, instructions: str = "Grade it.", demos: bool = False) -> dspy.Predict:
    predict = dspy.Predict(dspy.Signature("query, answer -> reason, grade", instructions))
    if demos:
        predict.demos = [dspy.Example(query="q", answer="a", reason="r", grade=4)]
    return predict


def program(name: str = "sensors") -> Program:
    return Program(make_card(name=name), saved_prompts(module(demos=True)), {"q": "test"}, {"n": 1})


def test_save_twice_numbers_the_versions_and_load_returns_what_was_saved(tmp_path: Path) -> None:
    first = save(tmp_path, program())
    second = save(tmp_path, program())
    loaded = load(tmp_path, "sensors@0002")
    assert (first.version, second.version) == (1, 2)
    assert loaded.card == second
    assert (loaded.tree, loaded.split, loaded.report) == (program().tree, {"q": "test"}, {"n": 1})
    files = sorted(path.stem for path in (tmp_path / "programs/sensors/0001").iterdir())
    assert files == ["card", "manifest", "report", "split", "tree"]


@pytest.mark.parametrize(
    ("reference", "version"),
    [("s@champion", 2), ("s", 2), ("s@latest", 3), ("s@1", 1), ("s@0003", 3), ("s@challenger", 3)],
)
def test_load_by_alias_or_number_finds_the_version(tmp_path: Path, reference: str, version: int) -> None:
    for _ in range(3):
        save(tmp_path, program("s"))
    set_aliases(tmp_path, "s", {"champion": 1, "challenger": 3})
    set_aliases(tmp_path, "s", {"champion": 2})
    assert load(tmp_path, reference).card.version == version


def test_bare_name_is_the_newest_version_only_while_there_is_no_champion(tmp_path: Path) -> None:
    assert champion_or_newest(tmp_path, "s") == "s"  # there is none: loading it says so
    for _ in range(2):
        save(tmp_path, program("s"))
    assert champion_or_newest(tmp_path, "s") == "s@latest"
    assert champion_or_newest(tmp_path, "s@1") == "s@1"
    set_aliases(tmp_path, "s", {"champion": 1})
    assert champion_or_newest(tmp_path, "s") == "s"


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("s", "s has no champion, .* versions 1, 2. .* name s@latest"),
        ("s@champion", "s has no champion"),
        ("s@7", "there is no s@7; there are versions 1, 2 and aliases latest"),
        ("s@oops", "there is no s@oops"),
        ("other", "no judge 'other' in .*; there are s. "),
    ],
)
def test_load_of_what_is_not_there_names_what_is(tmp_path: Path, reference: str, message: str) -> None:
    with pytest.raises(UserError, match=r"no judge .* compile-judge"):
        load(tmp_path, reference)
    save(tmp_path, program("s"))
    save(tmp_path, program("s"))
    with pytest.raises(UserError, match=message):
        load(tmp_path, reference)


def test_alias_of_a_version_that_is_gone_names_it_and_where_to_set_it(tmp_path: Path) -> None:
    for _ in range(2):
        save(tmp_path, program("s"))
    set_aliases(tmp_path, "s", {"champion": 2})
    shutil.rmtree(tmp_path / "programs" / "s" / "0002")
    with pytest.raises(UserError, match=r"s@champion is version 2, .* 1\..*aliases\.json"):
        load(tmp_path, "s")


@pytest.mark.parametrize("name", ["", "..", "a/b", "../x", "a..b", "/etc", ".hidden", "a\\b", "a b", "x" * 65, "a\n"])
def test_save_and_load_under_a_name_that_is_no_folder_write_nothing(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="not a folder name"):
        save(tmp_path, program(name))
    with pytest.raises(UserError, match="not a folder name"):
        load(tmp_path, f"{name}@1")
    assert list(tmp_path.iterdir()) == []


def test_save_from_many_threads_gives_each_its_own_complete_version(tmp_path: Path) -> None:
    got: list[int] = []
    threads = [threading.Thread(target=lambda: got.append(save(tmp_path, program()).version)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == list(range(1, 17))
    assert [load(tmp_path, f"sensors@{k}").card.version for k in versions(tmp_path, "sensors")] == sorted(got)


def test_save_that_fails_leaves_no_version_and_nothing_half_written(tmp_path: Path) -> None:
    broken = Program(make_card(), {"x": float("nan")}, {}, {})
    with pytest.raises(ValueError, match="not JSON compliant"):
        save(tmp_path, broken)
    assert list((tmp_path / "programs/sensors").iterdir()) == []
    assert names(tmp_path) == ()


def test_save_after_a_killed_writer_skips_its_number(tmp_path: Path) -> None:
    save(tmp_path, program())
    (tmp_path / "programs/sensors/.0002.partial").mkdir()
    assert save(tmp_path, program()).version == 3
    assert versions(tmp_path, "sensors") == (1, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"champion": 9}, "no such version"), ({"7": 1}, "not a name"), ({"latest": 1}, "not a name")],
)
def test_set_aliases_to_nonsense_changes_nothing(tmp_path: Path, changes: dict[str, int], message: str) -> None:
    save(tmp_path, program())
    set_aliases(tmp_path, "sensors", {"champion": 1})
    with pytest.raises(UserError, match=message):
        set_aliases(tmp_path, "sensors", changes)
    assert aliases(tmp_path, "sensors") == {"champion": 1}


def test_put_prompts_restores_the_prompt_byte_for_byte(tmp_path: Path) -> None:
    compiled = module(instructions="Grade it strictly.", demos=True)
    restored = module()
    put_prompts(restored, json.loads(json.dumps(saved_prompts(compiled))), "tree.json")
    inputs = {"query": "q", "answer": "a"}
    adapter = dspy.ChatAdapter()
    assert adapter.format(restored.signature, restored.demos, inputs) == adapter.format(
        compiled.signature, compiled.demos, inputs
    )


def test_saved_prompts_of_a_module_with_an_lm_leave_the_lm_out() -> None:
    predict = module()
    predict.lm = dspy.LM("openai/x", api_key="sk-123", api_base="http://127.0.0.1:1")
    dumped = json.dumps(saved_prompts(predict))
    assert "sk-123" not in dumped
    assert "127.0.0.1" not in dumped


Poison = Callable[[dict[str, Any]], object]  # JSON that is wrong on purpose has no narrower type
POISONS: dict[str, Poison] = {
    "extra key": lambda state: state["self"].update(forward="os.system"),
    "lm of another type": lambda state: state["self"].update(lm={"model": {"api_base": "http://evil"}}),
    "traces": lambda state: state["self"].update(traces=[1]),
    "demos of another type": lambda state: state["self"].update(demos="x"),
    "demo value of another type": lambda state: state["self"]["demos"].append({"query": {"$ref": "x"}}),
    "demo of another signature": lambda state: state["self"]["demos"].append({"document": "x"}),
    "instructions of another type": lambda state: state["self"].update(instructions=["x"]),
    "a field too few": lambda state: state["self"]["fields"].pop(),
    "field with an extra key": lambda state: state["self"]["fields"][0].update(type="int"),
    "another predictor": lambda state: state.update(other=state["self"]),
    "no predictor": lambda state: state.clear(),
    "decision state": lambda state: state["self"].update(fields={"grade": {}}),
}


@pytest.mark.parametrize("poison", POISONS.values(), ids=POISONS)
def test_put_prompts_of_a_poisoned_state_is_refused_and_changes_nothing(poison: Poison) -> None:
    state = saved_prompts(module(instructions="Poisoned.", demos=True))
    poison(state)
    target = module()
    with pytest.raises(ArtifactError, match=r"^tree\.json: .*;.*\. .*"):
        put_prompts(target, state, "tree.json")
    assert target.signature.instructions == "Grade it."
    assert target.demos == []
    assert target.lm is None


@pytest.mark.parametrize("content", ["{", "[]", "\xff", "null", "[" * 100_000])
@pytest.mark.parametrize("stem", ["tree", "card", "split", "report"])
def test_load_of_a_damaged_file_names_it(tmp_path: Path, stem: str, content: str) -> None:
    save(tmp_path, program())
    (tmp_path / f"programs/sensors/0001/{stem}.json").write_text(content, encoding="latin-1")
    with pytest.raises(ArtifactError, match=f"{stem}.json: "):
        load(tmp_path, "sensors@1")


def test_a_version_without_a_tree_shows_card_and_report_and_says_how_it_is_compiled_again(tmp_path: Path) -> None:
    card = save(tmp_path, program())
    folder = tmp_path / "programs/sensors/0001"
    (folder / "tree.json").rename(folder / "program.json")
    (folder / "calibration.json").write_text("{}")
    forgotten(folder)
    old = load(tmp_path, "sensors@1")
    assert (old.card, old.report, old.tree) == (card, {"n": 1}, {})
    with pytest.raises(ArtifactError, match=r"^sensors@1: .* Compile it again: judgec compile-judge LABELS --name sen"):
        tree_of(old)
    assert tree_of(program()) == program().tree


def test_a_family_finds_the_newest_version_of_the_same_content(tmp_path: Path) -> None:
    for made in (program(), replace(program(), tree={"other": 1}), program()):
        save(tmp_path, made)
    found = find(tmp_path, "sensors", {"seed": 0}, {"other": 1})
    assert found is not None
    assert found.version == 2
    newest = find(tmp_path, "sensors", {"seed": 0}, program().tree)
    assert newest is not None
    assert newest.version == 3
    assert find(tmp_path, "sensors", {"seed": 1}, {"other": 1}) is None
    assert find(tmp_path, "sensors", {}, {}) is None


def test_load_of_a_card_from_another_place_is_refused(tmp_path: Path) -> None:
    save(tmp_path, program())
    (tmp_path / "programs/sensors").rename(tmp_path / "programs/other")
    with pytest.raises(ArtifactError, match="sensors@1; other@1 was expected"):
        load(tmp_path, "other@1")


def test_load_of_a_card_with_an_unknown_field_is_refused(tmp_path: Path) -> None:
    save(tmp_path, program())
    path = tmp_path / "programs/sensors/0001/card.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"lm_key": "x"}))
    forgotten(path.parent)  # else the change itself is what is refused
    with pytest.raises(ArtifactError, match="lm_key"):
        load(tmp_path, "sensors@1")
