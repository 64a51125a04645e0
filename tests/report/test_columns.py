"""A table declared once gives the same numbers on every surface."""

import math
from dataclasses import dataclass

from markupsafe import Markup

from judgec.records.estimate import Estimate
from judgec.report.columns import Column, TableColumns
from judgec.report.kit import table


@dataclass(frozen=True)
class Team:
    name: str
    score: float
    won: Estimate


TEAMS = [Team("a.b", 2.0, Estimate(value=0.5, low=0.25, high=0.75)), Team("{}", math.nan, Estimate(value=None))]
COLUMNS: TableColumns[Team] = TableColumns(
    (
        Column("team", lambda team: team.name, value=lambda team: team.name, csv="team"),
        Column(
            *("score", lambda team: "-" if math.isnan(team.score) else f"{team.score:g}"),
            value=lambda team: team.score, csv="score", json=("teams", None, "score"), metric=("score", None),
            headline=True,
        ),
        Column("drawn", cell=lambda _: Markup("<i></i>")),
        Column("why", lambda _: "said", page=False),
        Column(value=lambda team: team.won, json=("teams", None, "won"), metric=("won", None)),
        Column(
            value=lambda _: 1.0, json=("beats", None, "a.b"), metric=("beats", None, "a.b"),
            absent=lambda team: team.name == "a.b",
        ),
    ),
    lambda team: team.name,
)  # fmt: skip


def test_screen_and_page_show_what_each_of_them_can() -> None:
    assert COLUMNS.screen(TEAMS) == (("team", "score", "why"), [("a.b", "2", "said"), ("{}", "-", "said")])
    assert COLUMNS.turned(TEAMS) == [("team", "a.b", "{}"), ("score", "2", "-"), ("why", "said", "said")]
    heads, cells = COLUMNS.page(TEAMS)
    assert heads == ["team", "score", "drawn"]
    assert cells == [["a.b", "2", "<i></i>"], ["{}", "–", "<i></i>"]]


def test_files_hold_values_and_unknown_is_empty_or_null() -> None:
    assert COLUMNS.csv(TEAMS) == [["team", "score"], ["a.b", 2.0], ["{}", ""]]
    assert COLUMNS.json(TEAMS) == {
        "teams": {
            "a.b": {"score": 2.0, "won": {"value": 0.5, "low": 0.25, "high": 0.75}},
            "{}": {"score": None, "won": {"value": None, "low": None, "high": None}},
        },
        "beats": {"{}": {"a.b": 1.0}},
    }


def test_mlflow_gets_names_with_the_row_in_them_and_headlines_as_tags() -> None:
    logged = COLUMNS.metrics(TEAMS)
    assert list(logged) == ["score.a.b", "won.a.b", "score.{}", "won.{}", "beats.{}.a.b"]
    assert logged["won.a.b"] == TEAMS[0].won
    assert isinstance(unknown := logged["score.{}"], float)
    assert math.isnan(unknown)
    assert COLUMNS.tags(TEAMS) == {"score.a.b": "2.0"}


def test_column_of_a_part_fills_from_that_part() -> None:
    def first(pair: tuple[str, Team]) -> str:
        return pair[0]

    of_pairs: TableColumns[tuple[str, Team]] = TableColumns(
        [column.of(lambda pair: pair[1]) for column in COLUMNS.columns], first
    )
    pairs = [("x", TEAMS[0])]
    assert of_pairs.csv(pairs)[1] == ["a.b", 2.0]
    assert of_pairs.screen(pairs)[1] == [("a.b", "2", "said")]
    assert list(of_pairs.metrics(pairs)) == ["score.x", "won.x"]


def test_table_escapes_cells_heads_and_label_but_not_what_the_kit_made() -> None:
    made = table(["<b>", Markup("<abbr></abbr>")], [["<i>", Markup("<u></u>")]], "", label="\"'><script>")
    assert "<th scope=col>&lt;b&gt;<th scope=col><abbr></abbr>" in made
    assert "<td>&lt;i&gt;<td><u></u>" in made
    assert 'aria-label="&#34;&#39;&gt;&lt;script&gt;"' in made
