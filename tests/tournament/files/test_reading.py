import json
import re
from pathlib import Path

import pytest

from judgec.errors import InputError, UserError
from judgec.tournament.files.entries import Entries
from judgec.tournament.files.preferences import read_preferences
from judgec.tournament.files.reading import Sources, read_entries, read_manifest

DATA = Path(__file__).parents[4] / "shared" / "data" / "ragelo_example"


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def answering(folder: Path, rows: list[dict[str, object]], documents: str | None = None) -> Sources:
    answers = write(folder, "a.jsonl", "\n".join(map(json.dumps, rows)))
    return Sources(answers=((answers, ""),), documents=documents)


def two_agents(folder: Path, extra: str = "") -> Sources:
    queries = write(folder, "queries.csv", "qid,query\nq1,Which one?\nq2,How many?\n")
    answers = write(folder, "answers.csv", f'qid,agent,answer\nq1,new+v2,"red, of course"\nq1,old/é,blue\n{extra}')
    return Sources(queries=queries, answers=((answers, ""),))


def test_ragelo_files_are_read_as_they_are() -> None:
    if not DATA.is_dir():
        pytest.skip("../shared/data/ragelo_example is not there; RAGElo's own files are not tested")
    files = {name: str(DATA / f"{name}.csv") for name in ("queries", "answers", "documents")}
    entries = read_entries(
        Sources(queries=files["queries"], answers=((files["answers"], ""),), documents=files["documents"])
    )
    assert entries.agents == tuple(f"agent_{i}" for i in range(6))
    assert (len(entries.queries), len(entries.answers), len(entries.retrieved)) == (10, 60, 60)
    assert len(entries.ranking("q_1", "agent_2")) == 5
    assert not entries.missing


def test_documents_without_agents_belong_to_the_query_and_make_no_ranking(tmp_path: Path) -> None:
    sources = two_agents(tmp_path)
    documents = write(tmp_path, "d.csv", "qid,did,document\nq1,0,red is right\nq1,1,blue is not\n")
    entries = read_entries(Sources(queries=sources.queries, answers=sources.answers, documents=documents))
    assert not entries.retrieved
    assert entries.item("q1", "new+v2").texts("contexts") == ("red is right", "blue is not")


def test_nothing_retrieved_is_a_row_without_passages_of_an_agent_that_names_some_elsewhere(tmp_path: Path) -> None:
    base: dict[str, object] = {"query": "?", "answer": "a"}
    rows: list[dict[str, object]] = [
        *({**base, "query_id": f"q{n}", "agent": "mute"} for n in range(5)),
        {**base, "query_id": "q0", "agent": "rag", "contexts": [{"id": "d", "text": "a text"}]},
        {**base, "query_id": "q1", "agent": "rag", "contexts": []},
        {**base, "query_id": "q2", "agent": "rag", "contexts": None},
        {**base, "query_id": "q3", "agent": "rag", "contexts": ""},
        {**base, "query_id": "q0", "agent": "ids", "passage_ids": ["d"]},
        {**base, "query_id": "q1", "agent": "ids", "passage_ids": []},
        {**base, "query_id": "q2", "agent": "ids"},
    ]
    entries = read_entries(answering(tmp_path, rows))
    nothing = {("rag", f"q{n}") for n in (1, 2, 3)} | {("ids", "q1"), ("ids", "q2")}
    assert {(agent, query) for (query, agent), ids in entries.retrieved.items() if not ids} == nothing
    assert ("q4", "rag") not in entries.retrieved  # not answered
    assert not any(agent == "mute" for _, agent in entries.retrieved)


def test_names_with_any_characters_and_missing_answers_are_kept_and_counted(tmp_path: Path) -> None:
    entries = read_entries(two_agents(tmp_path, "q2,old/é,\n"))
    assert entries.agents == ("new+v2", "old/é")
    assert entries.missing == {"new+v2": 1}
    assert entries.answered == {"q1": ("new+v2", "old/é"), "q2": ("old/é",)}
    assert entries.answers["q2", "old/é"] == ""
    assert any(note.startswith("1 answer is empty") for note in entries.notes)


