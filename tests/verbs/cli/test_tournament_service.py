"""``judgec evaluate`` with judges that ask a language model: every call is counted by the server that answers them."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from judgec.verbs.cli.app import main
from tests.compile.small import compiled_from
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, answer
from tests.verbs.cli.process import ROOT

QUERIES, LATENCY, CONNECTIONS = 30, 0.05, 32
AGENTS = {"north+v2": 4, "south": 3, "é a>=b-30": 2}
SEVENTH = ("newcomer", 3)


def umpire(call: Call) -> Outcome:
    """Reads what an answer or a document is worth off its text, "worth 3"; the better one of two is preferred."""
    worth = {name: int(found[-1]) for name, text in call.prompt.inputs.items() if (found := _WORTH.findall(text))}
    said: dict[str, str] = {}
    for output in call.prompt.outputs:
        if output.name == "preference":
            gap = worth["answer_a"] - worth["answer_b"]
            said["preference"] = "a" if gap > 0 else "b" if gap < 0 else "tie"
        elif output.labels:
            said[output.name] = output.labels[min(worth["document"], len(output.labels) - 1)]
    return answer(call, said)


_WORTH = re.compile(r"worth (\d)")


def pairs(queries: int) -> list[dict[str, object]]:
    return [
        {
            "item_id": f"i{q}",
            "query_id": f"label{q}",
            "query": f"Which of the two, {q}?",
            "answer_a": f"It is worth {q % 5}.",
            "answer_b": f"It is worth {(q * 3 + 1) % 5}.",
            "contexts": ["It may be worth 1."],
            "preference": "a" if q % 5 > (q * 3 + 1) % 5 else "b" if q % 5 < (q * 3 + 1) % 5 else "tie",
        }
        for q in range(queries)
    ]


def documents(queries: int) -> list[dict[str, object]]:
    return [
        {"query_id": f"label{q}", "query": f"Which, {q}?", "document": f"It is worth {w}.", "grade": w}
        for q in range(queries)
        for w in (q % 3, (q + 1) % 3)
    ]


@dataclass(frozen=True)
class League:
    folder: Path
    server: FakeOpenAI

    def enter(self, name: str, agents: dict[str, int], queries: int = QUERIES) -> list[str]:
        """Files of a tournament in a folder of its own; the options that name them."""
        home = self.folder / name
        home.mkdir()
        rows = [{"query_id": f"t{q}", "query": f"Which one, {q}?"} for q in range(queries)]
        given = [
            {
                "query_id": f"t{q}",
                "agent": agent,
                "answer": f"{agent} says it is worth {worth - (q * 7 + len(agent)) % 3}",
            }
            for q in range(queries)
            for agent, worth in agents.items()
        ]
        # Each agent retrieves the query's own document, and one that all queries share.
        found = [
            {"query_id": f"t{q}", "agent": agent, "doc_id": doc_id, "document": text}
            for q in range(queries)
            for agent in agents
            for doc_id, text in ((f"d{q}", f"A page worth {q % 3}."), ("all", "The common page, worth 1."))
        ]
        for stem, content in (("queries", rows), ("answers", given), ("documents", found)):
            (home / f"{stem}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
        files = [f"--{stem}={home / stem}.jsonl" for stem in ("queries", "answers", "documents")]
        return [*files, "--unproven", "--api-base", self.server.base_url, "--out", str(home / "out"), "--json"]


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Iterator[League]:
    """A judge of preferences and one of relevance; both ask the model."""
    folder = tmp_path_factory.mktemp("league")
    with FakeOpenAI(umpire) as server:
        for name, rows in (("duels", pairs(40)), ("pages", documents(30))):
            compiled_from(folder, rows, lm="openai/fake", api_base=server.base_url, name=name)
        yield League(folder, server)


class Run(Protocol):
    def __call__(self, *arguments: str, code: int = 0) -> dict[str, object]: ...


@pytest.fixture
def run(league: League, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str, code: int = 0) -> dict[str, object]:
        monkeypatch.setattr(sys, "argv", ["judgec", "evaluate", *arguments, "--home", str(league.folder)])
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        assert (end.value.code or 0) == code, said.err
        report: dict[str, object] = json.loads(said.out) if said.out else {"error": said.err}
        return report

    return call


def asked(server: FakeOpenAI, since: int) -> tuple[int, int]:
    """Comparisons and documents that the server was asked about since then; a preflight is neither."""
    texts = [json.dumps(body) for body in server.bodies[since:]]
    compared = sum("## answer_a ##" in text for text in texts)
    return compared, sum("## document ##" in text for text in texts)


def test_relevance_judge_grades_once_a_query_and_document_and_a_seventh_agent_plays_only_new_games(
    league: League, run: Run
) -> None:
    both = ["--judge", "duels", "--relevance-judge", "pages", "--threshold", "1"]
    before = len(league.server.bodies)
    first = run(*both, *league.enter("three", AGENTS))
    # Three pairs in both orders a query; its own document and the shared one.
    assert asked(league.server, before) == (2 * 3 * QUERIES, 2 * QUERIES)
    assert first["games"] == 3 * QUERIES
    retrieval = first["retrieval"]
    assert isinstance(retrieval, dict)
    # Every ranking is d<q> (worth q % 3) and then "all" (worth 1): first at >= 1 is rank 1 for two queries in three.
    assert retrieval["south"]["MRR(rel=1)@5"]["value"] == pytest.approx((2 / 3) * 1 + (1 / 3) / 2)
    assert retrieval["south"]["MRR(rel=2)@5"]["value"] == pytest.approx(1 / 3)
    shown = next(text for body in league.server.bodies[before:] if "## answer_a ##" in (text := json.dumps(body)))
    assert re.search(r"\[P\d\] relevance 1: as the rules say\\n> ", shown)
    before = len(league.server.bodies)
    more = run(*both, *league.enter("four", {**AGENTS, SEVENTH[0]: SEVENTH[1]}))
    assert asked(league.server, before) == (2 * 3 * QUERIES, 0)
    assert more["games"] == 6 * QUERIES
    with (league.folder / "four" / "out" / "retrieval_pairs.csv").open(encoding="utf-8") as lines:
        assert len(lines.readlines()) == 1 + 7 * 6  # measures, pairs
    assert list(first["bradley_terry"]) == ["north+v2", "south", "é a>=b-30"]  # type: ignore[call-overload]  # JSON


def test_budget_is_of_relevance_and_games_together(league: League, run: Run) -> None:
    options = ["--judge", "duels", "--relevance-judge", "pages", "--threshold", "1"]
    needed = 2 * 4 + 2 * 3 * 4  # documents, and three pairs in both orders, of four queries; journaled ones count
    stopped = run(*options, *league.enter("capped", AGENTS, queries=4), "--budget", str(needed - 1), code=3)
    assert f"{needed - 1} calls made; {needed - 1} are allowed" in str(stopped["error"])
    whole = run(*options, *league.enter("roomy", AGENTS, queries=4), "--budget", str(needed + 2))  # two preflights
    assert whole["games"] == 3 * 4


@pytest.mark.full
def test_games_without_a_document_above_the_threshold_show_none(league: League, run: Run) -> None:
    options = ["--judge", "duels", "--relevance-judge", "pages", "--threshold", "3", "--one-order"]
    before = len(league.server.bodies)
    report = run(*options, *league.enter("strict", AGENTS, queries=4))
    compared, _ = asked(league.server, before)
    assert compared == 3 * 4
    assert report["flip_rate"] is None
    assert not any("relevance 1" in json.dumps(body) for body in league.server.bodies[before:])


def test_games_without_documents_are_asked_without_them_and_counted_apart(league: League, run: Run) -> None:
    options = ["--judge", "duels", "--relevance-judge", "pages", "--one-order"]
    before = len(league.server.bodies)
    files = league.enter("bare", {"north": 4, "south": 3}, queries=3)
    report = run(*options, *files)
    prompts = [text for body in league.server.bodies[before:] if "## answer_a ##" in (text := json.dumps(body))]
    # Of three queries' own documents (worth 0, 1, 2) and the common one (worth 1), one is very relevant.
    assert sorted("## contexts ##" in text for text in prompts) == [False, False, True]
    assert sorted("against the contexts" in " ".join(text.replace("\\n", " ").split()) for text in prompts) == [
        False,
        False,
        True,
    ]
    assert report["games_without_contexts"] == 2
    assert any(str(note).startswith("2 of 3 games were judged without documents") for note in report["notes"])  # type: ignore[attr-defined]  # JSON
    out = league.folder / "bare" / "out"
    with (out / "games.csv").open(newline="", encoding="utf-8") as lines:
        assert sorted(row["without_contexts"] for row in csv.DictReader(lines)) == ["false", "true", "true"]
    assert "2 without documents" in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.full
def test_expert_preferences_on_the_sample_that_it_wrote_correct_win_rates_and_others_are_refused(
    league: League, run: Run, tmp_path: Path
) -> None:
    options = ["--judge", "duels", *league.enter("sampled", AGENTS)]
    run(*options, "--sample", "40")
    sheet = league.folder / "sampled" / "out" / "sample.csv"
    again = run(*options, "--sample", "40", code=2)
    assert "may hold labels" in str(again["error"])
    with sheet.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 40
    assert {row["preference"] for row in rows} == {""}
    for row in rows:  # experts who always prefer "south", whatever it says, and never anybody else
        south = [side for side in ("a", "b") if row[f"agent_{side}"] == "south"]
        row["preference"] = south[0] if south else "tie"
    labelled = tmp_path / "labelled.csv"
    write(labelled, rows)
    report = run(*options, "--votes", str(labelled), "--length-control")
    rates = report["win_rates"]
    assert isinstance(rates, dict)
    assert report["expert_sample"] == {"games": 90, "labelled": 40, "random": "the first 40 games of the random order"}
    assert rates["south"]["corrected"]["value"] == pytest.approx(1.0)
    assert rates["south"]["raw"]["value"] < 0.7
    assert set(report["length_controlled"]) == set(AGENTS)  # type: ignore[call-overload]  # JSON
    assert sheet.is_file()  # a later run leaves it alone
    folder = league.folder / "sampled" / "out"
    assert "Corrected by experts" in (folder / "report.html").read_text()
    assert {"win_rates.csv", "length_controlled.csv"} <= {path.name for path in folder.iterdir()}
    write(labelled, rows[1:])
    refused = run(*options, "--votes", str(labelled), code=2)
    assert "1 of the first 39 games of the random order have no preference" in str(refused["error"])
    write(labelled, [{**row, "query_id": "label3"} for row in rows[:1]])
    assert "no such game" in str(run(*options, "--votes", str(labelled), code=2)["error"])


@pytest.mark.full
def test_model_that_never_gives_a_verdict_ends_with_3_and_no_empty_table(league: League, run: Run) -> None:
    with FakeOpenAI("refusing") as server:
        options = League(league.folder, server).enter("refused", AGENTS, queries=3)
        said = run("--judge", "duels", *options, code=3)
    assert "all 9 games are unscored" in str(said["error"])
    assert not (league.folder / "refused" / "out").exists()


def write(path: Path, rows: Sequence[dict[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize(
    "plan", [pytest.param((), marks=pytest.mark.full), pytest.param(("--adaptive",), marks=pytest.mark.soak)]
)
def test_evaluation_killed_midway_goes_on_and_pays_no_finished_call_twice(
    league: League, tmp_path: Path, plan: tuple[str, ...]
) -> None:
    with FakeOpenAI(umpire, latency=LATENCY) as server:
        options = League(tmp_path, server).enter("killed", AGENTS)
        programs = tmp_path / "home" / "programs"
        programs.parent.mkdir()
        programs.symlink_to(league.folder / "programs")
        command = ["evaluate", "--judge", "duels", "--relevance-judge", "pages", *options, *plan]
        command += ["--home", str(programs.parent)]

        def start() -> subprocess.Popen[str]:
            return subprocess.Popen(
                [sys.executable, str(ROOT / "cli.py"), *command],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "OPENAI_API_KEY": "k"},
            )

        answered = []
        for share in (0.2, 0.6):  # of the documents and games of all pairs
            process = start()
            while server.answered < share * (2 * QUERIES + 2 * 3 * QUERIES) and process.poll() is None:
                try:
                    process.wait(timeout=0.005)
                except subprocess.TimeoutExpired:
                    continue
            assert process.poll() is None, process.communicate()[1]
            process.send_signal(signal.SIGKILL)
            process.communicate()
            answered.append(server.answered)
        process = start()
        out, err = process.communicate(timeout=280)
        assert process.returncode == 0, err
        report = json.loads(out)
        if not plan:
            assert report["games"] == 3 * QUERIES
        # What was in flight when the process died may have to be asked again; what was finished never.
        assert server.paid_twice <= 2 * CONNECTIONS + 2 * 2 + 2  # and a preflight a judge and start
        compared, graded = asked(server, 0)
        assert compared + graded <= 2 * report["games"] + 2 * QUERIES + 2 * CONNECTIONS
        whole = start()
        out, err = whole.communicate(timeout=280)
        assert whole.returncode == 0, err
        assert asked(server, 0) == (compared, graded)
        assert json.loads(out)["bradley_terry"] == report["bradley_terry"]
