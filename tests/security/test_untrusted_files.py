"""Files that somebody else wrote run nothing, reach nothing outside their folder, and are refused when too big."""

import ast
import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from judgec.errors import ArtifactError, InputError, JudgecError, UserError
from judgec.labels.reading import read_datasheet
from judgec.lm.journal.journal import Journal
from judgec.lm.spec import LMSpec
from judgec.raters import programs
from judgec.raters.judge import load_judge
from judgec.raters.registry import judge_module
from judgec.records.scale import Scale
from judgec.table import arrow, tables
from judgec.table.tables import inside, read_table
from judgec.tournament.files.reading import read_manifest
from judgec.verbs.whom import as_loaded
from tests.compile.small import compiled_from, write
from tests.raters.trees import judge_of
from tests.records.test_card import make_card
from tests.service import grading_world
from tests.table.seals import forgotten

ROOT = Path(__file__).parents[2]
SOURCES = [path for folder in ("src", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))]
# Modules that run what a file says, and calls that do.
MODULES = {"pickle", "cloudpickle", "joblib", "dill", "shelve", "marshal", "jsonpickle", "diskcache"}
CALLS = {
    ("yaml", "load"),
    ("yaml", "unsafe_load"),
    ("yaml", "full_load"),
    ("torch", "load"),
    ("pd", "read_pickle"),
    ("pandas", "read_pickle"),
    ("shutil", "unpack_archive"),
    ("os", "system"),
}
BUILTINS = {"eval", "exec", "compile", "__import__"}


class Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:  # pickle's own type
        return (Path.touch, (self.trace,))


def faults(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [str(node.module)]
            yield from (f"{node.lineno}: imports {name}" for name in names if name.split(".")[0] in MODULES)
        elif isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                if (called.value.id, called.attr) in CALLS:
                    yield f"{node.lineno}: calls {called.value.id}.{called.attr}"
            elif isinstance(called, ast.Name) and called.id in BUILTINS:
                yield f"{node.lineno}: calls {called.id}"
            for keyword in node.keywords:
                risky = {"allow_pickle", "allow_unsafe_lm_state", "trust_remote_code", "shell"}
                if keyword.arg in risky and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value):
                    yield f"{node.lineno}: passes {keyword.arg}"


def test_source_unpickles_and_executes_nothing() -> None:
    assert not [
        f"{path.relative_to(ROOT).as_posix()}:{fault}"
        for path in SOURCES
        for fault in faults(ast.parse(path.read_text(encoding="utf-8")))
    ]


