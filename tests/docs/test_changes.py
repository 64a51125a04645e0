"""The usual changes, made in a copy: how many files of ``src`` each touches, and that everything else follows."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src", "judgec")


@dataclass(frozen=True)
class Change:
    """A change as a contributor makes it.

    Args:
        most: Files that it may touch.
        new: Files that it adds, by path.
        lines: By path what is inserted, before the first line that begins with the given text.
        proof: Python that runs in an empty folder with the changed package.
    """

    most: int
    proof: str
    new: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)


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

CHANGES = {
    "a statistic that is shown everywhere": Change(
        most=2,
        new={},
        lines={
            "stats/agreement/kappa.py": (
                (
                    "def exact_table(",
                    (
                        "def near_table(M: NumberArray) -> FloatArray:\n"
                        '    """Share of items at most one grade apart."""\n'
                        "    M = np.asarray(M, dtype=np.float64)\n"
                        "    near = np.abs(np.subtract.outer(np.arange(M.shape[-2]), np.arange(M.shape[-1]))) < 2\n"
                        "    return ratio((M * near).sum((-2, -1)), M.sum((-2, -1)))\n\n\n"
                    ),
                ),
            ),
            "stats/agreement/registry.py": (
                ("from judgec.stats.agreement.pair_statistic", "from judgec.stats.agreement.kappa import near_table\n"),
                (
                    '        "accept_agreement": ReportedStatistic(',
                    (
                        '        "near": ReportedStatistic(\n'
                        '            "near",\n            of_grades(near_table, (0.0, 1.0)),\n'
                        '            meaning="at most one grade apart",\n            ordinal=True,\n'
                        "        ),\n"
                    ),
                ),
            ),
        },
        proof=GRADES
        + """
found = judgec.agreement("t.csv", expert="human", judge="gpt4", cluster="query")
wanted = sum(abs(row["human"] - row["gpt4"]) < 2 for row in rows) / len(rows)
assert abs(found.table.loc["near", "value"] - wanted) < 1e-12
assert found.table.loc["near", "low"] < wanted < found.table.loc["near", "high"]
printed = json.loads(cli("agreement", "t.csv", "--expert", "human", "--judge", "gpt4", "--json"))
assert printed["near"]["value"] == wanted
said = cli("agreement", "t.csv", "--expert", "human", "--judge", "gpt4", "-v")
assert "near" in said and "at most one grade apart" in said
""",
    ),
    "an option of a command": Change(
        most=2,
        lines={
            "verbs/options/rank.py": (
                ("    seed: Seed = 0", '    loud: Annotated[bool, Option("Say it loud.")] = False\n'),
            ),
            "verbs/rank.py": (
                ("def rank(", ""),
                ("    board = ", '    print("LOUD" if options.loud else "", end="")\n'),
            ),
        },
        proof=GRADES
        + """
games = pd.DataFrame([{"query_id": n, "agent_a": "A", "agent_b": "B", "winner": "ab"[n % 3 == 0]} for n in range(30)])
games.to_csv("games.csv", index=False)
assert "LOUD" in cli("rank", "games.csv", "--loud") and "LOUD" not in cli("rank", "games.csv")
assert "Say it loud." in cli("rank", "--help") and "loud: Say it loud." in judgec.rank.__doc__
judgec.rank(games, loud=True)
""",
    ),
    "a task on known inputs": Change(
        most=3,
        new={
            "records/tasks/politeness.py": (
                "from judgec.records.scale import Scale\nfrom judgec.records.tasks.spec import TaskSpec\n\n"
                'TASK = TaskSpec(\n    name="politeness",\n    required=("query", "answer"),\n    labels=("polite",),\n'
                '    scale=Scale(name="politeness", grades=(0, 1), accept_at=1),\n    settled=True,\n'
                '    meanings=("rude or curt", "friendly"),\n'
                '    signature="judgec.raters.tasks.politeness:SayWhetherPolite",\n'
                '    evidence={"answer": ("answer",)},\n)\n'
            ),
            "raters/tasks/politeness.py": (
                "import dspy\n\n\nclass SayWhetherPolite(dspy.Signature):\n"
                '    """Say whether the answer is polite."""\n\n'
                "    query: str = dspy.InputField()\n    answer: str = dspy.InputField()\n"
                "    reason: str = dspy.OutputField()\n    polite: int = dspy.OutputField()\n"
                "    confidence: int = dspy.OutputField()\n"
            ),
        },
        lines={"records/tasks/built_in.py": (('    "relevance",', '    "politeness",\n'),)},
        proof=GRADES
        + """
rows = [
    {"query": f"q{n // 2}", "answer": f"{'thank you kindly' if n % 2 else 'no'} {n}", "polite": n % 2}
    for n in range(80)
]
pd.DataFrame(rows).to_csv("p.csv", index=False)
assert json.loads(cli("labels", "p.csv", "--json"))["task"] == "politeness"
assert "politeness" in cli("compile-judge", "--help")
plan = json.loads(cli("compile-judge", "p.csv", "--lm", "openai/some", "--dry-run", "--json"))
assert plan["calls"] > 0
""",
    ),
    "an optimizer": Change(
        most=2,
        new={
            "compile/search/first.py": (
                "from dataclasses import dataclass\n\nfrom judgec.compile.search.candidates import Candidate\n"
                "from judgec.compile.search.task import Effort, Sizes, Task\n\n\n@dataclass(frozen=True, slots=True)\n"
                "class First:\n    needs_reflection: bool = False\n\n    def effort(self, sizes: Sizes) -> Effort:\n"
                "        return Effort(0, 0, 1)\n\n    def search(self, task: Task) -> list[Candidate]:\n"
                '        return [Candidate("first", task.module)]\n'
            )
        },
        lines={
            "compile/search/registry.py": (
                ("from judgec.compile.search.mipro", "from judgec.compile.search.first import First\n"),
                ('    "gepa": Gepa(),', '    "first": First(),\n'),
            )
        },
        proof=GRADES
        + """