def test_a_row_twice_counts_once_and_a_second_answer_is_an_error_with_both_lines(tmp_path: Path) -> None:
    entries = read_entries(two_agents(tmp_path, "q1,old/é,blue\n"))
    assert len(entries.answers) == 2
    with pytest.raises(InputError, match=r"answers.csv:4: .*'old/é'.*'q1'.*csv:3"):
        read_entries(two_agents(tmp_path, "q1,old/é,green\n"))


def test_unknown_queries_are_errors_with_their_lines_all_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_entries(two_agents(tmp_path, "q7,old/é,x\nq8,old/é,y\n"))
    assert [re.findall(r":(\d): unknown query_id '(q\d)'", fault) for fault in caught.value.faults] == [
        [("4", "q7")],
        [("5", "q8")],
    ]


@pytest.mark.parametrize(
    ("cells", "said"), [([("1", "a"), ("2", "b")], "no two agents"), ([("1", "solo")], r"one agent only \(solo\)")]
)
def test_agents_that_cannot_meet_are_refused(tmp_path: Path, cells: list[tuple[str, str]], said: str) -> None:
    rows: list[dict[str, object]] = [{"query_id": q, "query": "?", "agent": a, "answer": "x"} for q, a in cells]
    with pytest.raises(InputError, match=said):
        read_entries(answering(tmp_path, rows))
    with pytest.raises(UserError, match="no answers"):
        read_entries(Sources())


def test_jsonl_answers_carry_queries_references_and_ranked_contexts(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"query_id": 1, "query": "?", "agent": agent, "answer": agent, "reference": ["x", "y"], "contexts": contexts}
        for agent, contexts in (("a", ["one", "two"]), ("b", ["two", "three", "two"]))
    ]
    entries = read_entries(answering(tmp_path, rows))
    assert entries.item("1", "b").texts("contexts") == ("two", "three", "two")
    inputs = {"query": "?", "answer": "a", "contexts": ("one", "two"), "reference": "x | y"}
    assert entries.item("1", "a").inputs == inputs
    assert {entries.documents[one] for one in entries.pool("1", "a", "b")} == {"one", "two", "three"}
    assert entries.pool("1", "a", "b") == entries.pool("1", "b", "a")


@pytest.mark.parametrize("reused", [False, True])
def test_answers_that_name_their_passages_rest_on_the_documents_of_these_ids(tmp_path: Path, *, reused: bool) -> None:
    rows: list[dict[str, object]] = [
        {"query_id": query, "query": f"{query}?", "agent": agent, "answer": f"{agent} [2]", "passage_ids": ids}
        for query in ("q1", "q2")
        for agent, ids in (("a", ["d1", "d2"]), ("b", "d3"))
    ]
    lines = "q1,d1,one\nq1,d2,two\nq1,d3,three\n" + ("q2,d1,uno\nq2,d2,dos\nq2,d3,tres\n" if reused else "")
    documents = write(tmp_path, "d.csv", "query_id,doc_id,document\n" + lines)
    entries = read_entries(answering(tmp_path, rows, documents))
    assert entries.item("q1", "a").texts("contexts") == ("one", "two")
    assert entries.item("q2", "a").texts("contexts") == (("uno", "dos") if reused else ("one", "two"))
    assert entries.documents[entries.cited("q2", "a")["2"][0]] == ("dos" if reused else "two")
    assert entries.item("q1", "b").texts("contexts") == ("three",)


def test_documents_that_no_answer_rests_on_are_refused(tmp_path: Path) -> None:
    sources = two_agents(tmp_path)
    documents = write(tmp_path, "d.csv", "doc_id,document\n0,red is right\n1,blue is not\n")
    with pytest.raises(InputError, match=r"d\.csv: .* 2 documents .* passage_ids"):
        read_entries(Sources(queries=sources.queries, answers=sources.answers, documents=documents))


