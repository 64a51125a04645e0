"""``docs/words.md`` explains each word that a table explains, in the same words."""

from collections.abc import Mapping

import pytest

from judgec.report import words
from tests.docs.blocks import ROOT

TABLES = (words.judges(words.JUDGES), words.STATISTICS, words.LEADERBOARD, words.CLAIMS)


@pytest.mark.parametrize("meanings", TABLES, ids=["judges", "statistics", "leaderboard", "claims"])
def test_words_under_tables_are_explained_the_same_way_in_the_docs(meanings: Mapping[str, str]) -> None:
    page = (ROOT / "docs" / "words.md").read_text(encoding="utf-8").splitlines()
    assert not [word for word, meaning in meanings.items() if f"| `{word}` | {meaning} |" not in page]


def test_legend_leaves_out_names_of_users() -> None:
    assert words.judges(["compiled_loo", "my_judge"]) == {"compiled loo": "the same, against all experts but one"}
    assert words.leaderboard(["agent", "rank"]) == {"rank": words.LEADERBOARD["rank"]}
