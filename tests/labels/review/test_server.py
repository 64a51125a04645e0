"""The server answers its own page and nobody else, and tells experts nothing that could sway them."""

import http.client
import json
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from judgec.errors import UserError
from judgec.labels.review.desk import Desk
from judgec.labels.review.server import LOOPBACK, TOKEN_HEADER, ReviewServer, serving
from judgec.labels.review.sheet import Given, open_sheet

SECRET = "the judge said 5 and cem said 2"
ROWS: Sequence[dict[str, object]] = [
    {"item_id": "i1", "query": "<script>Q1", "answer": "A1", "agent": "gpt", "judge_grade": SECRET, "rationale": SECRET}
    | {"annotator": "cem", "grade": 2},
    {"item_id": "i2", "query": "Q2", "answer": "A2", "agent": "gpt", "judge_grade": SECRET},
]


def desk(folder: Path, *rows: Mapping[str, object], people: Sequence[str] = ()) -> Desk:
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Desk(open_sheet(str(path))[0], people)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ReviewServer]:
    with serving(desk(tmp_path, *ROWS)) as running:
        yield running


Reply = tuple[int, dict[str, str], str]


def ask(server: ReviewServer, method: str, path: str, body: object = None, **headers: str | None) -> Reply:
    """A request as our page sends it; ``headers`` (``_`` for ``-``) replace its headers, None leaves one out."""
    usual: dict[str, str | None] = {"Host": f"{LOOPBACK}:{server.server_port}", TOKEN_HEADER: server.token}
    usual |= {"Content-Type": "application/json"} if body is not None else {}
    usual |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection(LOOPBACK, server.server_port, timeout=60)
    try:
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in usual.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None and "Content-Length" not in usual:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read().decode()
    finally:
        connection.close()


LABEL = {"number": 1, "annotator": "ann", "grades": {"grade": 3}, "rationale": "why"}


def test_page_comes_with_the_token_and_lets_only_its_own_script_run(server: ReviewServer) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"
    status, headers, body = ask(server, "GET", f"/?token={server.token}", X_Judgec_Token=None)
    policy = headers["Content-Security-Policy"]
    nonce = policy.split("script-src 'nonce-")[1].split("'")[0]
    assert status == 200
    assert body.count(f"<script nonce={nonce}>") == body.count("<script") == 1
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert (headers["Cache-Control"], headers["Referrer-Policy"]) == ("no-store", "no-referrer")
    assert [text for text in (server.token, "innerHTML", "http://", "https://") if text in body] == []
    assert nonce not in ask(server, "GET", f"/?token={server.token}")[1]["Content-Security-Policy"]