def test_manifest_names_files_beside_it_and_agents_of_files(tmp_path: Path) -> None:
    write(tmp_path, "queries.csv", "query_id,question\nq1,Which?\n")
    for agent in "ab":
        write(tmp_path, f"{agent}.csv", f"query_id,answer\nq1,{agent}\n")
    write(tmp_path, "a.run", "q1 Q0 d2 1 2 first agent\nq1 Q0 d1 2 1 first agent\nq9 Q0 d1 2 1 first agent\n")
    write(tmp_path, "docs.jsonl", '{"doc_id":"d1","document":"one"}\n{"doc_id":"d2","document":"two"}\n')
    manifest = write(
        tmp_path,
        "t.yaml",
        "queries: queries.csv\nanswers: {first agent: a.csv, second: b.csv}\ndocuments: docs.jsonl\nruns: [a.run]\n"
        "map: {question: query}\n",
    )
    entries = read_entries(read_manifest(manifest))
    assert entries.queries == {"q1": "Which?"}
    assert entries.item("q1", "first agent").texts("contexts") == ("two", "one")
    assert any(note.startswith(("1 query", f"{tmp_path}/a.run: 1 query")) for note in entries.notes)


@pytest.mark.parametrize(
    ("text", "said"), [("anwsers: a.csv\n", "anwsers: .*valid keys are queries"), ("a: [\n", "not YAML")]
)
def test_manifest_with_an_unknown_key_or_no_yaml_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_manifest(write(tmp_path, "t.yaml", text))


def test_rename_of_a_column_that_no_file_has_is_refused(tmp_path: Path) -> None:
    sources = two_agents(tmp_path)
    with pytest.raises(InputError, match="'frage'"):
        read_entries(Sources(sources.queries, sources.answers, rename={"frage": "query"}))


def test_rename_may_name_a_column_of_the_qrels_or_of_the_experts_preferences(tmp_path: Path) -> None:
    sources = two_agents(tmp_path)
    qrels = write(tmp_path, "qrels.csv", "query_id,doc_id,note\nq1,d1,2\n")
    experts = write(tmp_path, "experts.csv", "query_id,first,agent_b,urteil\nq1,new+v2,old/é,tie\n")
    rename = {"note": "grade", "first": "agent_a", "urteil": "preference"}
    found = read_entries(Sources(sources.queries, sources.answers, qrels=qrels, rename=rename), [experts])
    assert found.agents == ("new+v2", "old/é")
    games = read_preferences(experts, rename)
    assert (games.agents, games.score.tolist()) == (("new+v2", "old/é"), [0.5])
    with pytest.raises(InputError, match="'first'"):
        read_entries(Sources(sources.queries, sources.answers, qrels=qrels, rename=rename))


def test_document_ids_used_for_different_texts_are_told_apart_by_query(tmp_path: Path) -> None:
    sources = two_agents(tmp_path)
    documents = write(tmp_path, "d.csv", "qid,did,document,agent\nq1,0,one,new+v2\nq2,0,two,new+v2\n")
    entries: Entries = read_entries(Sources(sources.queries, sources.answers, documents))
    assert [entries.documents[one] for one in entries.ranking("q2", "new+v2")] == ["two"]
    assert [entries.documents[one] for one in entries.ranking("q1", "new+v2")] == ["one"]


def test_a_question_without_an_id_is_its_own_or_that_of_the_queries_file(tmp_path: Path) -> None:
    sheet = write(tmp_path, "sheet.csv", "query,agent,answer\nWhich one?,v1,red\nWhich one?,v2,blue\n")
    assert set(read_entries(Sources(answers=((sheet, ""),))).answers) == {("Which one?", "v1"), ("Which one?", "v2")}
    queries = write(tmp_path, "queries.csv", "query_id,query\nq1,Which one?\n")
    named = read_entries(Sources(queries=queries, answers=((sheet, ""),)))
    assert set(named.answers) == {("q1", "v1"), ("q1", "v2")}


def test_a_table_in_the_place_of_a_tournament_file_is_refused_with_the_option(tmp_path: Path) -> None:
    sheet = write(tmp_path, "sheet.csv", "query,agent,answer\nWhich one?,v1,red\n")
    with pytest.raises(InputError, match="Give it as --answers"):
        read_manifest(sheet)
