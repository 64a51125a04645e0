"""A distribution that brings the task "politeness", written into a folder as an installer leaves it."""

import json
from pathlib import Path

TASK = '''"""The task of saying whether an answer is polite."""

from judgec.records.scale import Scale
from judgec.tasks.spec import TaskSpec

TASK = TaskSpec(
    name="politeness",
    required=("query", "answer"),
    labels=("polite",),
    scale=Scale(name="politeness", grades=(0, 1), accept_at=1),
    settled=True,
    meanings=("rude or curt", "friendly"),
    signature="politeness_prompt:SayWhetherPolite",
)
'''
PROMPT = '''"""The prompt of the task."""

import dspy


class SayWhetherPolite(dspy.Signature):
    """Say whether the answer is polite to the one who asked. What it says does not matter, only how."""

    query: str = dspy.InputField(desc="what the user asked")
    answer: str = dspy.InputField(desc="the answer")
    reason: str = dspy.OutputField(desc="which words are polite or rude, in one sentence")
    grade: str = dspy.OutputField(desc="the grade alone")
    confidence: int = dspy.OutputField(desc="how sure you are of the grade, 0 (not at all) to 100 (certain)")
'''
POLITE = ("Thank you for asking, you are welcome to", "With pleasure: please", "I am happy to help. Please")
RUDE = ("Obviously not like that.", "Stop bothering us.", "Read the manual.")
THINGS = ("pump", "valve", "meter", "probe", "sensor", "gateway", "cable", "relay")


def install(
    site: Path,
    *,
    name: str = "politeness",
    module: str = "politeness",
    attribute: str = "TASK",
    task: str = TASK,
    prompt: str = PROMPT,
) -> Path:
    """Write the modules and the metadata; the folder belongs on the import path.

    Args:
        site: Like site-packages.
        name: Of the entry point.
        module: The modules are called ``MODULE_task`` and ``MODULE_prompt``; a name that no other test imports.
        attribute: What the entry point names in the first.
        task: The first module.
        prompt: The second.
    """
    site.mkdir(exist_ok=True)
    (site / f"{module}_task.py").write_text(task.replace("politeness_prompt:", f"{module}_prompt:"))
    (site / f"{module}_prompt.py").write_text(prompt)
    facts = site / f"judgec_{name}-1.0.dist-info"
    facts.mkdir(exist_ok=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: judgec-{name}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[judgec.judges]\n{name} = {module}_task:{attribute}\n")
    return site


def rows(n: int = 80) -> list[dict[str, object]]:
    """Polite answers and rude ones, which are curt, graded by two annotators who always agree."""
    found: list[dict[str, object]] = []
    for number in range(n):
        polite = int(number % 3 > 0)
        thing, which = THINGS[number % len(THINGS)], number // 3 % 3
        kind = f"{POLITE[which]} open the lid of {thing} {number} {'gently ' * (number % 4)}to the left."
        item = {"query": f"How do I open {thing} {number}?", "answer": kind if polite else RUDE[which]}
        found += [{**item, "polite": polite, "annotator": name} for name in ("ann", "bob")]
    return found


def write(path: Path, table: list[dict[str, object]]) -> Path:
    """The rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in table))
    return path
