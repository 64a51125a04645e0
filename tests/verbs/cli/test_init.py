"""From somebody's workbook to a judged file without a flag, and what a judgec.toml of a stranger cannot do."""

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import judgec as judgec_api
from judgec.errors import UserError
from judgec.labels.project import write_project
from judgec.lm.watch import Silent
from judgec.verbs.check_labels import check_labels
from judgec.verbs.cli.project import completed
from judgec.verbs.compilation import judge_and_out
from judgec.verbs.compile_judge import planned
from judgec.verbs.options.agreement import AgreementOptions
from judgec.verbs.options.audit import AuditOptions
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from judgec.verbs.options.evaluate import EvaluateOptions
from judgec.verbs.options.judge import JudgeFileOptions
from judgec.verbs.options.labels import LabelsOptions
from judgec.verbs.options.rank import RankOptions
from tests.records.test_card import make_card
from tests.service import policies
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome
from tests.table.spreadsheets import Rows, write_ods, write_xlsx
from tests.verbs.cli.process import CANARY, ROOT, judgec, judgec_here

SENSORS = ROOT / "trainsets" / "sensors" / "labels.jsonl"
NAMES = {"query": "Frage", "answer": "Antwort des Bots", "reference": "Musterantwort"}
RATERS = {"ines": "Experte A", "marek": "Experte B", "tomas": "Experte C"}
INPUTS = list(NAMES.values())


def wide(queries: int) -> list[dict[str, object]]:
    """Rows of an item with one column an expert, of so many queries."""
    rows: dict[str, dict[str, object]] = {}
    kept: dict[str, None] = {}
    for line in SENSORS.read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        kept.setdefault(label["query"])
        if len(kept) > queries:
            break
        row = rows.setdefault(label["item_id"], {theirs: label[ours] for ours, theirs in NAMES.items()})
        row[RATERS[label["annotator"]]] = label["grade"]
    return list(rows.values())


def table(rows: list[dict[str, object]], columns: list[str]) -> Rows:
    return [columns, *([row.get(name, "") for name in columns] for row in rows)]


def test_next_command_leaves_out_the_judge_that_judgec_toml_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    proven = make_card().model_copy(update={"promoted": True})
    told = ("--judge", proven.name, "--out", "judged.jsonl")
    assert judge_and_out(proven) == told
    (tmp_path / "judgec.toml").write_text(f'name = "{proven.name}"\n')
    assert judge_and_out(proven) == ()
    unproven = proven.model_copy(update={"promoted": False})
    assert judge_and_out(unproven) == ()  # there is no other
    family = tmp_path / "programs" / proven.name
    family.mkdir(parents=True)
    (family / "aliases.json").write_text('{"champion": 1}')
    assert judge_and_out(unproven)[1] == f"{proven.name}@latest"  # which nobody takes unasked where there is a champion


def test_evaluate_reads_its_labels_as_judgec_toml_says_and_takes_no_judge_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graded").mkdir()
    told = 'labels = "sheet.csv"\nname = "faith"\ntask = "grade"\nannotators = ["Mia", "Noah"]\njudges = ["GPT"]\n'
    told += '[columns]\nFrage = "query"\nAntwort = "answer"\nBot = "agent"\n[scale]\nname = "q"\ngrades = [1, 2, 3]\n'
    (tmp_path / "graded" / "judgec.toml").write_text(told)
    (tmp_path / "graded" / "sheet.csv").write_text("Frage,Antwort,query_id,Bot,Mia,Noah,GPT\nq,a,1,x,1,3,3\n")
    (tmp_path / "graded" / "alone.csv").write_text("query_id,Bot,Mia,GPT\n1,x,1,3\n")
    whole = completed(EvaluateOptions, {"judge": "mine", "labels": "graded/sheet.csv"})
    assert (whole["judge"], whole["annotators"], whole["judges"]) == ("mine", ("Mia", "Noah"), {"GPT": ""})
    assert whole["columns"] == {"Frage": "query", "Antwort": "answer", "Bot": "agent"}
    assert whole["scale"] == {"name": "q", "grades": [1, 2, 3]}
    alone = completed(EvaluateOptions, {"judge": "mine", "labels": "graded/alone.csv"})
    assert (alone["annotators"], alone["columns"]) == (("Mia",), {"Bot": "agent"})
    with pytest.raises(UserError, match="--judge: not given"):
        completed(EvaluateOptions, {"labels": "graded/sheet.csv"})
    answers = completed(EvaluateOptions, {"judge": "mine", "answers": ("graded/sheet.csv",)})
    assert answers["columns"] == {"Frage": "query", "Antwort": "answer", "Bot": "agent"}
    assert "annotators" not in answers  # nobody's grades are asked for


