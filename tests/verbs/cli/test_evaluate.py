"""``judgec evaluate`` as a user runs it: compile on a few labels, then a tournament, each a real process."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import judgec as judgec_api
from judgec.labels.rows.items import digest
from judgec.raters import programs
from judgec.records.game import Game, Games
from judgec.table.seal import seal
from judgec.tournament.files.entries import Entries
from judgec.tournament.files.preferences import learned_queries
from judgec.tournament.leaderboard import make_leaderboard
from judgec.tournament.play import Played
from judgec.tournament.pooling import given
from judgec.tournament.report.evaluation import Evaluation
from judgec.verbs.cli.app import main
from judgec.verbs.evaluation_notes import notes_of
from judgec.verbs.options.evaluate import EvaluateOptions
from tests.prompts import unquote
from tests.records.test_card import make_card
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome
from tests.service.replies import answer as reply
from tests.verbs.cli.process import judgec

COLOURS = ("red", "green", "blue", "white", "black")


def run(home: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    return judgec(home, *arguments, "--home", home, code=code, COLUMNS="140")


def answer(query: int, quality: int) -> str:
    """As many of the four right words as the quality says; all answers are equally long."""
    return " ".join(COLOURS[(query + i) % 5] if i < quality else f"something{i}" for i in range(4))


def reference(query: int) -> str:
    return " ".join(COLOURS[(query + i) % 5] for i in range(4))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge that was shown to be better, a judge that was not, and a tournament of three agents."""
    home = tmp_path_factory.mktemp("league é")
    rows = [
        {"item_id": f"q{q}/{k}", "query_id": f"q{q}", "query": f"Which colours has flag {q}?", "grade": quality + 1}
        | {"answer": answer(q, quality), "reference": reference(q)}
        for q in range(60)
        for k, quality in enumerate((q % 5, (q + 2) % 5, 4 - q % 3))
    ]
    assert judgec_api.compile_judge(rows, name="flags", home=home, progress=False).promoted
    queries = "\n".join(f"t{q},Which colours has flag {q}?,{reference(q)}" for q in range(8))
    (home / "queries.csv").write_text(f"qid,query,reference\n{queries}\n", encoding="utf-8")
    qualities = {"new+v2": (4, 3), "old": (2, 3), "bad": (0, 0)}
    answers = [f"t{q},{agent},{answer(q, worth[q % 2])}" for q in range(8) for agent, worth in qualities.items()]
    (home / "answers.csv").write_text("\n".join(["qid,agent,answer", *answers[:-1]]) + "\n", encoding="utf-8")
    return home


GIVEN = ("--queries", "queries.csv", "--answers", "answers.csv", "--judge")


THEIRS = ("--map", "verdict=preference")


def test_evaluate_json_is_one_object_and_the_folder_holds_the_report(home: Path) -> None:
    done = run(home, "evaluate", *GIVEN, "flags", "--out", "out", "--json")
    report = json.loads(done.stdout)
    assert done.stderr == ""
    assert list(report["bradley_terry"]) == ["new+v2", "old", "bad"]
    assert (report["games"], report["unscored"], report["skipped"]) == (22, 0, 2)
    assert report["missing_answers"] == {"bad": 1}
    assert report["judge"]["program"] == "flags"
    assert report["judge"]["tau_b"]["value"] > 0.8
    assert report["mlflow_run_id"]
    assert programs.load(home, "flags").card.tie_band is not None
    files = {path.name for path in (home / "out").iterdir()}
    tables = {"leaderboard.csv", "win_percent.csv", "games.csv", "answers.csv", "aspect_tests.csv"}
    assert files == {"report.html", "report.json", "items.jsonl", *tables}


