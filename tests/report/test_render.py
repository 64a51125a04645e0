"""Tables for people: names are shown as they are, numbers as the field prints them."""

import pytest

from judgec.report.render import agreement_table, comparison_table, notes
from judgec.report.screen import print_tables
from judgec.stats.agreement.measure import measure
from tests.stats.agreement.test_measure import ratings, replaced


def test_brackets_and_colons_in_names_are_text_and_not_markup(capsys: pytest.CaptureFixture[str]) -> None:
    found = measure(ratings(30, unscored=2))
    title = "[odd] :smile: name"
    print_tables(agreement_table(title, {"judge [/b]": found}), comparison_table(title, {"a": found}, "tau_b"))
    shown = capsys.readouterr().out
    assert shown.count(title) == 2
    assert "judge [/b]" in shown
    assert "unscored" in shown


def test_missing_statistics_with_one_reason_are_one_note() -> None:
    r = ratings(30)
    (note,) = notes({"my_judge": measure(replaced(r, judge=r.judge * 0))})
    assert note.startswith("my judge: no tau-b: undefined")
