from collections.abc import Iterator
from pathlib import Path

import pytest

from judgec.lm.journal.facts import Facts
from judgec.lm.journal.journal import Journal
from judgec.lm.journal.upkeep import DAY, exported, fact_stats, model_stats, prune, size
from tests.lm.journal.test_journal import REPLY, key

NOW = 1e9


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """Three calls of one model, the second answered twice, and one unpriced call of another, a day older each."""
    with Journal(tmp_path / "journal.db") as opened:
        for number, reply in enumerate(
            (
                REPLY._replace(text="first"),
                REPLY._replace(text="old second"),
                REPLY._replace(text="second", usd=0.25),
                REPLY._replace(text="third"),
                REPLY._replace(model="openai/other", usd=None),
            )
        ):
            call = [1, 2, 2, 3, 4][number]
            opened.put(key(call), reply._replace(finished=NOW - (4 - number) * DAY))
        yield opened


def test_model_stats_counts_rows_superseded_ones_and_money(journal: Journal) -> None:
    first, second = model_stats(journal)
    assert (first.model, first.replies, first.superseded, first.usd, first.unpriced) == ("openai/m", 4, 1, 1.75, 0)
    assert (first.input_tokens, first.output_tokens) == (48, 12)
    assert (first.first, first.last) == (NOW - 4 * DAY, NOW - DAY)
    assert (second.model, second.replies, second.superseded, second.usd, second.unpriced) == (
        "openai/other",
        1,
        0,
        0,
        1,
    )


def test_exported_gives_the_newest_reply_of_each_call_in_order(journal: Journal) -> None:
    rows = list(exported(journal))
    assert [(row["call"], row["text"]) for row in rows[:3]] == [
        (key(1).hex(), "first"),
        (key(2).hex(), "second"),
        (key(3).hex(), "third"),
    ]
    assert [row["model"] for row in exported(journal, model="openai/other")] == ["openai/other"]


def test_exported_of_more_than_one_batch_loses_none(journal: Journal) -> None:
    journal.put_many((key(n), REPLY._replace(text=str(n))) for n in range(100, 2600))
    assert [row["text"] for row in exported(journal)][4:] == [str(n) for n in range(100, 2600)]


@pytest.mark.parametrize(
    ("days", "model", "left"),
    [
        (None, None, ["first", "second", "third", REPLY.text]),
        (2.5, None, ["second", "third", REPLY.text]),
        (None, "openai/m", [REPLY.text]),
        (0.5, "openai/m", [REPLY.text]),
    ],
)
def test_prune_deletes_what_was_asked_for_and_superseded_rows(
    journal: Journal, days: float | None, model: str | None, left: list[str]
) -> None:
    gone = prune(journal, days=days, model=model, facts=False, clock=lambda: NOW)
    assert gone["superseded"] == 1
    assert [row["text"] for row in exported(journal)] == left
    assert sum(gone.values()) == 5 - len(left)


def test_prune_of_facts_shrinks_the_file_and_keeps_replies(journal: Journal, tmp_path: Path) -> None:
    facts = Facts(journal, "features", b"d", "a judge, 9 features")
    facts.put_many((key(n), b"x" * 1000) for n in range(1000))
    facts.put_many([(key(3), b"newer"), (key(3), b"newest")])
    assert prune(journal, days=None, model=None, facts=False) == {"superseded": 3}
    assert facts.get_many([key(3)]) == {key(3): b"newest"}
    facts.put_many([(key(3), b"x" * 1000)])
    assert prune(journal, days=None, model=None, facts=False) == {"superseded": 1}
    (known,) = fact_stats(journal)
    assert (known.kind, known.name, known.facts, known.bytes) == ("features", "a judge, 9 features", 1000, 1_000_000)
    before = size(tmp_path / "journal.db")
    gone = prune(journal, days=None, model=None, facts=True)
    assert gone == {"superseded": 0, "facts": 1000}
    assert size(tmp_path / "journal.db") < before / 5
    assert len(journal) == 4
    assert facts.get_many([key(1)]) == {}
