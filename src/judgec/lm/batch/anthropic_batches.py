"""Anthropic's message batches, through its SDK: requests travel in the creation, the nonce in each custom_id."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any

import orjson
from dspy import lm15

from judgec.errors import UserError
from judgec.lm.batch.service import (
    MOST_LISTED,
    BatchLimits,
    BatchSearch,
    Failed,
    JsonObject,
    Remote,
    Take,
    Talk,
    UnknownBatchError,
    custom_id,
    json_lines,
    transport_error,
)
from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.exchange import Completion, Plain
from judgec.lm.max_wait import MaxWait
from judgec.lm.redirects import on_host
from judgec.lm.spec import LMSpec

LIMITS = BatchLimits(requests=100_000, size=240_000_000)  # Anthropic's are 100,000 and 256 MB
AROUND = 128  # bytes of an entry beside the request
VERSION = "/v1"  # the SDK adds it to its address
LONGEST_LINE = 1 << 24  # bytes, of the batches of others
ENDED = "ended"


class AnthropicBatches:
    """The batches of one workspace.

    Args:
        spec: The model.
        client: DSPy's client of the model: it knows key and address; its connections are not used.
        model: The name that the endpoint knows.
        max_wait: How long an endpoint may ask to wait.

    Raises:
        UserError: The SDK is not installed.
    """

    name = "anthropic"
    limits = LIMITS

    def __init__(self, spec: LMSpec, client: Any, model: str, max_wait: MaxWait) -> None:  # DSPy is untyped
        try:
            import anthropic
        except ImportError:
            raise UserError(
                f"--batch with {spec.model}: the package anthropic is not installed; it is needed for batches. "
                "Install judgec[anthropic]."
            ) from None
        base = str(client.base_url).rstrip("/").removesuffix(VERSION)
        self._client, self._model = client, model
        self._sdk = anthropic.Anthropic(
            api_key=str(client.api_key),
            base_url=base,
            max_retries=0,  # a creation that is repeated may be paid twice
            http_client=anthropic.DefaultHttpxClient(
                **on_host(base, spec.timeout), timeout=spec.timeout, headers={"Accept-Encoding": "identity"}
            ),
            timeout=spec.timeout,
        )
        broken = (anthropic.APIConnectionError, anthropic.APIResponseValidationError, ValueError, TypeError)
        self._talk = Talk(
            spec, (*broken, transport_error(anthropic.DefaultHttpxClient)), anthropic.APIStatusError, max_wait
        )
        self._not_ours: set[tuple[str, str]] = set()  # nonces and batches whose results do not have them

    def encode(self, plain: Plain) -> bytes:
        """The parameters of a message; where the fixed part of the prompt ends is marked for the cache."""
        built = self._client.build_request(replace(plain.request(), model=self._model), stream=False)
        parameters = orjson.loads(built.body)
        parameters.pop("stream", None)
        return orjson.dumps(parameters)

    def size(self, body: bytes) -> int:
        """Of its entry in the creation."""
        return len(body) + AROUND

    def newest(self) -> float:
        """Time when the newest batch was created; a wrong key shows here, for nothing."""
        found = self._talk.again(lambda: [_remote(one) for one in self._sdk.messages.batches.list(limit=1).data])
        return max((one.created for one in found), default=0.0)

    def upload(self, nonce: str, bodies: Sequence[bytes]) -> str:  # noqa: ARG002 - nothing is sent ahead
        """Nothing: the creation carries the requests."""
        return ""

    def create(self, nonce: str, file: str, bodies: Sequence[bytes]) -> Remote:  # noqa: ARG002 - there is no file
        """Create the batch."""
        requests: list[Any] = [
            {"custom_id": custom_id(nonce, at), "params": orjson.loads(body)} for at, body in enumerate(bodies)
        ]
        return self._talk.once(lambda: _remote(self._sdk.messages.batches.create(requests=requests)))

    def look(self, name: str) -> Remote:
        """Looks at the progress of a batch."""
        return self._talk.again(lambda: _remote(self._sdk.messages.batches.retrieve(name)))

    def results(self, remote: Remote, most: int, take: Take) -> None:
        """The lines of its file."""

        def read() -> None:
            for line in self._lines(remote, most):
                name, result = line.get("custom_id"), line.get("result")
                if isinstance(name, str):
                    take(name, self._result(result if isinstance(result, dict) else {}))

        self._talk.again(read, streamed=True)

    def find(self, nonce: str, since: float, known: set[str]) -> BatchSearch:
        """Read the custom_ids of every batch that was created since, once it has ended."""
        batches = self._sdk.messages.batches
        listed = self._talk.again(lambda: [_remote(one) for one in islice(batches.list(limit=1000), MOST_LISTED)])
        unclear = 0
        for one in listed:
            if one.created < since or one.name in known or (nonce, one.name) in self._not_ours:
                continue
            try:
                if one.ended and self._talk.again(partial(self._has, nonce, one), streamed=True):
                    return BatchSearch(one)
            except UnknownBatchError:  # deleted meanwhile, or its results are not there yet
                unclear += 1
                continue
            unclear += not one.ended
            if one.ended:
                self._not_ours.add((nonce, one.name))
        return BatchSearch(None, unclear)

    def forbid(self, file: str) -> None:
        """Nothing was uploaded."""

    def close(self) -> None:
        """Close the connections."""
        self._sdk.close()

    def _has(self, nonce: str, remote: Remote) -> bool:
        """True if the results are of our requests; all of a batch are, or none."""
        names = (line.get("custom_id") for line in self._lines(remote, LONGEST_LINE))
        return any(isinstance(name, str) and name.rpartition("-")[0] == nonce for name in names)

    def _lines(self, remote: Remote, most: int) -> Iterator[JsonObject]:
        if not remote.files:
            raise ValueError(f"batch {remote.name} has ended and has no results")
        # The SDK would read lines of any length, and end at the first that is no JSON.
        with closing(self._sdk.messages.batches.results(remote.name)) as found:
            yield from json_lines(found.http_response.iter_bytes(), most)

    def _result(self, result: JsonObject) -> Any:  # ``Completion | Failed``: DSPy's errors are untyped
        kind, message = result.get("type"), result.get("message")
        if kind == "succeeded":
            if not isinstance(message, dict):
                return Completion.faulty(untrusted.BAD_SHAPE, self._model)
            try:
                return self._read(message)
            except Exception:  # noqa: BLE001 - whatever the client stumbled over in what it took for a reply
                return Completion.faulty(untrusted.BAD_SHAPE, self._model)
        error = result.get("error")
        envelope = error if isinstance(error, dict) and "error" in error else {"error": error}
        if kind == "errored":
            try:
                return Failed(self._client.normalize_error(400, json.dumps(envelope)))
            except Exception:  # noqa: BLE001 - an error that cannot be read is one all the same
                return Failed(lm15.ServerError("errored"))
        return Failed(lm15.ServerError(untrusted.name(kind) or "no result"))

    def _read(self, message: JsonObject) -> Completion:
        request = lm15.Request(model=self._model, messages=(lm15.Message.user("-"),))
        return Completion.of(self._client.parse_response(request, _Answer(message)))


@dataclass(frozen=True, slots=True)
class _Answer:
    """The part of an answer from which DSPy's client reads a message."""

    message: JsonObject

    def json(self) -> JsonObject:
        return self.message


def _remote(batch: Any) -> Remote:  # the SDK does not check what it was answered
    name = untrusted.name(batch.id)
    if not name:
        raise ValueError("a batch without a name")
    counts, created = batch.request_counts, batch.created_at
    parts = ("succeeded", "errored", "canceled", "expired")
    done = sum(untrusted.count(getattr(counts, part, None)) or 0 for part in parts)
    return Remote(
        name=name,
        ended=batch.processing_status == ENDED,
        done=done,
        files=(url,) if (url := untrusted.name(batch.results_url)) else (),
        created=created.timestamp() if isinstance(created, datetime) else 0.0,
    )