def test_a_judge_that_judgec_toml_names_among_the_annotators_is_none_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judgec.toml").write_text(
        'labels = "long.csv"\ntask = "grade"\nannotators = ["*"]\njudges = ["Athena"]\n'
    )
    rows = [f"q{n},a,{who},{1 + n % 3}" for n in range(30) for who in ("Mia", "Noah", "Athena")]
    (tmp_path / "long.csv").write_text("\n".join(["query,answer,annotator,grade", *rows]))
    content, *_ = check_labels(LabelsOptions(**completed(LabelsOptions, {})))  # type: ignore[arg-type]  # as the shell
    assert {label.annotator for label in content.labels.labels} == {"Mia", "Noah"}
    compiled = completed(CompileJudgeOptions, {})
    settings, *_ = planned(CompileJudgeOptions(**compiled), Silent())  # type: ignore[arg-type]  # as the shell
    assert settings.source["judges"] == ["Athena"]
    typed = completed(LabelsOptions, {"annotators": ("Athena", "Mia")})
    assert "judges" not in typed  # what is typed goes first
    assert completed(AgreementOptions, {"file": "long.csv"})["judges"] == {"Athena": ""}


def test_judge_takes_the_version_that_was_not_promoted_only_where_the_family_has_no_champion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judgec.toml").write_text('name = "faith"\ntask = "grade"\n')
    (tmp_path / "new.csv").write_text("query,answer,reference\na,b,c\n")
    assert completed(JudgeFileOptions, {"file": "new.csv"})["judge"] == "faith"  # nothing is compiled yet
    (tmp_path / "programs" / "faith" / "0001").mkdir(parents=True)
    capsys.readouterr()
    assert completed(JudgeFileOptions, {"file": "new.csv"})["judge"] == "faith@latest"
    assert "judgec.toml: judge faith@latest, since no version of it was promoted" in capsys.readouterr().err
    assert completed(AuditOptions, {"labels": "new.csv"})["judge"] == "faith"  # other commands need it to be named
    assert completed(JudgeFileOptions, {"file": "new.csv", "judge": "other"})["judge"] == "other"
    (tmp_path / "programs" / "faith" / "aliases.json").write_text('{"champion": 1, "challenger": 2}')
    assert completed(JudgeFileOptions, {"file": "new.csv"})["judge"] == "faith"


