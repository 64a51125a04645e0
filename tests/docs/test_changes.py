"""The usual changes, made in a copy: how many files of ``src`` each touches, and that everything else follows."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src", "judgec")
# A change as a contributor makes it: how many files it may touch; each new file; what is inserted into others, before
# the first line that begins as the text behind the path; Python run in an empty folder with the changed package.
CHANGES = {
    "a statistic that is shown everywhere": r'''at most 2
@@ stats/agreement/kappa.py|def exact_table(
def near_table(M: NumberArray) -> FloatArray:
    """Share of items at most one grade apart."""
    M = np.asarray(M, dtype=np.float64)
    near = np.abs(np.subtract.outer(np.arange(M.shape[-2]), np.arange(M.shape[-1]))) < 2
    return ratio((M * near).sum((-2, -1)), M.sum((-2, -1)))


@@ stats/agreement/registry.py|from judgec.stats.agreement.pair_statistic
from judgec.stats.agreement.kappa import near_table
@@ stats/agreement/registry.py|        "accept_agreement": ReportedStatistic(
        "near": ReportedStatistic(
            "near",
            of_grades(near_table, (0.0, 1.0)),
            meaning="at most one grade apart",
            ordinal=True,
        ),
@@ proof
found = judgec.agreement("t.csv", annotators="human", judges="gpt4", cluster="query")
wanted = sum(abs(row["human"] - row["gpt4"]) < 2 for row in rows) / len(rows)
assert abs(found.table.loc["near", "value"] - wanted) < 1e-12
assert found.table.loc["near", "low"] < wanted < found.table.loc["near", "high"]
printed = json.loads(cli("agreement", "t.csv", "--annotators", "human", "--judges", "gpt4", "--json"))["judges"]["gpt4"]
assert printed["near"]["value"] == wanted
said = cli("agreement", "t.csv", "--annotators", "human", "--judges", "gpt4", "-v")
assert "near" in said and "at most one grade apart" in said
''',
    "an option of a command": r"""at most 2
@@ verbs/options/rank.py|    seed: Seed = 0
    loud: Annotated[bool, Option("Say it loud.")] = False
@@ verbs/rank.py|    board =
    print("LOUD" if options.loud else "", end="")
@@ proof
games = pd.DataFrame([{"query_id": n, "agent_a": "A", "agent_b": "B", "winner": "ab"[n % 3 == 0]} for n in range(30)])
games.to_csv("games.csv", index=False)
assert "LOUD" in cli("rank", "games.csv", "--loud") and "LOUD" not in cli("rank", "games.csv")
assert "Say it loud." in cli("rank", "--help") and "loud: Say it loud." in judgec.rank.__doc__
judgec.rank(games, loud=True)
""",
    "a task on known inputs": r'''at most 3
@@ records/tasks/politeness.py
from judgec.records.scale import Scale
from judgec.records.tasks.spec import TaskSpec

TASK = TaskSpec(
    name="politeness",
    required=("query", "answer"),
    labels=("polite",),
    scale=Scale(name="politeness", grades=(0, 1), accept_at=1),
    settled=True,
    meanings=("rude or curt", "friendly"),
    signature="judgec.raters.tasks.politeness:SayWhetherPolite",
    evidence={"answer": ("answer",)},
)
@@ raters/tasks/politeness.py
import dspy


class SayWhetherPolite(dspy.Signature):
    """Say whether the answer is polite."""

    query: str = dspy.InputField()
    answer: str = dspy.InputField()
    reason: str = dspy.OutputField()
    polite: int = dspy.OutputField()
    confidence: int = dspy.OutputField()
@@ records/tasks/built_in.py|    "relevance",
    "politeness",
@@ proof
rows = [
    {"query": f"q{n // 2}", "answer": f"{'thank you kindly' if n % 2 else 'no'} {n}", "polite": n % 2}
    for n in range(80)
]
pd.DataFrame(rows).to_csv("p.csv", index=False)
assert json.loads(cli("labels", "p.csv", "--json"))["task"] == "politeness"
assert "politeness" in cli("compile-judge", "--help")
plan = json.loads(cli("compile-judge", "p.csv", "--lm", "openai/some", "--dry-run", "--json"))
assert plan["calls"] > 0
''',
    "an optimizer": r"""at most 2
@@ compile/search/first.py
from dataclasses import dataclass

from judgec.compile.search.candidates import Candidate
from judgec.compile.search.task import Effort, Sizes, Task


@dataclass(frozen=True, slots=True)
class First:
    needs_reflection: bool = False

    def effort(self, sizes: Sizes) -> Effort:
        return Effort(0, 0, 1)

    def search(self, task: Task) -> list[Candidate]:
        return [Candidate("first", task.module)]
@@ compile/search/registry.py|from judgec.compile.search.mipro
from judgec.compile.search.first import First
@@ compile/search/registry.py|    "gepa": Gepa(),
    "first": First(),