def test_judge_without_labels_plays_is_marked_unproven_everywhere_and_compiles_on_the_games_it_names(
    tmp_path: Path,
) -> None:
    """A model that prefers the longer answer; experts label what --sample wrote."""

    def longer(call: Call) -> Outcome:
        given = {name: " ".join(unquote(value)) for name, value in call.prompt.inputs.items()}
        a, b = (len(given.get(f"answer_{side}", "")) for side in "ab")
        return reply(call, {"preference": "a" if a > b else "b" if b > a else "tie"})

    rows = [
        {"query_id": f"q{q}", "query": f"What is {q}?", "agent": agent, "answer": f"It is {q}" + " really" * n}
        for q in range(20)
        for agent, n in (("brief", q % 2), ("long", 3))
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    play = ("evaluate", "--answers", "answers.jsonl", "--judge", "zero-shot", "--out", "out", "--sample", "20")
    with FakeOpenAI(longer) as server:
        ask = ("--lm", "openai/fake", "--api-base", server.base_url)
        done = judgec(tmp_path, *play, *ask, "--gate", "long>=brief-30", OPENAI_API_KEY="k")
        *_, unproven, gate = done.stderr.strip().splitlines()
        assert "--sample 50" in unproven
        assert gate.startswith("GATE PASSED")
        assert all("UNPROVEN JUDGE" in one for one in (unproven, gate, (tmp_path / "out" / "report.html").read_text()))
        report = json.loads((tmp_path / "out" / "report.json").read_text())
        assert list(report["bradley_terry"]) == ["long", "brief"]
        assert report["judge"]["unproven"].startswith("no label was given")
        assert not (tmp_path / "programs").exists()
        games = pd.read_csv(tmp_path / "out" / "sample.csv")
        first = (games["answer_a"].str.len() > games["answer_b"].str.len()) != (games.index % 7 == 0)
        games.assign(preference=first.map({True: "a", False: "b"}), annotator="ann").to_csv(
            tmp_path / "labels.csv", index=False
        )
        compiling = ("compile-judge", "labels.csv", "--name", "mine", *ask, "--folds", "1", "--json")
        compiled = json.loads(judgec(tmp_path, *compiling, OPENAI_API_KEY="k").stdout)
    assert (compiled["program"], compiled["task"]) == ("mine", "preference")


def test_jury_of_two_models_without_labels_is_unproven_and_keeps_every_vote(tmp_path: Path) -> None:
    """One model prefers the longer answer, the other says tie; of two votes that differ the likelier word stands."""

    def by_model(call: Call) -> Outcome:
        given = {name: " ".join(unquote(value)) for name, value in call.prompt.inputs.items()}
        a, b = (len(given.get(f"answer_{side}", "")) for side in "ab")
        word = "tie" if "second" in str(call.body.get("model")) else "a" if a > b else "b"
        return reply(call, {"preference": word})

    rows = [
        {"query_id": f"q{q}", "query": f"What is {q}?", "agent": agent, "answer": f"It is {q}" + " really" * n}
        for q in range(6)
        for agent, n in (("brief", 0), ("long", 3))
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    play = ("evaluate", "--answers", "answers.jsonl", "--judge", "zero-shot", "--out", "out")
    with FakeOpenAI(by_model) as server:
        ask = ("--lm", "openai/first,openai/second", "--api-base", server.base_url)
        done = judgec(tmp_path, *play, *ask, OPENAI_API_KEY="k")
    members = ["zero-shot (openai/first)", "zero-shot (openai/second)"]
    assert f"({', '.join(members)})" in done.stderr
    for game in pd.read_csv(tmp_path / "out" / "games.csv").to_dict("records"):
        longer = "a" if game["agent_a"] == "long" else "b"
        assert [game[f"vote.{member}"] for member in members] == [longer, "tie"]
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["jury"]["members"] == members
    assert report["jury"]["pairs"][0]["exact"] == 0.0
    assert report["judge"]["unproven"].startswith("no label measured this jury")


def test_jury_refuses_a_model_that_none_of_its_judges_would_ask(home: Path) -> None:
    done = run(home, "evaluate", *GIVEN, "flags,flags@latest", "--lm", "openai/other", "--out", "none", code=2)
    assert "--lm openai/other: the judges of a jury ask the models that they were measured with" in done.stderr


@pytest.mark.full
def test_gate_exits_1_with_its_reason_after_writing_everything(home: Path) -> None:
    failing = ("evaluate", *GIVEN, "flags", "--out", "gated", "--gate", "bad>=new+v2-30")
    short, full = (run(home, *failing, *more, code=1) for more in ((), ("-v",)))
    assert "GATE FAILED: --gate bad>=new+v2-30: worse: " in short.stderr
    assert "new+v2 is rated best" in short.stderr
    assert (home / "gated" / "report.html").is_file()
    for table in ("wins % of row over", "Aspect by aspect", "shuffles"):
        assert table not in short.stdout
        assert table in full.stdout


def test_gate_says_its_verdict_in_capitals_and_only_passed_exits_0(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three releases of one answer file: the same answers, all right ones, all wrong ones; 25 queries."""
    rows = [f"t{q},Which colours has flag {q}?,{reference(q)}" for q in range(25)]
    (home / "gate_queries.csv").write_text("\n".join(["qid,query,reference", *rows]) + "\n", encoding="utf-8")
    worth = {"main": 3, "same": 3, "right": 4, "wrong": 0}
    answers = [f"t{q},{agent},{answer(q, quality)}" for q in range(25) for agent, quality in worth.items()]
    (home / "gate_answers.csv").write_text("\n".join(["qid,agent,answer", *answers]) + "\n", encoding="utf-8")
    monkeypatch.chdir(home)

    def gated(demand: str) -> tuple[int, str, dict[str, object], list[str]]:
        given = ["--queries", "gate_queries.csv", "--answers", "gate_answers.csv", "--judge", "flags", "--json"]
        arguments = ["judgec", "evaluate", *given, "--out", "gated", "--gate", demand, "--home", str(home)]
        monkeypatch.setattr(sys, "argv", arguments)
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        shown = capsys.readouterr()
        report = json.loads(shown.out)
        assert report == json.loads((home / "gated" / "report.json").read_text(encoding="utf-8"))
        return code, shown.err, report["gate"], report["notes"]

    code, said, gate, notes = gated("same>=main-30")
    assert (code, gate["verdict"]) == (1, "not shown")
    assert "GATE NOT SHOWN: --gate same>=main-30: too few queries: about " in said
    assert not any("over 100" in note for note in notes)
    assert "GATE NOT SHOWN" in (home / "gated" / "report.html").read_text(encoding="utf-8")
    code, said, gate, notes = gated("same>=main-400")
    assert (code, gate["verdict"]) == (0, "passed")
    assert "GATE PASSED: --gate same>=main-400: " in said
    assert any("over 100" in note for note in notes)
    code, _, gate, _ = gated("wrong>=main-30")
    assert (code, gate["verdict"]) == (1, "failed")
    assert gated("right>=main-30")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*GIVEN, "flags", "--out", "queries.csv"), "--out queries.csv: a file"),
        ((*GIVEN, "flags", "--adaptive", "--sample", "3"), "not with --adaptive"),
        ((*GIVEN, "nobody"), "there is no judge 'nobody'"),
        ((*GIVEN, "flags", "--citation-form", "{n}"), "--citation-form '{n}'; valid is one of {n}"),
        ((*GIVEN, "flags", "--votes", "learned.csv"), "were in the judge's train or dev labels (t1)"),
        ((*GIVEN, "flags", "--votes", "theirs.csv", *THEIRS), "were in the judge's train or dev labels (t1)"),
    ],
)
def test_bad_input_is_refused_before_anything_is_judged(
    home: Path,
    arguments: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (home / "learned.csv").write_text("query_id,agent_a,agent_b,preference\nt1,old,bad,a\n")
    (home / "theirs.csv").write_text("query_id,agent_a,agent_b,verdict\nt1,old,bad,a\n")
    monkeypatch.chdir(home)
    monkeypatch.setattr(sys, "argv", ["judgec", "evaluate", "--out", "refused", *arguments, "--home", str(home)])
    # As if the judge had learned from the tournament's second query.
    monkeypatch.setattr("judgec.verbs.tournament_judges.learned_queries", lambda *_: frozenset({"t1"}))
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert said in capsys.readouterr().err
    assert not (home / "refused").exists()


def test_qrels_of_documents_measure_chunks_by_document_and_refuse_ids_of_another_form(home: Path) -> None:
    passages = {"new": [["7#1", "7#2", "51#3"], ["51#1", "51#2"]], "old": [["8", "7#1"], ["9#1", "8", "51#2"]]}
    rows = [
        {"query_id": f"t{q}", "agent": agent, "answer": answer(q, 2), "passage_ids": ids}
        | {"contexts": [f"text of {one}" for one in ids]}
        for agent, rankings in passages.items()
        for q, ids in enumerate(rankings)
    ]
    (home / "chunked.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    graded = [("t0", "51", 1), ("t0", "7", 0), ("t0", "8", 0), ("t1", "51", 1), ("t1", "9", 0)]
    for name, before in (("plain", ""), ("prefixed", "cran-")):
        (home / f"{name}.qrels").write_text("".join(f"{q} 0 {before}{d} {g}\n" for q, d, g in graded))
    given = ("--queries", "queries.csv", "--answers", "chunked.jsonl", "--judge", "flags", "--unproven")
    done = run(home, "evaluate", *given, "--qrels", "plain.qrels", "--out", "chunked", "--json")
    report = json.loads(done.stdout)
    # new: documents 7, 51 and then 51; old: 8, 7 and then 9, 8, 51.
    assert report["retrieval"]["new"]["MRR(rel=1)@5"]["value"] == pytest.approx((1 / 2 + 1) / 2)
    assert report["retrieval"]["old"]["MRR(rel=1)@5"]["value"] == pytest.approx((0 + 1 / 3) / 2)
    failed = run(home, "evaluate", *given, "--qrels", "prefixed.qrels", "--out", "refused", code=2)
    assert "'cran-51'" in failed.stderr
    assert "'7#1'" in failed.stderr


@pytest.mark.parametrize(
    ("threshold", "fields", "said"), [(2, ("contexts",), True), (1, ("contexts",), False), (2, (), False)]
)
def test_documents_that_no_grade_can_show_are_said_to_be_hidden(
    threshold: int, fields: tuple[str, ...], said: bool
) -> None:
    entries = Entries({"q": "?"}, {("q", "x"): "1", ("q", "y"): "2"}, retrieved={("q", "x"): ("d",)})
    game = Game("q", "x", "y", "a")
    card = make_card(task="preference", fields=("query", "answer_a", "answer_b", *fields))
    board = make_leaderboard(Games.of([game]), tournaments=1, resamples=0)
    found = Evaluation(entries, card, board, (Played(game),), relevance=given({("q", "d"): 1}))
    options = EvaluateOptions(judge="duel", threshold=threshold)
    hidden = [note for note in notes_of(options, found, qrels=False) if "graded documents are hidden" in note]
    assert bool(hidden) == said


@pytest.mark.parametrize(
    ("typed", "read"), [((), ""), (("--has-citations",), "[{n}]"), (("--citation-form", "(doc {n})"), "(doc {n})")]
)
def test_form_of_citations_is_what_the_judge_reads_by_and_what_it_leaves_is_counted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: tuple[str, ...],
    read: str,
) -> None:
    rows = [
        {"query_id": "q", "query": "?", "agent": agent, "contexts": [f"Of {agent}.", "Of both."]}
        | {"answer": f"By {agent} [2], (doc 2), {more}"}
        for agent, more in (
            ("x", "[9] and (doc 9), [source 2]"),
            ("y", "[said at\npage 2 of what\nhas no end of words]"),
        )
    ]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    typed = ("evaluate", "--answers", "answers.jsonl", "--judge", "zero-shot", "--lm", "openai/gpt-4o-mini", *typed)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    with FakeOpenAI(
        lambda call: reply(call, {one.name: one.labels[-1] for one in call.prompt.outputs if one.labels})
    ) as server:
        monkeypatch.setattr(sys, "argv", ["judgec", *typed, "--api-base", server.base_url, "--home", "."])
        with pytest.raises(SystemExit) as end:
            main()
        asked = [str(body["messages"]) for body in server.bodies if "By x" in str(body["messages"])]
    assert not end.value.code
    assert len(asked) == 2
    for prompt in asked:
        assert ("By x [P3], (doc 2), [no such document] and (doc 9), [source 2]" in prompt) is (read == "[{n}]")
        assert ("By x [2], [P3], [9] and [no such document], [source 2]" in prompt) is (read == "(doc {n})")
        assert ("By x [2], (doc 2), [9] and (doc 9), [source 2]" in prompt) is (not read)
        assert prompt.count("are its system's own") == (0 if read else 2)
        assert prompt.count("Marks such as [P1]") == (2 if read else 0)
        assert ("which is an error" in prompt) is bool(read)
    screen = " ".join("".join(capsys.readouterr()).split())
    assert ("1 citation of x of documents that it did not have" in screen) is bool(read)
    example = {"": "", "[{n}]": "1 mark of x such as [source 2]:", "(doc {n})": "3 marks of x such as [2]:"}[read]
    assert (example in screen) if read else ("of x such as" not in screen)
    assert ("of y such as [2]" in screen) is (read == "(doc {n})")
    assert ("1 mark of y such as [said at page 2 of what has no end [...]: not" in screen) is (read == "[{n}]")


def test_learned_queries_are_known_by_id_and_by_text(home: Path) -> None:
    program = programs.load(home, "flags")
    queries = {"q0": "Something else", "t0": "?", "t1": "Which colours has flag 1?"}
    split = {"q0": "train", digest("?")[:16]: "dev", digest("Which colours has flag 1?")[:16]: "test"}
    assert learned_queries(replace(program, split={"queries": split}), queries) == {"q0", "t0"}


@pytest.mark.full
def test_unproven_judge_is_refused_and_stamped_when_asked_for(home: Path) -> None:
    path = home / "programs" / "flags" / "0001" / "card.json"
    text = path.read_text()
    try:
        path.write_text(json.dumps({**json.loads(text), "promoted": False, "reason": "it was not better"}))
        assert "card.json: modified since it was written" in run(home, "evaluate", *GIVEN, "flags", code=2).stderr
        seal(path.parent)
        assert "pass --unproven" in run(home, "evaluate", *GIVEN, "flags", code=2).stderr
        done = run(home, "evaluate", *GIVEN, "flags", "--out", "unproven", "--unproven")
        assert "UNPROVEN JUDGE" in done.stderr
        assert "UNPROVEN JUDGE" in (home / "unproven" / "report.html").read_text()
    finally:
        path.write_text(text)
        seal(path.parent)
