"""What is known of recorded judges, from the file beside their verdicts."""

import json
from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.raters.about_judges import read_about


@pytest.mark.parametrize("name", ["set.verdicts.parquet", "set.csv"])
def test_read_about_finds_judges_beside_the_file_with_prompts_as_one_text(tmp_path: Path, name: str) -> None:
    about = {"one": {"model": "gpt", "prompt": {"system": "Be fair.", "user": "{query}"}}, "two": {"prompt": "P"}}
    (tmp_path / "set.judges.json").write_text(json.dumps(about))
    found, order = read_about(tmp_path / name)
    assert (order, found["one"].order) == (None, None)
    assert found["one"].model == "gpt"
    assert found["one"].prompt == "[system]\nBe fair.\n\n[user]\n{query}"
    assert (found["two"].model, found["two"].prompt) == (None, "P")


def test_read_about_says_what_the_other_order_means_for_all_or_for_one_judge(tmp_path: Path) -> None:
    file = tmp_path / "set.judges.json"
    file.write_text('{"order": "as_shown", "one": {"order": "mapped"}, "two": {}}')
    found, order = read_about(tmp_path / "set.csv")
    assert (order, found["one"].order, found["two"].order) == ("as_shown", "mapped", None)
    file.write_text('{"one": {"order": "sideways"}}')
    with pytest.raises(InputError, match=r"json:1: order 'sideways'; 'as_shown' or 'mapped'"):
        read_about(tmp_path / "set.csv")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"one": "gpt"}', "json:1: not an object"),
        ('{"one": \n', "json:2: not JSON"),
        ('{"one": {"verdict": "Nota"}}', "json:1: one: verdict is 'Nota'"),
        ('{"one": {"verdict": "{v}"}}', "json:1: one: verdict is '{v}'"),
    ],
)
def test_read_about_of_something_else_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "set.judges.json").write_text(text)
    with pytest.raises(InputError, match=f"set.judges.{said}"):
        read_about(tmp_path / "set.csv")
