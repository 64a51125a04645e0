"""Calls in batches, through the providers' own SDKs against a server that speaks their protocols."""

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from judgec.errors import BudgetError, ServiceError, UserError
from judgec.lm.batch import client, service
from judgec.lm.batch.executor import open_service
from judgec.lm.batch.service import BatchLimits
from judgec.lm.client import client_of
from judgec.lm.executor import Reply, Request
from judgec.lm.journal.journal import Journal
from judgec.lm.max_wait import MaxWait
from judgec.lm.prices import price
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget
from tests.lm.judging import requests
from tests.service.fake_batches import Act, FakeBatches
from tests.service.policies import BROKEN, Policy, first, good, without
from tests.service.replies import Call, Hang, Outcome, Raw, Reset, Status

OPENAI, ANTHROPIC = "openai/gpt-4o-mini", "anthropic/claude-sonnet-4-5"
HAS_ANTHROPIC = find_spec("anthropic") is not None
ANTHROPICS = pytest.mark.skipif(not HAS_ANTHROPIC, reason="NOT TESTED: anthropic is not installed")
BOTH = pytest.mark.parametrize("model", [OPENAI, pytest.param(ANTHROPIC, marks=ANTHROPICS)])
KEYS = {"OPENAI_API_KEY": "sk-test-key-of-nobody", "ANTHROPIC_API_KEY": "sk-ant-key-of-nobody"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches end at once here, and nothing is on its way for long."""
    monkeypatch.setattr(client, "SETTLE_SECONDS", 0.05)
    monkeypatch.setattr(client, "FIRST_LOOK", 0.01)
    monkeypatch.setattr(service, "FIRST_WAIT", 0.01)


@contextmanager
def opened(
    server: FakeBatches, home: Path, model: str, caps: Budget | None = None, say: Callable[[str], None] = lambda _: None
) -> Iterator[Session]:
    spec = LMSpec.parse(model, api_base=server.base_url)
    max_wait = MaxWait(2.0, say)
    with Session(spec, home, caps=caps, batch="everything", environ=KEYS, max_wait=max_wait) as session:
        yield session


def asked(server: FakeBatches, home: Path, model: str, count: int) -> list[Reply]:
    with opened(server, home, model) as session:
        return sorted(session.ask(requests(count)), key=lambda reply: int(reply.key))


def counts(home: Path) -> tuple[int, int, int]:
    """Replies, distinct ones, and batches that nobody has finished."""
    with Journal(home / ".judgec" / "journal.db") as journal:
        ((replies, distinct),) = journal.select("SELECT COUNT(*), COUNT(DISTINCT digest) FROM replies")
        ((left,),) = journal.select("SELECT COUNT(*) FROM batches WHERE state IN ('intended', 'created')")
    return replies, distinct, left


@BOTH
def test_run_answers_every_request_by_one_batch_and_again_from_the_journal(tmp_path: Path, model: str) -> None:
    with FakeBatches() as server:
        replies = asked(server, tmp_path, model, 200)
        again = asked(server, tmp_path, model, 200)
    assert [reply.key for reply in replies] == list(range(200))
    assert all(reply.text and not reply.cached for reply in replies)
    assert [reply.text for reply in again] == [reply.text for reply in replies]
    assert all(reply.cached for reply in again)
    assert (server.created, server.paid, server.single) == (1, 200, 0)


@BOTH
def test_run_pays_half_the_list_price_and_less_for_cached_tokens(tmp_path: Path, model: str) -> None:
    with FakeBatches() as server, opened(server, tmp_path, model) as session:
        (reply,) = session.ask(requests(1))
        spent = session.spent
    rate = price(model)
    assert rate is not None
    list_price = reply.input_tokens * rate.input + reply.output_tokens * rate.output
    if model == ANTHROPIC:  # the server says: 50 new tokens, 20 written to the cache, 100 read from it, 10 answered
        assert (reply.input_tokens, reply.output_tokens) == (170, 10)
        assert rate.cached < rate.input < rate.written
        list_price = 50 * rate.input + 20 * rate.written + 100 * rate.cached + 10 * rate.output
    assert reply.usd == pytest.approx(list_price / 2)
    assert (spent.calls, spent.usd) == (1, reply.usd)


def test_lines_of_a_file_hold_no_other_line_ends(tmp_path: Path) -> None:
    message = {"role": "user", "content": "one\x85two\u2028three\u2029four"}
    with FakeBatches() as server, opened(server, tmp_path, OPENAI) as session:
        (reply,) = session.ask([Request(0, (*requests(1)[0].messages, message))])
        uploaded = server.files["file-1"]
    assert reply.text
    (line,) = uploaded.decode().splitlines()  # which splits at those, too
    assert json.loads(line)["body"]["messages"][-1]["content"] == message["content"]


@BOTH
def test_run_with_equal_requests_asks_once(tmp_path: Path, model: str) -> None:
    (one,) = requests(1)
    with FakeBatches() as server, opened(server, tmp_path, model) as session:
        replies = list(session.ask(Request(n, one.messages) for n in range(5)))
    assert sorted(reply.cached for reply in replies) == [False, True, True, True, True]
    assert server.paid == 1


@BOTH
def test_run_asks_failed_calls_once_more_and_says_why_they_failed_twice(tmp_path: Path, model: str) -> None:
    def policy(call: Call) -> Outcome:
        text = str(call.body)
        if "tower 3?" in text:
            return Status(500, "The server had an error", "server_error")
        if "tower 5?" in text:
            return Hang()
        return Reset() if "tower 7?" in text else good(call)

    with FakeBatches(policy) as server:
        replies = asked(server, tmp_path, model, 9)
    failed = {reply.key: reply.error for reply in replies if reply.text is None}
    assert failed.keys() == {3, 5, 7}
    assert "had an error" in str(failed[3])
    assert "expired" in str(failed[5])
    assert "no result" in str(failed[7])
    assert [len(batch.lines) for batch in server.batches] == [9, 3]
    assert (server.paid, counts(tmp_path)) == (6, (6, 6, 0))


@BOTH
def test_run_with_failures_that_pass_answers_all(tmp_path: Path, model: str) -> None:
    with FakeBatches(first(5, BROKEN)) as server:
        replies = asked(server, tmp_path, model, 21)
    assert all(reply.text for reply in replies)
    assert [len(batch.lines) for batch in server.batches] == [21, 5]


@BOTH
@pytest.mark.parametrize("lost", [["lose"], ["drop"], ["lose", "drop"], ["drop", "drop"]], ids="-".join)
def test_lost_reply_to_a_creation_finds_the_batch_or_creates_it(tmp_path: Path, model: str, lost: list[Act]) -> None:
    acts = iter(lost)
    with FakeBatches(hook=lambda step: next(acts, "") if step == "batches.create" else "") as server:
        replies = asked(server, tmp_path, model, 10)
    assert all(reply.text for reply in replies)
    assert (server.created, server.paid, server.paid_twice) == (1, 10, 0)


@BOTH
def test_run_after_a_creation_that_nobody_saw_submits_nothing_until_it_is_found(tmp_path: Path, model: str) -> None:
    """A process dies in the middle of a creation; another batch of the account is created meanwhile."""
    dying = FakeBatches(hook=lambda step: "lose" if step == "batches.create" else "", looks=3)
    with dying as server:
        with pytest.MonkeyPatch.context() as patch, opened(server, tmp_path, model) as session:
            patch.setattr(client.BatchClient, "_resolve", _dies)
            with pytest.raises(KeyboardInterrupt):
                list(session.ask(requests(10)))
        assert counts(tmp_path) == (0, 0, 1)
        server.hook = lambda _: ""
        with opened(server, tmp_path / "other", model) as session:
            list(session.ask(list(requests(13))[10:]))
        server.looks = 8  # both are still being worked on
        said: list[str] = []
        with opened(server, tmp_path, model, say=said.append) as session:
            replies = list(session.ask(requests(10)))
    assert all(reply.text for reply in replies)
    assert [len(batch.lines) for batch in server.batches] == [10, 3]
    assert server.paid_twice == 0
    assert counts(tmp_path) == (10, 10, 0)
    assert model == OPENAI or any("must end before" in line for line in said)


def _dies(*_: object) -> None:
    raise KeyboardInterrupt


@BOTH
def test_run_with_results_that_break_off_reads_them_again(tmp_path: Path, model: str) -> None:
    acts = iter(["lose", "drop"])
    with FakeBatches(hook=lambda step: next(acts, "") if step == "files.content" else "") as server:  # type: ignore[arg-type]  # acts
        replies = asked(server, tmp_path, model, 10)
    assert all(reply.text for reply in replies)
    assert counts(tmp_path) == (10, 10, 0)


@BOTH
def test_too_many_requests_for_a_batch_are_split(tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeBatches() as server, opened(server, tmp_path, model) as session:
        provider = session.executor(session.spec).client._service  # type: ignore[attr-defined]  # of batches
        monkeypatch.setattr(provider, "limits", BatchLimits(4, 10**9))
        assert len(list(session.ask(requests(10)))) == 10
        (one,) = requests(1)
        body = provider.size(provider.encode(client_of(session.lm).plain(one.messages)))
        monkeypatch.setattr(provider, "limits", BatchLimits(1000, 3 * (body + 16)))
        assert len(list(session.ask(requests(17)))) == 17
    assert [len(batch.lines) for batch in server.batches] == [4, 4, 2, 3, 3, 1]


def test_run_with_a_full_queue_submits_smaller_batches_one_after_the_other(tmp_path: Path) -> None:
    with FakeBatches() as probe:
        asked(probe, tmp_path / "probe", OPENAI, 1)
        line = len(str(probe.batches[0].lines[0][1]))
    with FakeBatches(queue=3 * line + line // 2) as server:
        replies = asked(server, tmp_path, OPENAI, 10)
    assert all(reply.text for reply in replies)
    assert (server.paid, server.paid_twice) == (10, 0)
    assert max(len(batch.lines) for batch in server.batches if not batch.failed) <= 3


def test_run_with_a_call_that_no_queue_takes_says_so(tmp_path: Path) -> None:
    with FakeBatches(queue=10) as server:
        (reply,) = asked(server, tmp_path, OPENAI, 1)
    assert reply.text is None
    assert "token_limit_exceeded" in str(reply.error)


def test_run_with_a_refused_parameter_asks_again_without_it(tmp_path: Path) -> None:
    with FakeBatches(without("logprobs")) as server:
        replies = asked(server, tmp_path, OPENAI, 6)
    assert all(reply.text for reply in replies)
    assert [len(batch.lines) for batch in server.batches] == [6, 6]


@BOTH
def test_run_within_caps_answers_what_fits_and_then_says_so(tmp_path: Path, model: str) -> None:
    got: list[Reply] = []
    caps = Budget(calls=4, count_journaled=False)
    over = pytest.raises(BudgetError, match="--budget: 4 calls")
    with FakeBatches() as server, opened(server, tmp_path, model, caps) as session, over:
        got.extend(session.ask(requests(10)))
    assert (len(got), server.paid) == (4, 4)


@BOTH
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (Status(401, "Incorrect API key provided: sk-secret-key-1234", "invalid_api_key"), "--batch.*refused the key"),
        (Status(404, "no such route", "not_found_error"), "has no batches.*Leave --batch out"),
    ],
)
def test_preflight_of_a_refusal_says_why_without_the_key(tmp_path: Path, model: str, status: Status, said: str) -> None:
    with FakeBatches(hook=lambda _: status) as server, opened(server, tmp_path, model) as session:
        with pytest.raises(ServiceError, match=said) as error:
            session.preflight()
        assert "sk-secret" not in str(error.value)


@BOTH
def test_redirects_are_not_followed(tmp_path: Path, model: str) -> None:
    with FakeBatches() as elsewhere:
        away = Status(307, "", "x", {"Location": f"{elsewhere.base_url}/batches"})
        refused = pytest.raises(ServiceError, match="HTTP 307")
        with FakeBatches(hook=lambda _: away) as server, opened(server, tmp_path, model) as session, refused:
            session.preflight()
        assert not elsewhere.steps
        assert not elsewhere.keys


@ANTHROPICS
def test_results_at_another_host_are_not_fetched(tmp_path: Path) -> None:
    with FakeBatches() as elsewhere, FakeBatches() as server:
        spec = LMSpec.parse(ANTHROPIC, api_base=server.base_url)
        shown = elsewhere.base_url
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FakeBatches, "base_url", property(lambda _: shown))  # where it says that results are
            with (
                Session(spec, tmp_path, batch="everything", environ=KEYS, max_wait=MaxWait(0.0)) as session,
                pytest.raises(ServiceError, match="names an address at"),
            ):
                list(session.ask(requests(2)))
        assert not elsewhere.keys


@ANTHROPICS
def test_prompt_for_anthropic_marks_where_its_fixed_part_ends(tmp_path: Path) -> None:
    spec = LMSpec.parse(ANTHROPIC, api_base="http://127.0.0.1:9/v1")
    with Session(spec, tmp_path, environ=KEYS) as session:
        said = [("system", "rubric"), ("user", "example"), ("assistant", "5"), ("user", "item")]
        chat = [{"role": role, "content": text} for role, text in said]
        client = client_of(session.lm)
        provider = open_service(spec, MaxWait(), KEYS)
        body = json.loads(provider.encode(client.plain(chat)))
        provider.close()
        assert client.digest(chat) == client.digest_of(client.plain(chat).request())
    blocks = [*body["system"], *(block for turn in body["messages"] for block in turn["content"])]
    marked = {block["text"]: block.get("cache_control") for block in blocks}
    mark = {"type": "ephemeral"}
    assert marked == {"rubric": mark, "example": None, "5": mark, "item": None}


@pytest.mark.parametrize("policy", [lambda _: Raw(b"{}"), lambda _: Raw(b'{"choices": [{"message": 7}]}')])
def test_run_with_replies_of_no_shape_costs_their_items_alone(tmp_path: Path, policy: Policy) -> None:
    with FakeBatches(policy) as server:
        replies = asked(server, tmp_path, OPENAI, 3)
    assert all(not reply.text for reply in replies)
    assert counts(tmp_path)[2] == 0


def test_run_reads_no_line_that_is_longer_than_its_reply_may_be(tmp_path: Path) -> None:
    def huge(call: Call) -> Outcome:
        return Raw(b'{"choices": [], "x": "%b"}' % (b"x" * 40_000_000)) if "tower 1?" in str(call.body) else good(call)

    with FakeBatches(huge) as server:
        replies = asked(server, tmp_path, OPENAI, 3)
    assert [bool(reply.text) for reply in replies] == [True, False, True]


BOMB = gzip.compress(b" " * 50_000_000)
ENDLESS = {
    "packed": (Raw(BOMB, {"Content-Encoding": "gzip"}), "more than 16,777,216 bytes"),
    "packed twice": (Raw(gzip.compress(BOMB), {"Content-Encoding": "gzip, gzip"}), ""),
    "dripping": (Raw(b"", drip_seconds=0.02), ""),
}


@BOTH
@pytest.mark.parametrize("step", ["batches.list", "batches.create"])
@pytest.mark.parametrize("kind", ENDLESS)
def test_answer_without_end_about_batches_is_given_up(tmp_path: Path, model: str, step: str, kind: str) -> None:
    odd, said = ENDLESS[kind]
    heard: list[str] = []
    with FakeBatches(hook=lambda one: odd if one == step else "") as server:
        spec = LMSpec.parse(model, api_base=server.base_url, timeout=0.3)
        with (
            Session(spec, tmp_path, batch="everything", environ=KEYS, max_wait=MaxWait(0.0, heard.append)) as session,
            pytest.raises(ServiceError) as fault,
        ):
            list(session.ask(requests(2)))
        assert not server.paid
    assert said in f"{fault.value} {heard}"


def test_models_without_batches_are_refused(tmp_path: Path) -> None:
    with Session(LMSpec.parse("openai/gpt-4o-mini"), tmp_path, batch="everything", environ=KEYS):
        pass
    with pytest.raises(UserError, match=r"--batch: deepseek/deepseek-chat .*--batch"):
        Session(LMSpec.parse("deepseek/deepseek-chat"), tmp_path, batch="everything", environ=KEYS)


def test_batches_of_a_living_process_are_left_to_it(tmp_path: Path) -> None:
    with FakeBatches(looks=1000) as server, opened(server, tmp_path, OPENAI) as one:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(client.BatchClient, "wait", _dies)
            with pytest.raises(KeyboardInterrupt) as stopped:
                list(one.ask(requests(5)))
        assert "5 calls are in batches" in stopped.value.__notes__[0]
        with opened(server, tmp_path, OPENAI) as other:
            said = other.executor(other.spec)
            said.client.begin()  # type: ignore[attr-defined]  # of batches
            assert said.client.standing() == ""  # type: ignore[attr-defined]  # of batches
        server.looks = 0
        assert len(list(one.ask(requests(5)))) == 5
    assert server.paid_twice == 0
