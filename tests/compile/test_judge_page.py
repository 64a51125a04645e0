"""``report.html`` of a compile: what must be on it, whatever users wrote."""

import json
import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any  # any field of a decision

import numpy as np
import pytest

from judgec.compile.finished import finished
from judgec.compile.judge_page import put_audits
from judgec.compile.measured import Compiled
from judgec.compile.promote import Shortfall
from judgec.compile.release import Finished
from judgec.raters import programs
from judgec.records.audit import Finding
from judgec.records.estimate import Estimate
from judgec.report.kit import script_hash
from judgec.report.page.grade_charts import STATED
from tests.compile.small import Outcome, compiled_from
from tests.labels.review.browser import CHROMIUM, Browser
from tests.report.page.html import Page
from tests.report.page.test_parts import FOUND
from tests.service import grading_world

HOSTILE = (
    "</td></script><script>alert(1)</script><img src=x onerror=alert(2)>'\" onmouseover='x' "
    "<!--/audits--> &lt; \x00 \u202e"
)


def hostile_rows() -> list[dict[str, object]]:
    """Two annotators who differ now and then; every text that users write attacks the page."""
    chance = random.Random(1)
    rows: list[dict[str, object]] = []
    for row in grading_world.rows(120, per_query=2):
        for name in ("ann", f"bob {HOSTILE}"):
            grade = min(5, max(1, int(str(row["grade"])) + chance.choice([0, 0, 0, 1, -1])))
            texts = {name: f"{row[name]} {HOSTILE}" for name in ("query", "answer", "item_id", "query_id")}
            extra = {"group": f"{HOSTILE} {len(rows) % 3 // 2}", "agent": HOSTILE, "rationale": f"{HOSTILE} why"}
            rows.append({**row, **texts, **extra, "annotator": name, "grade": grade, "reference": HOSTILE})
    return rows


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return compiled_from(tmp_path_factory.mktemp("home"), hostile_rows())


def made_of(outcome: Outcome, compiled: Compiled) -> Finished[Compiled]:
    return finished(compiled, outcome.settings, outcome.saved.card.cost, outcome.saved.card.created)


@pytest.fixture(scope="module")
def page(outcome: Outcome) -> str:
    return programs.page_path(outcome.settings.home, outcome.saved.card).read_text(encoding="utf-8")


def test_page_of_hostile_texts_runs_nothing_and_loads_nothing(page: str) -> None:
    read = Page(page)
    assert read.faults == []
    assert "alert(1)</script>" in read.text  # it is there, as text
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script_hash()}'"
    assert ("meta", {"http-equiv": "Content-Security-Policy", "content": policy}) in read.tags
    assert "http://" not in page
    assert "https://" not in page


def test_page_has_every_section_and_a_link_to_it(page: str) -> None:
    read = Page(page)
    anchors = [str(attributes["id"]) for tag, attributes in read.tags if tag == "section"]
    assert anchors == ["judges", "next", "charts", "groups", "items", "audits", "prompt", "data", "cite"]
    assert [attributes["href"] for tag, attributes in read.tags if tag == "a"] == [f"#{name}" for name in anchors]
    assert {"viewport"} <= {str(attributes.get("name")) for tag, attributes in read.tags if tag == "meta"}


def test_page_has_a_name_for_all_that_takes_focus_and_skips_no_level_of_heading(page: str) -> None:
    tags = Page(page).tags
    stops = [attributes for _, attributes in tags if "tabindex" in attributes]
    assert len(stops) > 3
    assert all(one.get("role") and one.get("aria-label") for one in stops)
    levels = [int(tag[1]) for tag, _ in tags if tag in {"h1", "h2", "h3", "h4"}]
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.full
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: the page is NOT checked in a browser")
@pytest.mark.parametrize("width", [390, 1280])
def test_page_in_a_browser_fits_its_width_and_prints_what_is_folded(
    outcome: Outcome, tmp_path: Path, width: int
) -> None:
    with Browser(tmp_path / "profile", (width, 900)) as browser:
        browser.resize(width, 900)
        browser.open(programs.page_path(outcome.settings.home, outcome.saved.card).as_uri())
        browser.until("document.readyState === 'complete' && !!document.querySelector('#cite')")
        assert browser.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        browser.run("document.querySelector('.wide').focus()")
        assert browser.run("document.activeElement.getAttribute('aria-label')") == "Judges on the test items"
        folded = "document.querySelector('details:not([open])').getBoundingClientRect().height"
        before = browser.run(folded)
        browser.print_media()
        assert browser.run(folded) > 2 * before