def test_search_for_risky_calls_finds_them() -> None:
    risky = ["import pickle", "from joblib import load", "yaml.load(x)", "np.load(x, allow_pickle=True)", "eval(x)"]
    harmless = ["np.load(x, allow_pickle=False)", "yaml.safe_load(x)", "re.compile(x)"]
    found = list(faults(ast.parse("\n".join([*risky, *harmless]))))
    assert [fault.split(":")[0] for fault in sorted(found)] == ["1", "2", "3", "4", "5"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("poisoned")
    compiled_from(home, grading_world.rows(60), name="p", accept_at="4", lm="embedded")
    return home


@pytest.mark.parametrize("stem", ["tree", "card", "split", "report"])
@pytest.mark.parametrize("protocol", [0, 4])
def test_pickle_in_the_place_of_an_artifact_is_refused_and_not_run(
    home: Path, tmp_path: Path, stem: str, protocol: int
) -> None:
    file, trace = home / "programs" / "p" / "0001" / f"{stem}.json", tmp_path / "trace"
    kept = file.read_bytes()
    bomb = pickle.dumps(Bomb(trace), protocol=protocol)
    pickle.loads(bomb)  # noqa: S301  # shows that the bomb is one
    assert trace.exists()
    trace.unlink()
    try:
        file.write_bytes(bomb)
        with pytest.raises(ArtifactError, match=rf"{stem}\.json"):
            load_judge(programs.load(home, "p@1"))
    finally:
        file.write_bytes(kept)
    assert not trace.exists()


@pytest.mark.parametrize("name", ["program.pkl", "judge.pickle", "model.joblib"])
def test_pickle_beside_the_artifacts_is_not_looked_at(home: Path, tmp_path: Path, name: str) -> None:
    beside = home / "programs" / "p" / "0001" / name
    beside.write_bytes(pickle.dumps(Bomb(tmp_path / "trace")))
    load_judge(programs.load(home, "p@1"))
    beside.unlink()
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize(
    "name", ["labels.pkl", "labels.json", "labels.parquet", "labels.arrow", "labels.csv", "labels.npy"]
)
def test_pickle_in_the_place_of_labels_is_refused_and_not_run(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(pickle.dumps(Bomb(tmp_path / "trace")))
    with pytest.raises(InputError):
        read_table(str(file))
    assert not (tmp_path / "trace").exists()


def test_pickle_in_the_place_of_the_journal_is_refused_and_not_run(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    file.write_bytes(pickle.dumps(Bomb(tmp_path / "trace")))
    with pytest.raises(JudgecError):
        Journal(file)
    assert not (tmp_path / "trace").exists()


def prompted() -> programs.Program:
    """A judge that asks a model."""
    scale, fields = Scale(grades=(1, 2, 3), accept_at=3), ("query", "answer")
    judge = judge_of(judge_module("grade", scale, ("grade",), fields), scale, ("grade",))
    return programs.Program(make_card(scale=scale, fields=fields), judge.saved(), {}, {})


def test_saved_tree_that_is_more_than_a_prompt_is_refused() -> None:
    program = prompted()
    evil: tuple[dict[str, object], ...] = (
        {"api_base": "http://evil"},
        {"lm": {"model": {"$ref": "x"}}},
        {"forward": "x"},
        {"callbacks": []},
        {"traces": [1]},
        {"kind": "os.system"},
        {"demos": [{"forward": "x"}]},
        {"form": "judgec.lm.adapters.Other"},
    )
    for extra in evil:
        poisoned = json.loads(json.dumps(program.tree))
        poisoned["of"] |= extra
        with pytest.raises(ArtifactError, match=r"tree\.json: .*do not trust"):
            load_judge(replace(program, tree=poisoned))


@pytest.mark.parametrize("name", ["api_base", "api_key"])
def test_endpoint_and_key_in_a_saved_tree_reach_no_model(name: str) -> None:
    program = prompted()
    poisoned = json.loads(json.dumps(program.tree))
    poisoned["of"]["lm"] = {"model": "openai/evil", name: "http://evil"}
    given = as_loaded(replace(program, tree=poisoned))
    assert given.spec == LMSpec.from_card(program.card.lm)
    assert "evil" not in repr((given.spec, given.prompted))
    poisoned["of"]["verdicts"] = "recorded:columns"
    recorded = as_loaded(replace(program, tree=poisoned))
    assert "http://evil" not in repr((recorded.spec, recorded.prompted))


@pytest.mark.parametrize("depth", [300, 900, 100_000])
def test_a_deep_tree_is_refused_and_crashes_nothing(tmp_path: Path, depth: int) -> None:
    program = prompted()
    card = programs.save(tmp_path, program)
    folder = tmp_path / "programs" / card.name / "0001"
    inside = json.dumps(program.tree)
    (folder / "tree.json").write_text('{"kind": "calibrated", "by": {}, "of": ' * depth + inside + "}" * depth)
    forgotten(folder)  # else the change itself is what is refused
    with pytest.raises(ArtifactError, match=r"tree\.json"):
        load_judge(programs.load(tmp_path, f"{card.name}@1"))


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:os.system ['touch trace']",
        "queries: !!python/name:os.system ''",
        "answers: !!python/tuple [a]",
    ],
)
def test_yaml_that_makes_objects_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.yaml").write_text(text)
    with pytest.raises(InputError, match="not YAML"):
        read_manifest("t.yaml")
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("name", ["../answers.csv", "/etc/passwd", "a/../../answers.csv", "link/answers.csv"])
def test_manifest_that_names_files_outside_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "tournament"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    (folder / "t.yaml").write_text(f"answers: {name}\n")
    with pytest.raises(InputError, match="is outside its folder"):
        read_manifest(str(folder / "t.yaml"))


def test_inside_allows_files_below(tmp_path: Path) -> None:
    assert inside(tmp_path, "a/b.csv", where="t") == tmp_path / "a/b.csv"
    assert inside(tmp_path, "a/../b.csv", where="t").resolve() == (tmp_path / "b.csv").resolve()


@pytest.mark.parametrize("name", ["../x", "..", "/tmp/x", "a/b", ".hidden", "a..b", ""])
def test_judge_names_are_no_paths(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError):
        programs.load(tmp_path, f"{name}@1")


def test_item_ids_and_agents_that_look_like_paths_are_only_names(tmp_path: Path) -> None:
    rows = [
        {
            **row,
            "item_id": f"../../{row['item_id']}",
            "query_id": f"/etc/{row['query_id']}",
            "agent": "../../../agent",
            "group": "../x",
        }
        for row in grading_world.rows(60)
    ]
    home = tmp_path / "deep" / "home"
    compiled_from(home, rows, name="p", accept_at="4", lm="embedded")
    outside = [path for path in tmp_path.rglob("*") if path.is_file() and home not in path.parents]
    assert not outside


def test_small_parquet_file_that_unpacks_to_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"query": ["a" * 100_000] * 2_000}), bomb, compression="zstd")
    assert bomb.stat().st_size < 100_000  # 200 MB once unpacked
    monkeypatch.setattr(arrow, "MOST_BYTES", 50_000_000)
    with pytest.raises(InputError, match="more than 50000000 bytes once unpacked"):
        read_table(str(bomb))


def test_small_arrow_file_that_unpacks_to_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = tmp_path / "bomb.arrow"
    feather.write_feather(pa.table({"query": ["a" * 100_000] * 500}), bomb, compression="zstd", chunksize=50)
    assert bomb.stat().st_size < 500_000
    monkeypatch.setattr(arrow, "MOST_BYTES", 10_000_000)
    with pytest.raises(InputError, match="more than 10000000 bytes once unpacked"):
        read_table(str(bomb))


@pytest.mark.parametrize("name", ["labels.zip", "labels.tar.gz", "labels.jsonl.gz", "labels.7z"])
def test_archives_are_not_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(InputError, match="is not known; valid are"):
        read_table(str(tmp_path / name))


def test_text_file_that_is_too_large_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MOST_BYTES", 100)
    file = write(tmp_path / "labels.jsonl", grading_world.rows(10))
    with pytest.raises(InputError, match="at most 100 are read at once"):
        read_table(str(file))


def test_json_that_nests_without_end_is_refused(tmp_path: Path) -> None:
    for name in ("deep.jsonl", "deep.json"):
        (tmp_path / name).write_text("[" * 200_000)
        with pytest.raises(InputError, match="nested too deeply"):
            read_table(str(tmp_path / name))


def test_datasheet_cannot_grow_keys_that_do_something(tmp_path: Path) -> None:
    (tmp_path / "datasheet.toml").write_text('task = "grade"\nadapter = "python:os.system"\n[scale]\ngrades = [1, 2]\n')
    write(tmp_path / "labels.jsonl", grading_world.rows(4))
    sheet = read_datasheet(str(tmp_path / "labels.jsonl"))
    assert not hasattr(sheet, "adapter")