@@ proof
pd.DataFrame(rows).drop(columns="gpt4").rename(columns={"human": "grade"}).to_csv("g.csv", index=False)
plan = json.loads(cli("compile-judge", "g.csv", "--lm", "openai/some", "--optimizer", "first", "--dry-run", "--json"))
assert plan["optimizer"] == "first" and plan["calls"] > 0
""",
    "an objective": r'''at most 2
@@ stats/agreement/worst_case.py|def tau_b_bound(
def near_bound(tables: FloatArray) -> FloatArray:
    """Share of items at most one grade apart; an unscored one is farther."""
    grades = np.arange(tables.shape[-2])
    near = np.abs(np.subtract.outer(grades, grades)) < 2
    return ratio((tables[..., :-1] * near).sum((-2, -1)), tables.sum((-2, -1)))


@@ stats/agreement/objective.py|        "exact": Measure(
        "near": Measure(OfTables(worst_case.near_bound, lambda apart: (apart > 1).astype(np.float64), SHARE, "exact")),
@@ proof
typed = ("--annotators", "human", "--judges", "gpt4", "--best", "5", "--no-evidence", "--folds", "1")
report = json.loads(cli("compile-judge", "t.csv", *typed, "--name", "near", "--objective", "near", "--json"))
assert report["objective"] == "near"
found = judgec.compile_judge("t.csv", annotators="human", judges="gpt4", best="5", evidence=False, folds=1,
    name="again", objective="0.5*near+0.5*qwk")
assert found.report["objective"] == "0.5*near+0.5*qwk"
''',
    "an importer": r"""at most 2
@@ connect/scores/ours.py
from collections.abc import Mapping, Sequence

from judgec.connect.scores.records import ExportRecord, Score, ScoreExport


def read_ours(records: Sequence[ExportRecord], rename: Mapping[str, str]) -> ScoreExport:
    rows = [record.fields for record in records]
    items = {row["id"]: {"query": row["q"], "answer": row["a"]} for row in rows}
    scores = [Score(row["id"], "grade", row["g"], "human", "ann") for row in rows]
    return ScoreExport(items, scores)
@@ connect/scores/registry.py|from judgec.connect.scores.phoenix
from judgec.connect.scores.ours import read_ours
@@ connect/scores/registry.py|    "other": read_other,
    "ours": read_ours,
@@ proof
from pathlib import Path
lines = [json.dumps({"id": f"i{n}", "q": f"q{n}", "a": f"a{n}", "g": 1 + n % 5}) for n in range(40)]
Path("theirs.jsonl").write_text("\n".join(lines))
cli("labels", "import", "mine.jsonl", "ours:theirs.jsonl")
found = json.loads(cli("labels", "mine.jsonl", "--json"))
assert (found["items"], found["labels"], list(found["annotators"])) == (40, 40, ["ann"])
""",
    "a provider of batches": r"""at most 2
@@ lm/batch/groq_batches.py
from judgec.lm.batch.openai_batches import OpenAIBatches


class GroqBatches(OpenAIBatches):
    name = "groq"
@@ lm/batch/executor.py|@dataclass(slots=True)
SERVED = ("openai", "anthropic", "groq")


@@ lm/batch/executor.py|    from judgec.lm.batch.openai_batches import OpenAIBatches
    if spec.provider == "groq":
        from judgec.lm.batch.groq_batches import GroqBatches

        return GroqBatches(spec, client, model, max_wait)
@@ proof
from judgec.lm.batch.executor import open_service
from judgec.lm.max_wait import MaxWait
from judgec.lm.spec import LMSpec
service = open_service(LMSpec.parse("groq/llama-3"), MaxWait(1.0), {"GROQ_API_KEY": "k"})
assert service.name == "groq"
""",
    "a kind of rater": r'''at most 2
@@ raters/tree.py|def least_confidence(
class LessSure(Node):
    """Two at once, of which the less sure one grades the item."""

    kind: Literal["less_sure"] = "less_sure"
    of: tuple["Rates", "Rates"]

    def rate(self, piece: Piece, run: Run) -> Rating:
        first, second = yield from together([one.rate(piece, run) for one in self.of])
        rows = np.flatnonzero(least_confidence(second) < least_confidence(first))
        return merged(first, second.subset(rows.tolist()), rows)

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.of


@@ raters/tree.py|    PromptLeaf | RecordedLeaf | FunctionLeaf | EvidenceAlone
    LessSure |
@@ proof
from pathlib import Path
from judgec.raters import programs
from judgec.raters.calibrator import Calibrator
from judgec.raters.judge import JudgeTree
from judgec.raters.tree import Calibrated, LessSure, Mean, RecordedLeaf
typed = ("--annotators", "human", "--judges", "gpt4", "--best", "5", "--no-evidence", "--folds", "1")
cli("compile-judge", "t.csv", *typed, "--name", "one")
known = programs.load(Path(), "one@1")
by = {"grade": Calibrator(source="lm", family="none", n_grades=5, prior=(0.2,) * 5, smoothing=0.0)}
human, gpt4 = (RecordedLeaf(name=name, verdicts="recorded:columns") for name in ("human", "gpt4"))
tree = LessSure(of=(Calibrated(of=human, by=by), Calibrated(of=Mean(of=(human, gpt4)), by=by)))
judge = JudgeTree(tree, known.card.task, known.card.scale, known.card.aspects)
card = known.card.model_copy(update={"name": "doubting"})
programs.save(Path(), programs.Program(card, judge.saved(), {}, {}))
assert judgec.load_judge("doubting@1").compiled.tree == tree
cli("judge", "t.csv", "--judge", "doubting@1", "--out", "judged.csv")
judged = pd.read_csv("judged.csv")
alike = [row["human"] == row["gpt4"] for row in rows]
assert (judged["confidence"] == 1).tolist() == alike
assert judged["grade"][alike].tolist() == [row["human"] for row in rows if row["human"] == row["gpt4"]]
''',
    "a feature of documents": r"""at most 1