@pytest.mark.full
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: the item browser is NOT checked in a browser")
def test_items_in_a_browser_are_searched_filtered_sorted_and_linked(outcome: Outcome, tmp_path: Path) -> None:
    url = programs.page_path(outcome.settings.home, outcome.saved.card).as_uri()
    items = outcome.saved.items
    shown = "document.querySelectorAll('#items-browser details').length"
    wrong = sum(any(grade != one.judge[a] for a, grade in one.expert.items()) for one in items if not one.unscored)

    def choose(name: str, value: str) -> str:
        wanted = f"document.querySelector('select[name={name}]')"
        return f"{{ const s = {wanted}; s.value = {json.dumps(value)}; s.dispatchEvent(new Event('change')) }}"

    with Browser(tmp_path / "profile", (1400, 900)) as browser:
        browser.open(url)
        browser.until(f"document.readyState === 'complete' && {shown} === {len(items)}")
        for width in (1400, 1024, 420):
            browser.resize(width, 900)
            browser.run("document.querySelectorAll('#items-browser details').forEach((one, n) => one.open = n < 3)")
            assert browser.run("document.scrollingElement.scrollWidth <= document.documentElement.clientWidth"), width
        browser.run(choose("show", "differ"))
        assert browser.run(shown) == wrong
        assert 0 < wrong < len(items)
        browser.run(choose("show", "all"))
        browser.run(choose("sort", "unsure"))
        least = min(items, key=lambda one: 2.0 if one.confidence is None else one.confidence)
        first = browser.run("decodeURIComponent(document.querySelector('#items-browser details').id)")
        assert {one.item_id: one.confidence for one in items}[first.removeprefix("item-")] == least.confidence
        browser.run("document.activeElement.blur()")
        browser.press("/")
        assert browser.run("document.activeElement.type") == "search"
        browser.type(items[0].item_id.split()[0])
        assert 0 < browser.run(shown) < len(items)
        browser.press("Enter")
        assert browser.run("document.activeElement.tagName") == "SUMMARY"
        browser.run(f"location.hash = 'item-' + encodeURIComponent({json.dumps(items[-1].item_id)})")
        browser.until("document.querySelectorAll('#items-browser details[open]').length > 0")
        opened = "decodeURIComponent(document.querySelector('#items-browser details[open]').id)"
        assert browser.run(opened) == f"item-{items[-1].item_id}"
        assert browser.run("document.querySelectorAll('#items-browser img, #items-browser script').length") == 0


def test_items_beside_the_page_are_all_there_and_whole(outcome: Outcome) -> None:
    path = programs.page_path(outcome.settings.home, outcome.saved.card).with_name("items.jsonl")
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    assert [one["item_id"] for one in found] == [one.item_id for one in outcome.compiled.dataset.test.items]
    assert found[0]["texts"]["answer"] == [outcome.compiled.dataset.test.items[0].text("answer")]
    assert {label["rater"] for label in found[0]["labels"]} == {"ann", f"bob {HOSTILE}"}


def test_page_shows_the_numbers_of_the_report(outcome: Outcome, page: str) -> None:
    text = Page(page).text
    assert str(outcome.saved.report["verdict"]) in text
    assert outcome.saved.card.reason in text
    assert outcome.saved.card.data_digest in text
    tau = outcome.compiled.verification.agreements["evidence_only" if outcome.settings.evidence else "uncompiled"]
    value = tau.estimates["qwk"].value
    assert value is not None
    assert f"{value:.2f}".replace("0.", ".", 1) in text
    assert page.count("<svg") == 8  # confusion, reliability, Bland-Altman, histogram, 2 of confidence, coverage, groups
    names = "majority", "evidence alone", "uncompiled", "compiled prompt", "one annotator left out", "ceiling"
    assert not [name for name in names if name not in text]


FALL = Shortfall(0.76, 0.83, Estimate(value=-0.07, low=-0.11, high=-0.03))
BELOW = "better: tau-b +.2 against champion"