@pytest.mark.parametrize(
    "headers",
    [
        *({"X_Judgec_Token": token} for token in (None, "guess", "é")),
        # DNS rebinding: the name of the attacker, our address
        *({"Host": host} for host in ("evil.example", None, "127.0.0.1")),
        *({"Origin": origin} for origin in ("http://evil.example", "null", "http://127.0.0.1:1")),
        *({"Sec_Fetch_Site": site} for site in ("cross-site", "same-site")),
    ],
    ids=str,
)
def test_request_that_is_not_our_page_s_is_refused_and_changes_nothing(
    server: ReviewServer, headers: dict[str, str | None]
) -> None:
    before = server.desk.labels("ann")
    for method, path in (("GET", "/api/about"), ("GET", "/api/item?number=0"), ("POST", "/api/label")):
        status, _, said = ask(server, method, path, LABEL if method == "POST" else None, **headers)
        assert (status, "Q1" in said) == (403, False)
    assert server.desk.labels("ann") == before


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("/api/label", b"grades=1", {"Content_Type": "text/plain"}, 415),
        ("/api/label", b"grades=1", {"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ("/api/label", b"{", {}, 400),
        ("/api/label", {**LABEL, "number": "1"}, {}, 400),
        ("/api/label", {**LABEL, "extra": 1}, {}, 400),
        ("/api/label", {**LABEL, "number": 2}, {}, 400),
        ("/api/label", {**LABEL, "number": -1}, {}, 400),
        ("/api/label", {**LABEL, "grades": {"grade": 99}}, {}, 400),
        ("/api/label", {**LABEL, "annotator": " \n"}, {}, 400),
        ("/api/label", {**LABEL, "annotator": "x" * 81}, {}, 400),
        ("/api/label", b"x", {"Content_Length": "999999999"}, 400),
        ("/api/label", b"x", {"Content_Length": "-1"}, 400),
        ("/api/other", LABEL, {}, 404),
    ],
)
def test_post_that_is_no_label_is_refused_and_changes_nothing(
    server: ReviewServer, path: str, body: object, headers: dict[str, str | None], status: int
) -> None:
    assert ask(server, "POST", path, body, **headers)[0] == status
    assert server.desk.labels("ann") == {"labels": {}, "items": ["i1", "i2"], "progress": {"cem": 1}}


def test_label_is_in_the_file_before_the_reply(server: ReviewServer, tmp_path: Path) -> None:
    status, _, said = ask(server, "POST", "/api/label", LABEL, Origin=f"http://{LOOPBACK}:{server.server_port}")
    rows = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert (status, json.loads(said)) == (200, {"progress": {"ann": 1, "cem": 1}})
    assert (rows[1]["annotator"], rows[1]["grade"], rows[1]["rationale"]) == ("ann", 4, "why")
    labels = json.loads(ask(server, "GET", "/api/labels?annotator=ann")[2])["labels"]
    assert labels == {"1": {"grades": {"grade": 3}, "rationale": "why"}}


def test_label_for_another_item_than_the_one_shown_is_refused(server: ReviewServer, tmp_path: Path) -> None:
    """Somebody puts an item before the others while the page is open."""
    path = tmp_path / "items.jsonl"
    path.write_text(json.dumps({"item_id": "i0", "query": "Q0", "answer": "A0"}) + "\n" + path.read_text())
    server.desk.labels("bob")  # reads the file again: number 1 is another item now
    status, _, said = ask(server, "POST", "/api/label", {**LABEL, "item_id": "i2"})
    assert (status, "Load the page again" in said) == (400, True)
    assert ask(server, "POST", "/api/label", {**LABEL, "number": 2, "item_id": "i2"})[0] == 200
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["item_id"] for row in rows if row.get("annotator") == "ann"] == ["i2"]


def test_experts_see_the_texts_and_the_rubric_and_nothing_that_was_said_of_them(server: ReviewServer) -> None:
    def told(path: str) -> dict[str, Any]:  # JSON
        found: dict[str, Any] = json.loads(ask(server, "GET", f"/api/{path}")[2])
        return found

    item, nothing = told("item?number=0"), {"grades": {}, "rationale": ""}
    assert item.pop("texts") == [{"name": "query", "texts": ["<script>Q1"]}, {"name": "answer", "texts": ["A1"]}]
    assert item == {"number": 0, "item_id": "i1", "label": nothing}  # of nobody: no annotator is named
    asked = [told(f"item?number=0&annotator={name}")["label"] for name in ("ann", "cem")]
    assert asked == [nothing, {"grades": {"grade": 1}, "rationale": SECRET}]  # each their own
    about = told("about")
    assert about["grades"] == ["1", "2", "3", "4", "5"]
    assert about["meanings"]["grade"][1].startswith("honestly admits")  # the words that the judge is given
    assert "vRAG-Eval" in about["note"]  # and whose they are
    everything = json.dumps([item, told("item?number=0"), about, told("labels?annotator=ann")])
    assert SECRET not in everything
    assert "gpt" not in everything


def test_page_names_nobody_as_the_author_of_meanings_that_are_the_users_own(tmp_path: Path) -> None:
    told = 'task = "grade"\n[scale]\ngrades = [1, 2, 3, 4, 5]\nmeanings = ["bad", "weak", "fair", "good", "best"]\n'
    (tmp_path / "datasheet.toml").write_text(told)
    assert desk(tmp_path, ROWS[1]).about()["note"] == ""


def test_only_the_named_annotators_may_grade(tmp_path: Path) -> None:
    anns = desk(tmp_path, ROWS[1], people=["ann"])
    anns.save(0, " ann ", Given({"grade": 1}))
    with pytest.raises(UserError, match="ann may grade"):
        anns.save(0, "bob", Given({"grade": 1}))


def test_port_that_is_taken_is_said(server: ReviewServer) -> None:
    with socket.socket() as other:
        other.bind((LOOPBACK, 0))
        other.listen()
        with pytest.raises(UserError, match="a free port"), serving(server.desk, other.getsockname()[1]):
            pass
