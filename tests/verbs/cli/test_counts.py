"""One row, one cell, one query: no command says ``1 rows``."""

import re
from pathlib import Path

import pytest

from tests.table.spreadsheets import Rows, write_xlsx
from tests.verbs.cli.process import judgec_here

THINGS = "rows|cells|items|labels|queries|annotators|judges|columns|values|grades|answers|folds|votes|lines|texts|times"
OF_ONE = re.compile(
    rf"(?<![\d.,=])1 (?:[a-z]+ )?(?:{THINGS})\b|\b1 (?:row|item|cell|label|query|value) (?:are|have|were)\b"
)
ANSWERS = ("--map", "Question=query", "--map", "Answer=answer", "--annotators", "Mia,Noah", "--judges", "GPT-4")
HEAD: list[object] = ["Question", "Answer", "Mia", "Noah", "GPT-4"]


def odd(item: int) -> list[list[object]]:
    """Rows of one item with what is noted: a blank line, a header once more, no label, words among grades."""
    again: list[object] = [f"Where is {item}?", f"It is at {item}.", 1, 2, 1]
    return [again, again, ["", "", "", "", ""], HEAD, ["Who is that?", "Nobody.", "", "", 2], ["And?", "", 2, 2, 9]]


def usual(items: int) -> list[list[object]]:
    return [[f"What is {n}?", f"It is {n}.", 1 + n % 3, 1 + n * n % 3, 1 + n % 3] for n in range(items)]


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
@pytest.mark.parametrize("items", [1, 12])
def test_no_command_says_one_of_several(tmp_path: Path, kind: str, items: int) -> None:
    path = tmp_path / f"t.{kind}"
    rows: Rows = [HEAD, *usual(items), *odd(99), ["Last?", "Yes.", "see Tom", 3, 3], ["Or?", "No.", "n/a", 1, 1]]
    if kind == "xlsx":
        write_xlsx(path, {"Sheet": rows})
    else:
        path.write_text("\n".join(",".join(map(str, row)) for row in rows))
    said = [judgec_here(tmp_path, "init", path.name, "--yes", *ANSWERS, "--best", "3", "--missing", "see Tom")]
    said += [judgec_here(tmp_path, "labels", "-v"), judgec_here(tmp_path, "agreement", path.name, "-v")]
    for one in said:
        printed = f"{one.stdout}\n{one.stderr}"
        assert OF_ONE.findall(printed) == [], [line for line in printed.splitlines() if OF_ONE.search(line)]