def test_init_writes_down_the_roles_that_map_names(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Which pump?"}, {"role": "agent", "content": "The P7."}]
    rows = [{"messages": turns, "grade": 1 + n % 3, "item_id": n} for n in range(6)]
    (tmp_path / "chats.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = judgec_api.init(tmp_path / "chats.jsonl", columns={"role:agent": "assistant"}, replace=True)
    assert found.project.columns == {"role:agent": "assistant"}
    assert "[roles]" in write_project(found.project, {})


def test_rank_takes_the_columns_of_judgec_toml_that_its_games_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judgec.toml").write_text('[columns]\ncomparison = "query_id"\nFrage = "query"\n')
    (tmp_path / "votes.csv").write_text("comparison,model_a,model_b,winner\nc1,x,y,a\n")
    assert completed(RankOptions, {"games": "votes.csv"})["columns"] == {"comparison": "query_id"}
    typed = completed(RankOptions, {"games": "votes.csv", "columns": {"prompt": "query_id"}})
    assert typed["columns"] == {"prompt": "query_id"}


@pytest.mark.full
def test_workbook_becomes_a_judge_and_judged_items_without_a_flag(tmp_path: Path) -> None:
    rows = wide(30)
    write_xlsx(
        tmp_path / "Bewertung.xlsx", {"Info": [["a", "b"], ["c", "d"]], "L": table(rows, [*INPUTS, *RATERS.values()])}
    )
    write_ods(tmp_path / "neu.ods", {"L": table(rows[:9], INPUTS)})
    mapping = [part for ours, theirs in NAMES.items() for part in ("--map", f"{theirs}={ours}")]
    said = ("init", "Bewertung.xlsx#L", *mapping, "--annotators", ",".join(RATERS.values()), "--best", "5", "--yes")
    assert "Antwort des Bots" in judgec(tmp_path, *said).stdout
    compiled = judgec(tmp_path, "compile-judge", "--json")
    report = json.loads(compiled.stdout)
    assert compiled.stderr.startswith("judgec.toml: labels Bewertung.xlsx#L; name Bewertung; task grade; ")
    assert (report["program"], len(report["folds"])) == ("Bewertung", 5)  # few queries: each is tested once
    assert report["test"]["compiled"]["n"] > 60
    text = (tmp_path / "judgec.toml").read_text(encoding="utf-8")
    assert judgec(tmp_path, "labels").stderr.endswith("Next: judgec compile-judge\n")
    judged = judgec(tmp_path, "judge", "neu.ods")
    assert "columns Frage=query" in judged.stderr
    assert len((tmp_path / "neu.judged.jsonl").read_text(encoding="utf-8").splitlines()) == 9
    if not report["promoted"]:  # the only version is used
        assert "judge Bewertung@latest" in judged.stderr
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    assert "judgec.toml is not used: other.csv" in judgec(tmp_path, "labels", "other.csv", code=2).stderr
    maps = ["--map", "Musterantwort=query", "--map", "Frage=reference"]
    typed = judgec(tmp_path, "labels", *maps, "--accept-at", "3", "--json")
    assert json.loads(typed.stdout)["scale"]["accept_at"] == 3
    assert "columns Antwort des Bots=answer;" in typed.stderr
    judgec(tmp_path, *said, code=2)
    assert (tmp_path / "judgec.toml").read_text(encoding="utf-8") == text


def test_agreement_takes_raters_and_threshold_of_its_file_from_judgec_toml(tmp_path: Path) -> None:
    rows = [{**row, "gpt": row.get("Experte A", 3)} for row in wide(30)]
    columns = [*INPUTS, *RATERS.values(), "gpt"]
    with (tmp_path / "rated.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(table(rows, columns))
    mapped = "".join(f"'{theirs}' = '{ours}'\n" for ours, theirs in NAMES.items())
    raters = json.dumps(list(RATERS.values()))
    says = (
        f"task = 'grade'\nannotators = {raters}\n[columns]\n{mapped}[scale]\ngrades = [1, 2, 3, 4, 5]\naccept_at = 3\n"
    )
    asked, one = ("agreement", "rated.csv", "--judges", "gpt", "--json"), ("--annotators", "Experte A")
    mapping = [part for ours, theirs in NAMES.items() for part in ("--map", f"{theirs}={ours}")]
    alone = json.loads(judgec(tmp_path, *asked, *one, *mapping, "--best", "5").stdout)["judges"]["gpt"]
    (tmp_path / "judgec.toml").write_text(says, encoding="utf-8")
    done = judgec(tmp_path, *asked)
    line = done.stderr.splitlines()[0]
    assert line.startswith("judgec.toml: annotators Experte A, Experte B, Experte C; ")
    assert line.endswith("accepted from 3")
    typed = ("--accept-at", "3", "--annotators", ",".join(RATERS.values()))
    report = json.loads(done.stdout)
    assert report == json.loads(judgec_here(tmp_path, *asked, *typed).stdout)  # the same as by hand
    assert "alt_test" in report["judges"]["gpt"]
    assert "alt_test" not in alone
    typed_one = json.loads(judgec_here(tmp_path, *asked, *one).stdout)["judges"]["gpt"]
    assert "alt_test" not in typed_one  # an expert who is named is meant, not those of the file beside
    assert typed_one["n"] == alone["n"]
    assert typed_one["exact"] == alone["exact"]
    said = judgec_here(tmp_path, *asked, "--accept-at", "5").stderr
    assert "accept_at" not in said.splitlines()[0]  # what is typed goes before


@pytest.mark.parametrize("line", ['api_base = "{url}"', 'lm = "openai/{url}"'])
def test_judgec_toml_of_a_stranger_sends_no_key_anywhere(tmp_path: Path, line: str) -> None:
    (tmp_path / "l.csv").write_text("query,answer,grade\n" + "".join(f"q{i},a{i},{i % 5 + 1}\n" for i in range(40)))
    with FakeOpenAI("good") as server:
        url = server.base_url
        (tmp_path / "judgec.toml").write_text('labels = "l.csv"\ntask = "grade"\n' + line.format(url=url) + "\n")
        done = judgec(tmp_path, "compile-judge", "--lm", "openai/fake", code=2, OPENAI_API_KEY=CANARY)
        assert server.calls == 0
    assert "judgec.toml:3: " in done.stderr
    assert CANARY not in done.stderr
    assert not (tmp_path / "programs").exists()


@pytest.mark.full
def test_compile_that_is_interrupted_says_what_is_kept_and_goes_on_without_asking_again(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(
        "query,answer,grade\n" + "".join(f"q{i // 2},answer {i} of {i % 5 + 1},{i % 5 + 1}\n" for i in range(160))
    )
    arguments = [sys.executable, str(ROOT / "cli.py"), "compile-judge", "l.csv", "--lm", "openai/fake"]
    arguments += ["--optimizer", "labeled", "--json", "--api-base"]
    environ = os.environ | {"OPENAI_API_KEY": CANARY}

    def interrupting(call: Call) -> Outcome:
        if call.number == 40:
            running.send_signal(signal.SIGINT)
        return policies.good(call)

    with FakeOpenAI(interrupting, latency=0.05) as server:
        command = [*arguments, server.base_url]
        running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environ)
        _, said = running.communicate(timeout=280)
        paid = server.answered
        assert running.returncode == 130, said
        assert ".judgec/journal.db" in said
        assert "the same command goes on" in said
        assert "Traceback" not in said
        assert not (tmp_path / "programs").exists()
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, env=environ, timeout=280, check=False
        )
        assert done.returncode == 0, done.stderr
        assert server.paid_twice == 0
        assert json.loads(done.stdout)["lm_calls"] == server.answered - paid


def test_grades_that_are_typed_are_accepted_from_four_for_every_verb_as_those_that_are_seen(tmp_path: Path) -> None:
    lines = ["Frage;Antwort;Note Eva;Note KI", *(f"F{n};A{n};{1 + n % 5};{1 + (n + n % 2) % 5}" for n in range(40))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    said = ("--map", "Frage=query", "--map", "Antwort=answer", "--annotators", "Note Eva", "--judges", "Note KI")
    judgec_here(tmp_path, "init", "t.csv", *said, "--grades", "1..5", "--yes")
    measured = json.loads(judgec_here(tmp_path, "agreement", "t.csv", "--json").stdout)["judges"]["Note KI"]
    assert measured["accept_agreement"]["value"] == 0.8  # of ten answers two are accepted by one of the two alone