@pytest.mark.parametrize(
    ("reason", "more", "sentence"),
    [
        ("better: tau-b +.2", {"promoted": True}, "small "),
        ("not shown to be better: tau-b +.01", {}, "small "),
        ("too few test queries: 9, at least 10 are needed (tau-b +.3)", {}, "small "),
        (
            "shown to be worse than the most frequent grade: exact",
            {"below_majority": {"exact": FALL}},
            "exact .76 against .83, difference -.07 [-.11, -.03].",
        ),
        (BELOW, {"promoted": True, "above": {"uncompiled": (0.52, 0.5)}}, "; the judge as it was (.52) agrees"),
        (
            BELOW,
            {"promoted": True, "above": dict.fromkeys(("uncompiled", "best_alone", "compiled_prompt"), (0.52, 0.5))},
            "; the judge as it was (.52) agrees",
        ),
    ],
    ids=["promoted", "not shown", "refused", "below the majority", "below another row", "one row of three names"],
)
def test_first_sentences_of_the_page_are_true_whatever_was_decided(
    outcome: Outcome, reason: str, more: dict[str, Any], sentence: str
) -> None:
    decided = {"promoted": False, "below_majority": {}, "above": {}, "reason": reason, **more}
    decision = replace(outcome.compiled.decision, **decided)
    made = made_of(outcome, replace(outcome.compiled, decision=decision))
    text = Page(str(made.page(made.card.model_copy(update={"version": 1})))).text
    report: dict[str, Any] = dict(made.report)
    assert sentence in text
    assert sentence in report["verdict"]
    assert (report["standing"]["is"] in {"better", "as well"}) <= decision.promoted
    assert (f"NOT PROMOTED: {reason}." in text) is ("NOT PROMOTED" in text) is not decision.promoted
    assert ("not shown to be better" in text) is reason.startswith("not shown")


def test_audits_are_put_into_the_page_and_nothing_else_changes(outcome: Outcome, page: str, tmp_path: Path) -> None:
    card = outcome.saved.card
    put_audits(tmp_path, card, [FOUND])
    assert not programs.page_path(tmp_path, card).exists()  # an older version without a page
    copy = programs.page_path(tmp_path, card)
    copy.parent.mkdir(parents=True)
    copy.write_text(page, encoding="utf-8")
    effect = Estimate(value=None, note="no contexts")
    skipped = Finding(audit="position", status="skipped", effect=effect, bound=0.1, sentence="No contexts.")
    put_audits(tmp_path, card, [FOUND, skipped])
    now = copy.read_text(encoding="utf-8")
    assert "Not audited" not in now
    assert "No contexts." in now
    assert now.split("<!--audits-->")[0] == page.split("<!--audits-->", maxsplit=1)[0]
    assert now.split("<!--/audits-->")[-1] == page.rsplit("<!--/audits-->", maxsplit=1)[-1]


def test_page_stays_small_when_texts_and_items_are_many(tmp_path: Path) -> None:
    rows = grading_world.rows(160, per_query=2)
    found = compiled_from(tmp_path, [{**row, "answer": f"{row['answer']} {'word ' * 1000}"} for row in rows])
    page = programs.page_path(tmp_path, found.saved.card).read_text(encoding="utf-8")
    assert len(page.encode()) < 3_000_000


@pytest.mark.parametrize(
    ("version", "said"), [(1, "the uncompiled prompt"), (2, "same prompt as small@1"), (9, "no readable small@8")]
)
def test_prompt_is_compared_with_that_of_the_version_before(outcome: Outcome, version: int, said: str) -> None:
    card = outcome.saved.card.model_copy(update={"version": version, "parent": None})
    text = str(made_of(outcome, outcome.compiled).page(card))
    assert said in text
    assert f"judgec audit --judge small@{version}" in text


def test_confidence_that_the_model_stated_is_drawn_beside_the_calibrated_one(outcome: Outcome, page: str) -> None:
    assert STATED in page
    assert "Confidence map" in page
    verification = outcome.compiled.verification
    silent = replace(verification.judgments["compiled"], stated=None)
    found = replace(verification, judgments={**verification.judgments, "compiled": silent})
    shown = str(made_of(outcome, replace(outcome.compiled, verification=found)).page(outcome.saved.card))
    assert STATED not in shown
    assert "Confidence map" in shown


def test_accepts_and_unscored_items_have_a_page(tmp_path: Path) -> None:
    rows = [{**row, "accept": int(str(row["grade"])) >= 3} for row in grading_world.rows(60, per_query=2)]
    found = compiled_from(tmp_path, [{k: v for k, v in row.items() if k != "grade"} for row in rows])
    judged = found.compiled.verification.judgments["compiled"]
    assert np.isfinite(judged.score).any()
    assert Page(programs.page_path(tmp_path, found.saved.card).read_text(encoding="utf-8")).faults == []
