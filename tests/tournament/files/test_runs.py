from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.tournament.files.runs import read_qrels, read_run


def test_read_run_orders_by_score_then_rank_and_takes_any_tag(tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    run.write_text("q1 Q0 low 1 1.5 my agent+v2\nq1 Q0 second 3 7 my agent+v2\nq1 Q0 first 2 7.0 my agent+v2\n")
    assert read_run(str(run)) == {("q1", "my agent+v2"): ("first", "second", "low")}


def test_read_run_faults_are_collected_with_their_lines(tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    run.write_text("q1 Q0 d 1 1.5 x\n\nq1 Q0 d 2 1.0 x\nq1 Q0 e\nq1 Q0 f 3 high x\nq1 Q0 g 4 .5\n")
    with pytest.raises(InputError) as caught:
        read_run(str(run))
    assert [fault.split(": ")[0].rsplit(":", 1)[1] for fault in caught.value.faults] == ["3", "4", "5", "6"]


def test_read_qrels_of_trec_and_of_a_table_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("q1 0 d1 2\nq1 0 d2 0\n")
    (tmp_path / "q.tsv").write_text("qid\tdocid\trelevance\nq1\td1\t2\nq1\td2\t0\nq1\td3\t\n")
    expected = {("q1", "d1"): 2, ("q1", "d2"): 0}
    assert read_qrels(str(tmp_path / "q.txt")) == expected
    assert read_qrels(str(tmp_path / "q.tsv")) == expected


def test_read_qrels_table_is_renamed_as_the_other_files_are(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("frage,dok,note\nq1,d1,2\n")
    rename = {"frage": "query_id", "dok": "doc_id", "note": "grade", "antwort": "answer"}
    assert read_qrels(str(tmp_path / "q.csv"), rename) == {("q1", "d1"): 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 0 d1 2\nq1 0 d1 1\n", "txt:2: document d1 of query q1 has a second grade 1"),
        ("q1 0 d1 good\n", "txt:1: grade 'good'"),
        ("q1 d1 2\n", "txt:1: 3 columns"),
    ],
)
def test_read_qrels_broken_line_is_an_error_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "q.txt").write_text(text)
    with pytest.raises(InputError, match=said):
        read_qrels(str(tmp_path / "q.txt"))