@@ evidence/document_features.py|    "length",
    "digits",
@@ evidence/document_features.py|        log1p(len(document.stems)),
        float(sum(any(sign.isdigit() for sign in stem) for stem in document.stems)),
@@ proof
from judgec.evidence.model import EvidenceModel
from judgec.records.label import Item
documents = ("1 m or 7", "2 m or 8")
items = [Item(item_id=said, query_id="q", inputs={"query": "How wide?", "document": said}) for said in documents]
model = EvidenceModel.fit(items)
assert model.transform(items)[:, model.names.index("document.digits")].tolist() == [2.0, 2.0]
rows = [{"query": f"q{n // 4}", "document": "12 m " * (n % 4) + "wide", "relevance": n % 4} for n in range(160)]
pd.DataFrame(rows).to_csv("d.csv", index=False)
cli("compile-judge", "d.csv", "--name", "digits", "--folds", "1")
cli("judge", "d.csv", "--judge", "digits@1", "--out", "judged.csv")
""",
    "a family of features": r'''at most 4
@@ evidence/shout_features.py
SHOUT_NAMES = ("share",)


def shout_features(text: str) -> tuple[float, ...]:
    """The share of capitals, for a text that is not empty."""
    return (sum(map(str.isupper, text)) / len(text),) if text else ()
@@ records/tasks/spec.py|    *TOLD,
    "shout",
@@ records/tasks/grade.py|    rates_answers=True,
    evidence={"answer": ("answer",), "shout": ("answer",), "reference": ("reference",),
        "contexts": ("contexts",)},
@@ evidence/model.py|from judgec.evidence.text import
from judgec.evidence.shout_features import SHOUT_NAMES, shout_features
@@ evidence/model.py|    "answer": ANSWER_NAMES,
    "shout": SHOUT_NAMES,
@@ evidence/model.py|        if family == "answer":
        if family == "shout":
            return shout_features(self._answer(item))
@@ proof
from judgec.evidence.model import EvidenceModel
from judgec.records.label import Item
items = [Item(item_id=f"{n}", query_id="q", inputs={"query": "How?", "answer": "AB cd"}) for n in (1, 2)]
model = EvidenceModel.fit(items)
assert model.transform(items)[:, model.names.index("shout.share")].tolist() == [0.4, 0.4]
rows = [
    {"query": f"q{n // 2}", "answer": ("LOUD" if n % 2 else "low") + f" {n}", "grade": 5 - 4 * (n % 2)}
    for n in range(80)
]
pd.DataFrame(rows).to_csv("s.csv", index=False)
found = json.loads(cli("compile-judge", "s.csv", "--name", "shout", "--folds", "1", "--json"))
assert found["program"] == "shout"
''',
}
GRADES = """
import json, subprocess, sys
import pandas as pd
import judgec
def cli(*words):
    done = subprocess.run([sys.executable, "-m", "judgec", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr
rows = [
    {"query": f"q{n // 2}", "answer": f"a{n}" + "!" * (n % 2), "human": 1 + n % 5, "gpt4": 1 + (n + n % 3) % 5}
    for n in range(60)
]
pd.DataFrame(rows).to_csv("t.csv", index=False)
"""


@pytest.mark.soak
@pytest.mark.parametrize("name", CHANGES)
def test_change_touches_few_files_and_everything_follows(name: str, tmp_path: Path) -> None:
    most, *parts, proof = re.split(r"^@@ ", CHANGES[name], flags=re.MULTILINE)
    shutil.copytree(ROOT / PACKAGE, tmp_path / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    touched = set()
    for part in parts:
        head, _, text = part.partition("\n")
        path, _, before = head.partition("|")
        file = tmp_path / PACKAGE / path
        touched.add(file)
        source, at = "", 0
        if before:
            source = file.read_text(encoding="utf-8")
            place = re.search(rf"^{re.escape(before)}", source, flags=re.MULTILINE)
            assert place, head
            at = place.start()
        file.write_text(source[:at] + text + source[at:], encoding="utf-8")
    assert f"at most {len(touched)}" <= most
    (tmp_path / "empty").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", GRADES + proof.removeprefix("proof")],
        cwd=tmp_path / "empty",
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
