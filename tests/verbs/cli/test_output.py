import subprocess
import sys
from pathlib import Path

import pytest

from judgec.report.screen import TextTable, print_tables, visible
from judgec.verbs.cli.output import say


def test_visible_shows_what_steers_a_terminal_and_leaves_words_alone() -> None:
    assert visible("\x1b[31mred\x07 \x9b2J\r") == r"\x1b[31mred\x07 \x9b2J\x0d"
    assert visible("日本 é\tb\n[/x]") == "日本 é\tb\n[/x]"


def test_names_from_files_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_tables(TextTable("t\x1b]0;title\x07", ("agent", "n\x1b[2J"), [("\x1b[31mz", "1"), ("[/x]", "2")]))
    say("agent \x1b[31mz lost")
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out + printed.err
    assert r"\x1b[31mz" in printed.out
    assert "[/x]" in printed.out
    assert r"\x1b[31mz" in printed.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("printed", ["print_json({'n': 1})", "print_tables(TextTable('t', ('agent',), [('a',)]))"])
def test_what_does_not_fit_on_standard_output_is_one_line_and_exit_2(printed: str) -> None:
    imports = "from judgec.report.screen import *; from judgec.verbs.cli.output import *"
    code = f"{imports}; exit_with_code(lambda: {printed})"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: standard output")
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1
