"""The pooled client over real connections."""

import asyncio
import contextlib
import gzip
import json
import queue
import socket
import threading
import time
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import dspy
import pytest
from dspy import lm15

from judgec.lm.backend import ClientBackend, Retries, UnreadError, may_have_been_billed, unreachable
from judgec.lm.client import client_of
from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.exchange import Completion, Plain
from judgec.lm.endpoint.pool import PooledBackend, open_endpoint
from judgec.lm.executor import Executor
from judgec.lm.journal.journal import Journal
from judgec.lm.logprobs import condense_entries
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Usage
from tests.lm.judging import KEYS, GradeAnswer, connected, item, requests
from tests.service import hostile, policies
from tests.service.fake_openai import FakeOpenAI
from tests.service.postgres import free_port
from tests.service.replies import Garbage, Hang, Raw, Reset


def say(url: str, act: Callable[[PooledBackend, Plain], Awaitable[object]], timeout: float = 60.0) -> None:
    lm = connected(url, timeout=timeout)
    backend = client_of(lm).calls.backend
    assert isinstance(backend, PooledBackend)
    plain = client_of(lm).plain(requests(1)[0].messages)

    async def both() -> None:
        try:
            await act(backend, plain)
        finally:
            await backend.aclose()

    asyncio.run(both())


async def once(backend: PooledBackend, plain: Plain) -> Completion:
    return await backend.say(plain)


@pytest.mark.parametrize(
    ("model", "api_base", "pooled"),
    [
        ("openai/x", "http://127.0.0.1:1/v1", True),
        ("openai/gpt-4o-mini", None, True),
        ("hosted_vllm/x", "http://127.0.0.1:1/v1", True),
        ("groq/x", "http://127.0.0.1:1/v1", True),
        ("anthropic/x", "http://127.0.0.1:1", False),
        ("azure/x", "http://127.0.0.1:1", False),
    ],
)
def test_open_endpoint_pools_what_speaks_openais_protocol(model: str, api_base: str | None, pooled: bool) -> None:
    backend = open_endpoint(LMSpec.parse(model, api_base=api_base), KEYS)
    assert isinstance(backend, PooledBackend) is pooled
    assert isinstance(backend, ClientBackend)


def test_open_endpoint_without_a_key_leaves_the_complaint_to_the_first_call() -> None:
    assert type(open_endpoint(LMSpec.parse("openai/gpt-4o-mini"), {})) is ClientBackend


def test_say_keeps_its_connections_and_sends_the_key() -> None:
    async def many(backend: PooledBackend, plain: Plain) -> None:
        for _ in range(5):
            await asyncio.gather(*(backend.say(plain) for _ in range(4)))

    with FakeOpenAI("good") as server:
        say(server.base_url, many)
        assert server.calls == 20
        assert server.connections == 4
        assert server.keys == {"Bearer sk-1"}


@pytest.mark.parametrize(
    ("outcome", "kind"), [(Reset(), lm15.TransportError), (Garbage(), lm15.ProviderError), (Hang(), lm15.TimeoutError)]
)
def test_say_when_the_endpoint_misbehaves_raises_what_is_retried(outcome: object, kind: type[Exception]) -> None:
    policy = policies.always(outcome)  # type: ignore[arg-type]  # one of the outcomes
    with FakeOpenAI(policy) as server, pytest.raises(kind):
        say(server.base_url, once, timeout=0.3 if isinstance(outcome, Hang) else 60.0)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("model", ["openai/x", "anthropic/x", "azure/x"])
def test_prompt_is_not_sent_where_a_redirect_points(code: int, model: str) -> None:
    """The pooled client, and LiteLLM's through DSPy: the other host gets nothing, neither prompt nor key."""
    environ = {"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-2", "AZURE_API_KEY": "sk-3", "AZURE_API_VERSION": "1"}
    with FakeOpenAI("good") as other, pytest.MonkeyPatch.context() as patch:
        for name, key in environ.items():
            patch.setenv(name, key)
        sent = Raw(b"", {"Location": f"{other.base_url}/chat/completions"}, code)
        with FakeOpenAI(policies.always(sent)) as server:
            lm = connected(server.base_url, model=model, environ=environ)
            backend, asked = client_of(lm).calls.backend, client_of(lm).plain(requests(1)[0].messages)

            async def ask() -> None:
                try:
                    await (
                        backend.say(asked) if isinstance(backend, PooledBackend) else backend.acomplete(asked.request())
                    )
                finally:
                    await backend.aclose()

            with pytest.raises(lm15.LM15Error):
                asyncio.run(ask())
            with pytest.raises(lm15.LM15Error):
                backend.complete(asked.request())
            assert server.calls >= 2
        assert other.calls == 0


def test_redirect_costs_its_call_alone_and_says_where_it_points() -> None:
    sent = Raw(b"", {"Location": "http://elsewhere.invalid/v1"}, 307)
    with FakeOpenAI(policies.every(3, sent)) as server:
        replies = list(Executor(connected(server.base_url), in_flight=1).run(requests(9)))
    bad = [reply for reply in replies if reply.text is None]
    assert len(bad) == 3
    assert all("307: redirects to elsewhere.invalid" in str(reply.error) for reply in bad)


def test_reply_that_drips_is_given_up_at_the_deadline() -> None:
    with FakeOpenAI(policies.always(Raw(b"", drip_seconds=0.02))) as server:
        began = time.monotonic()
        with pytest.raises(lm15.TimeoutError, match="no whole reply in 1 s"):
            say(server.base_url, once, timeout=0.2)
        assert time.monotonic() - began < 20


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_compressed_reply_is_read(encoding: str) -> None:
    pack = gzip.compress if encoding == "gzip" else zlib.compress

    async def check(backend: PooledBackend, plain: Plain) -> None:
        assert (await backend.say(plain)).text == hostile.GOOD

    packed = Raw(pack(json.dumps(hostile.body()).encode()), {"Content-Encoding": encoding})
    with FakeOpenAI(policies.always(packed)) as server:
        say(server.base_url, check)


