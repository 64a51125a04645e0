"""What build servers read of a gate."""

from pathlib import Path
from xml.etree import ElementTree as ET

from judgec.report.gates import Gate, Gates, gates_junit, gates_markdown
from judgec.report.screen import TextTable

GATES = [
    Gate("a>=b-30", "passed", "a - b = +4 Elo"),
    Gate("length", "failed", "moved by .31 [.22, .40] <of> 'all' & \"more\"\x00"),
    Gate("order", "not shown", "too few items"),
]
NONE = Gates("probe", [], "")


def test_junit_has_a_case_for_each_demand_and_what_is_not_shown_fails_too() -> None:
    root = ET.fromstring(gates_junit(Gates("audit", GATES, "")))  # noqa: S314  # our own
    assert (root.tag, root.attrib["tests"], root.attrib["failures"]) == ("testsuites", "3", "2")
    (suite,) = root
    assert suite.attrib["name"] == "judgec audit"
    found = {case.attrib["name"]: [(one.attrib["type"], one.text) for one in case] for case in suite}
    said = [gate.sentence.replace("\0", "\ufffd") for gate in GATES]
    failed = {"length": [("gate failed", said[1])], "order": [("gate not shown", said[2])]}
    assert found == {"a>=b-30": [], **failed}


def test_markdown_begins_with_the_worst_verdict_and_texts_cannot_be_markup() -> None:
    table = TextTable("Board | one", ("agent", "rating"), [("[x](http://evil) <img>|`", "1043 [1001, 1088]")])
    text = gates_markdown(Gates("evaluate", GATES[::2], "", Path("out/report.html")), [table])
    assert text.startswith("## judgec evaluate: ⚠️ not shown\n")
    assert "http" in text
    assert not set("<`") & set(text.replace("`out/report.html`", ""))
    assert "&#91;x](" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 2 + 2 + 1
    assert {line.count("|") for line in rows[:4]} == {4}
    assert {line.count("|") for line in rows[4:]} == {3}
    assert "1043 &#91;1001, 1088]" in text
    assert rows[1] == "| :-- | :-- | :-- |"  # a sentence is read from its left
    assert rows[5] == "| :-- | --: |"


def test_a_column_with_a_text_stands_left_and_one_of_numbers_right() -> None:
    sentence = "3 of 40 items are unscored, which is more than 5 %"
    heads = ("system", "rate", "p", "why", "missing", "group")
    table = TextTable("t", heads, [("a", "55 % [45, 64]", "< .001", sentence, "-", "A"), ("b", "-", ".02", "", "", "")])
    assert "| :-- | --: | --: | :-- | --: | :-- |" in gates_markdown(NONE, [table]).splitlines()
    assert "| :-- | --: |" in gates_markdown(NONE, [TextTable("t", ("a", "b"), [])]).splitlines()