pd.DataFrame(rows).drop(columns="gpt4").rename(columns={"human": "grade"}).to_csv("g.csv", index=False)
plan = json.loads(cli("compile-judge", "g.csv", "--lm", "openai/some", "--optimizer", "first", "--dry-run", "--json"))
assert plan["optimizer"] == "first" and plan["calls"] > 0
""",
    ),
    "an importer": Change(
        most=2,
        new={
            "connect/scores/ours.py": (
                "from collections.abc import Mapping, Sequence\n\n"
                "from judgec.connect.scores.records import ExportRecord, Score, ScoreExport\n\n\n"
                "def read_ours(records: Sequence[ExportRecord], rename: Mapping[str, str]) -> ScoreExport:\n"
                "    rows = [record.fields for record in records]\n"
                '    items = {row["id"]: {"query": row["q"], "answer": row["a"]} for row in rows}\n'
                '    scores = [Score(row["id"], "grade", row["g"], "human", "ann") for row in rows]\n'
                "    return ScoreExport(items, scores)\n"
            )
        },
        lines={
            "connect/scores/registry.py": (
                ("from judgec.connect.scores.phoenix", "from judgec.connect.scores.ours import read_ours\n"),
                ('    "other": read_other,', '    "ours": read_ours,\n'),
            )
        },
        proof=GRADES
        + """
from pathlib import Path
lines = [json.dumps({"id": f"i{n}", "q": f"q{n}", "a": f"a{n}", "g": 1 + n % 5}) for n in range(40)]
Path("theirs.jsonl").write_text("\\n".join(lines))
cli("labels", "import", "mine.jsonl", "ours:theirs.jsonl")
found = json.loads(cli("labels", "mine.jsonl", "--json"))
assert (found["items"], found["labels"], list(found["annotators"])) == (40, 40, ["ann"])
""",
    ),
    "a provider of batches": Change(
        most=2,
        new={
            "lm/batch/groq_batches.py": (
                "from judgec.lm.batch.openai_batches import OpenAIBatches\n\n\nclass GroqBatches(OpenAIBatches):\n"
                '    name = "groq"\n'
            )
        },
        lines={
            "lm/batch/executor.py": (
                ("SERVED", 'SERVED = ("openai", "anthropic", "groq")\nUNUSED_'),
                (
                    "    from judgec.lm.batch.openai_batches import OpenAIBatches",
                    (
                        '    if spec.provider == "groq":\n'
                        "        from judgec.lm.batch.groq_batches import GroqBatches\n\n"
                        "        return GroqBatches(spec, client, model, max_wait)\n"
                    ),
                ),
            )
        },
        proof="""
from judgec.lm.batch.executor import open_service
from judgec.lm.max_wait import MaxWait
from judgec.lm.spec import LMSpec
service = open_service(LMSpec.parse("groq/llama-3"), MaxWait(1.0), {"GROQ_API_KEY": "k"})
assert service.name == "groq"
""",
    ),
    "a feature of documents": Change(
        most=1,
        lines={
            "evidence/document_features.py": (
                ('    "length",', '    "digits",\n'),
                (
                    "        log1p(len(document.stems)),",
                    "        float(sum(any(sign.isdigit() for sign in stem) for stem in document.stems)),\n",
                ),
            )
        },
        proof=GRADES
        + """
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
    ),
    "a family of features": Change(
        most=4,
        new={
            "evidence/shout_features.py": (
                'SHOUT_NAMES = ("share",)\n\n\ndef shout_features(text: str) -> tuple[float, ...]:\n'
                '    """The share of capitals, for a text that is not empty."""\n'
                "    return (sum(map(str.isupper, text)) / len(text),) if text else ()\n"
            )
        },
        lines={
            "records/tasks/spec.py": (("    *TOLD,", '    "shout",\n'),),
            "records/tasks/grade.py": (
                (
                    "    rates_answers=True,",
                    (
                        '    evidence={"answer": ("answer",), "shout": ("answer",), "reference": ("reference",),\n'
                        '        "contexts": ("contexts",)},\n'
                    ),
                ),
            ),
            "evidence/model.py": (
                (
                    "from judgec.evidence.text import",
                    "from judgec.evidence.shout_features import SHOUT_NAMES, shout_features\n",
                ),
                ('    "answer": ANSWER_NAMES,', '    "shout": SHOUT_NAMES,\n'),
                (
                    '        if family == "answer":',
                    '        if family == "shout":\n            return shout_features(self._answer(item))\n',
                ),
            ),
        },
        proof=GRADES
        + """
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
""",
    ),
}


@pytest.mark.soak
@pytest.mark.parametrize("name", CHANGES)
def test_change_touches_few_files_and_everything_follows(name: str, tmp_path: Path) -> None:
    change = CHANGES[name]
    assert len(change.new.keys() | change.lines.keys()) <= change.most
    shutil.copytree(ROOT / PACKAGE, tmp_path / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    for path, text in change.new.items():
        (tmp_path / PACKAGE / path).write_text(text, encoding="utf-8")
    for path, inserted in change.lines.items():
        file = tmp_path / PACKAGE / path
        source = file.read_text(encoding="utf-8")
        for before, text in inserted:
            places = [found.start() for found in re.finditer(rf"^{re.escape(before)}", source, flags=re.MULTILINE)]
            assert places, f"{path} has no line that begins with {before!r}"
            source = source[: places[0]] + text + source[places[0] :]
        file.write_text(source, encoding="utf-8")
    empty = tmp_path / "empty"
    empty.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", change.proof],
        cwd=empty,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