def test_compressed_bomb_is_a_fault_of_its_reply_in_bounded_memory() -> None:
    async def check(backend: PooledBackend, plain: Plain) -> None:
        tracemalloc.start()
        said = await backend.say(plain)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
        tracemalloc.stop()
        assert (said.text, said.finish) == ("", untrusted.TOO_LONG)

    bomb = gzip.compress(b" " * 200_000_000, compresslevel=1)
    with FakeOpenAI(policies.always(Raw(bomb, {"Content-Encoding": "gzip"}))) as server:
        say(server.base_url, check)


def test_body_beyond_what_the_tokens_can_take_is_not_read() -> None:
    async def check(backend: PooledBackend, plain: Plain) -> None:
        assert (await backend.say(plain)).finish == untrusted.TOO_LONG

    with FakeOpenAI(policies.always(Raw(b" " * 20_000_000))) as server:
        say(server.base_url, check)


def test_say_to_nobody_is_unreachable() -> None:
    with pytest.raises(lm15.TransportError) as raised:
        say(f"http://127.0.0.1:{free_port()}/v1", once)
    assert unreachable(raised.value)


def test_attempt_on_a_connection_that_is_not_accepted_is_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judgec.lm.endpoint.pool.CONNECT_SECONDS", 0.2)
    with socket.socket() as full, contextlib.ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(3):  # a queue of none has room for one
            other = waiting.enter_context(socket.socket())
            other.setblocking(False)
            other.connect_ex(full.getsockname())
        with pytest.raises(UnreadError) as raised:
            say(f"http://127.0.0.1:{full.getsockname()[1]}/v1", once)
    assert not may_have_been_billed(raised.value)


@pytest.mark.parametrize(
    ("served", "policy"),
    [
        (2, policies.good),  # what is closed as the next request comes is no call
        (None, policies.every(4, Reset())),  # what is read and reset is one
    ],
)
def test_calls_that_somebody_read_are_counted_and_no_others(served: int | None, policy: policies.Policy) -> None:
    usage = Usage()
    with FakeOpenAI(policy, served=served) as server:
        replies = list(Executor(connected(server.base_url, usage=usage), in_flight=2).run(requests(20)))
        assert usage.spent.calls == server.calls >= 20
        assert server.connections >= 7
    assert all(reply.text is not None for reply in replies)


def test_say_goes_through_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOpenAI("good") as proxy:
        monkeypatch.setenv("http_proxy", proxy.base_url.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "")
        say("http://nowhere.invalid/v1", once)
        assert proxy.calls == 1


def test_executor_finds_out_how_much_an_endpoint_can_take() -> None:
    server = FakeOpenAI(lambda call: policies.TOO_MANY if server.in_flight > 6 else policies.good(call), latency=0.01)
    with server:
        lm = connected(server.base_url, retries=Retries())
        executor = Executor(lm, in_flight=48, clock=lambda: 5 * time.monotonic())  # five storms a second
        replies = list(executor.run(requests(400)))
    assert all(reply.text is not None for reply in replies)
    assert executor._window.size < 24
    assert server.calls < 700  # the first burst is refused, later ones are not sent


def test_connections_that_are_closed_as_they_are_used_again_cost_attempts_and_no_item_and_nothing_twice() -> None:
    """What every server with kept connections does now and then, here after each reply."""
    late = 0

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal late
        behind, ahead = await asyncio.open_connection("127.0.0.1", int(server.base_url.split(":")[2].split("/")[0]))
        for source, sink in ((reader, ahead), (behind, writer)):  # a request, and its reply
            head = await source.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            sink.write(head + await source.readexactly(length))
        ahead.close()
        late += bool(await reader.read(1))
        writer.transport.abort()

    def serve() -> None:
        async def run() -> None:
            front = await asyncio.start_server(relay, "127.0.0.1", 0)
            ports.put(front.sockets[0].getsockname()[1])
            async with front:
                await asyncio.to_thread(over.wait)

        asyncio.run(run())

    over, ports = threading.Event(), queue.Queue[int]()
    thread = threading.Thread(target=serve)
    with FakeOpenAI("good") as server:
        thread.start()
        lm = connected(f"http://127.0.0.1:{ports.get(timeout=20)}/v1")
        replies = list(Executor(lm, in_flight=4).run(requests(8)))
        over.set()
        thread.join(20)
        assert (server.calls, server.paid_twice) == (8, 0)
    assert sorted(reply.key for reply in replies) == list(range(8))
    assert all(reply.text is not None for reply in replies)
    assert late > 0


def test_call_paid_through_dspy_is_found_by_the_executor_and_the_other_way_round(tmp_path: Path) -> None:
    with FakeOpenAI("good") as server, Journal(tmp_path / "journal.db") as journal:
        lm = connected(server.base_url, journal=journal)
        with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
            said = dspy.Predict(GradeAnswer)(**item(0))
        first = list(Executor(lm).run(requests(2)))
        with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
            dspy.Predict(GradeAnswer)(**item(1))
        assert server.calls == 2
    assert sorted((reply.key, reply.cached) for reply in first) == [(0, True), (1, False)]
    assert [condense_entries(said.logprobs["content"])] == [reply.logprobs for reply in first if reply.cached]
