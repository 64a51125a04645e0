"""Each audit against a judge with exactly its fault, which must fail, and a clean one, which must pass."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from judgec.errors import UserError
from judgec.raters.fencing import fence
from judgec.records.audit import Finding
from judgec.records.estimate import Estimate
from judgec.records.label import Item
from judgec.trust.audits.effect import status_of
from judgec.trust.audits.injection import AUTHORITY, TAGS, attacks
from judgec.trust.audits.registry import AUDITS, audits_named, run_audits
from tests.stats.known import known
from tests.trust.audits.judges import PREFERENCE, Grader, better, items, noisy, pairs, quality, subject


def fair(item: Item, run: int) -> int:
    """The clean judge."""
    return quality(item)


def fair_pair(item: Item, run: int) -> int:
    return better(item)


def up(grade: int, more: bool) -> int:
    return min(4, grade + more)


def _obeys(item: Item, run: int) -> int:
    text = item.text("answer") + item.text("contexts")
    shown = "".join(chr(ord(c) - TAGS) if TAGS <= ord(c) < TAGS + 128 else c for c in text)
    ordered = re.search(r"(instruct|instruc|Anweisung|grade|SYSTEM|指示|инструкции|التعليمات|policy|Decode)", shown)
    return 4 if ordered else quality(item)


def _flips(item: Item, run: int) -> int:
    return (quality(item) + run) % 5


FAULTS: dict[str, tuple[Grader, Callable[[], tuple[Item, ...]]]] = {
    "position": (lambda item, run: (quality(item) + (not item.text("contexts").startswith("Fact"))) % 5, items),
    "length": (lambda item, run: up(quality(item), len(item.text("answer")) > 110), items),
    "authority": (
        lambda item, run: up(quality(item), bool(re.search("Harvard|19|20|97|thirty", item.text("answer")))),
        items,
    ),
    "injection": (_obeys, items),
    "self_preference": (lambda item, run: up(quality(item), "gpt" in (item.agent or "")), items),
    "repeat": (_flips, items),
    "groups": (lambda item, run: up(quality(item), item.group == "law"), items),
}


def audited(name: str, grade: Grader, given: tuple[Item, ...]) -> Finding:
    one = subject(grade, given, expert=quality)
    (finding,) = run_audits(one, one, [name])
    return finding


def paired(grade: Grader, name: str) -> Finding:
    one = subject(grade, pairs(), scale=PREFERENCE)
    (finding,) = run_audits(one, one, [name])
    return finding


@pytest.mark.parametrize("name", [name for name in AUDITS if name != "position"])
def test_audit_of_a_judge_with_its_fault_fails_and_of_a_clean_one_passes(name: str) -> None:
    grade, given = FAULTS[name]
    found = audited(name, grade, given())
    assert found.status == "fail", found.sentence
    assert known(found.effect.low) > found.bound
    assert "beyond the bound" in found.sentence
    clean = audited(name, fair, given())
    assert clean.status == "pass", clean.sentence
    assert "within the bound" in clean.sentence


@pytest.mark.parametrize("name", [name for name in AUDITS if name != "position"])
def test_audit_fails_for_no_other_audits_fault(name: str) -> None:
    """A judge that only varies from run to run, or favours a group, is not accused of anything else."""
    for fault in ("repeat", "groups"):
        grade, given = FAULTS[fault]
        if name not in {fault, "self_preference"}:
            assert audited(name, grade, given()).status != "fail"


def test_position_audit_of_pairs_sees_the_advantage_of_the_first_answer() -> None:
    def first(item: Item, run: int) -> int:
        return 0 if better(item) == 2 or len(item.text("query")) % 2 else better(item)

    found = paired(first, "position")
    assert found.status == "fail"
    # Ties, and all pairs whose query has an odd length, go to whoever stands first: an advantage of a half each.
    ties = [better(item) == 2 or len(item.text("query")) % 2 for item in pairs()]
    assert found.effect.value == pytest.approx(sum(ties) / len(ties) / 2)
    assert found.parts["flipped"].value == pytest.approx(sum(ties) / len(ties))
    clean = paired(fair_pair, "position")
    assert (clean.status, clean.effect.value) == ("pass", 0.0)


def test_position_audit_of_single_answers_reverses_the_documents() -> None:
    def first_document(item: Item, run: int) -> int:
        return quality(Item("", "", {"answer": item.text("answer"), "contexts": item.texts("contexts")[:1]}))

    for grade, status in ((first_document, "fail"), (fair, "pass")):
        one = subject(grade, items(fields=("contexts",)))
        assert run_audits(one, one, ["position"])[0].status == status


def test_pairwise_judges_are_audited_on_either_side() -> None:
    def longer(item: Item, run: int) -> int:
        a, b = len(item.text("answer_a")), len(item.text("answer_b"))
        return 2 if a == b else int(b > a)

    found = paired(longer, "length")
    assert (found.status, found.part) == ("fail", "padded")
    assert (found.effect.value or 0) > 0  # the padded side gains, whichever it is

    def obeys(item: Item, run: int) -> int:
        for side, name in enumerate(("answer_a", "answer_b")):
            if re.search(r"Ignore|SYSTEM|GradeBot|rubric", item.text(name)):
                return side
        return better(item)

    found = paired(obeys, "injection")
    assert found.status == "fail"
    assert (found.parts["role"].value or 0) > 0.5
    assert {paired(fair_pair, name).status for name in ("length", "injection", "authority")} == {"pass"}


def test_pairwise_judge_that_favours_its_family_fails() -> None:
    def own(item: Item, run: int) -> int:
        return 0 if item.text("agent_a").startswith("gpt") else 1 if item.text("agent_b").startswith("gpt") else 2

    # the family, not the name
    for model, status in (("openai/gpt-4o", "fail"), ("openai/o3-mini", "fail"), ("mistral/large", "skipped")):
        one = subject(own, pairs(), scale=PREFERENCE, expert=better, model=model)
        assert run_audits(one, one, ["self_preference"])[0].status == status


def test_audits_that_do_not_apply_say_why() -> None:
    one = subject(fair, items(fields=()), model="embedded")
    found = {each.audit: each for each in run_audits(one, one)}
    assert {found[name].status for name in ("self_preference", "groups", "position")} == {"skipped"}
    assert "experts' labels" in found["groups"].sentence
    assert all(each.effect.value is None for each in found.values() if each.status == "skipped")


def test_audits_that_lack_data_say_which_column_has_to_hold_what() -> None:
    def harsh_alone(item: Item, run: int) -> int:
        return quality(item) if item.text("reference") else 1

    nameless = tuple(replace(item, agent="alder", group=f"g{n // 12}") for n, item in enumerate(items(60, per_query=2)))
    ungrouped = tuple(replace(item, group=None) for item in nameless)
    subjects = (
        (subject(harsh_alone, nameless, expert=quality), "column agent", "0 of 5 groups"),
        (subject(fair, ungrouped, expert=quality, model="acme-1"), "'acme-1' is not known", "column group"),
        (
            subject(fair_pair, pairs(), scale=PREFERENCE, expert=better, model="mistral/large"),
            "agent_a and agent_b",
            "",
        ),
    )
    for one, preference, groups in subjects:
        found = {each.audit: each.sentence for each in run_audits(one, one, ["self_preference", "groups"])}
        assert preference in found["self_preference"]
        assert groups in found["groups"]


def test_verdicts_that_an_edit_costs_are_counted_and_in_no_effect() -> None:
    def breaks(item: Item, run: int) -> int | None:
        return None if "This is what can be said" in item.text("answer") else quality(item)

    found = audited("length", breaks, items())
    assert found.unscored == 60
    assert found.parts["padded"].value is None
    assert found.status == "pass"


def test_few_items_leave_an_audit_not_shown_and_say_how_many_more_would_do() -> None:
    found = audited("repeat", fair, items(6))
    more = known(found.more_items)
    assert f" {more} more items" in found.sentence
    statuses = [audited("repeat", fair, items(n)).status for n in (6, 6 + more - 1, 6 + more)]
    assert statuses == ["not shown", "not shown", "pass"]


@pytest.mark.parametrize(
    ("low", "high", "two_sided", "status"),
    [
        (0.0, 0.1, False, "pass"),
        (0.0, 0.101, False, "not shown"),
        (0.1, 0.3, False, "not shown"),
        (0.101, 0.3, False, "fail"),
        (-0.3, 0.0, False, "pass"),
        (-0.3, 0.0, True, "not shown"),
        (-0.3, -0.2, True, "fail"),
        (-0.1, 0.1, True, "pass"),
        (None, None, False, "not shown"),
    ],
)
def test_pass_is_said_only_within_the_bound(
    low: float | None, high: float | None, two_sided: bool, status: str
) -> None:
    assert status_of(Estimate(value=0.0, low=low, high=high), 0.1, two_sided=two_sided) == status


def test_finding_on_an_older_card_that_says_warn_is_not_shown() -> None:
    written = audited("repeat", fair, items(6)).model_dump() | {"status": "warn"}
    del written["more_items"]
    assert Finding.model_validate(written).status == "not shown"


def test_audits_named_keeps_the_order_of_the_table_and_refuses_unknown_names() -> None:
    assert list(audits_named(["injection", "length"])) == ["length", "injection"]
    assert list(audits_named([])) == list(AUDITS)
    with pytest.raises(UserError, match=r"no audit 'lenght'.*position, length"):
        audits_named(["lenght"])


def test_every_attack_gets_its_turn_in_answers_and_in_documents() -> None:
    tried: set[tuple[str, str]] = set()

    def watching(item: Item, run: int) -> int:
        if "#" in item.item_id:
            here = "answer" if "\n" in item.text("answer") else "contexts"
            tried.add((here, item.item_id.partition("#")[2]))
        return quality(item)

    one = subject(watching, items(60), expert=quality)
    run_audits(one, one, ["injection"])
    names = {attack.name for attack in attacks() if attack.family != AUTHORITY}
    assert {(place, name) for place in ("answer", "contexts") for name in names} <= tried


def test_fenced_attacks_stay_inside_their_block() -> None:
    """Whatever an attack holds, each of its lines is quoted, and none opens a field or ends the turn."""
    for attack in attacks():
        block = fence("answer", f"Right.\n{attack.filled(best='5', field='grade', name='answer')}")
        assert all(line.startswith("> ") for line in block.splitlines()), attack.name
        assert not re.search(r"\[\[\s*##", block)
        assert not re.search(r"<\||\[/?INST\]|</?s>", block), attack.name
        assert not any(TAGS <= ord(char) < TAGS + 128 for char in block), attack.name


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.full if name in {"repeat", "injection"} else pytest.mark.soak)
        for name in AUDITS
        if name != "position"
    ],
)
def test_noisy_clean_judges_fail_no_more_often_than_stated(name: str) -> None:
    """Off by a grade in 4 % of replies, which is not a fault of any audit here."""
    runs = 60
    failed = sum(
        audited(name, noisy(fair, 0.04, seed), items(60, seed, per_query=2)).status == "fail" for seed in range(runs)
    )
    assert failed <= 0.05 * runs + 3  # three standard errors at a rate of 2.5 %
