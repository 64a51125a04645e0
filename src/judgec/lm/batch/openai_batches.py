"""OpenAI's batches, through OpenAI's SDK: requests are uploaded as a file, the nonce stands in the batch's metadata."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Literal

import openai
import orjson
from dspy import lm15

from judgec.lm.batch.service import (
    MOST_LISTED,
    NO_ROOM,
    NONCE,
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
    seconds_of,
    transport_error,
)
from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.exchange import Plain
from judgec.lm.endpoint.wire import Wire
from judgec.lm.max_wait import MaxWait
from judgec.lm.redirects import on_host
from judgec.lm.spec import LMSpec

ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"
UNICODE_LINE_ENDS = "\x85\u2028\u2029"  # JSON may have them inside a string as they are
LIMITS = BatchLimits(requests=50_000, size=190_000_000)  # OpenAI's are 50,000 and 200 MB
AROUND = 256  # bytes of a line beside the request
WITHOUT_RESULTS = {"failed"}
ENDED = {"completed", "failed", "expired", "cancelled"}
OK = 200


class OpenAIBatches:
    """The batches of one account.

    Args:
        spec: The model.
        client: DSPy's client of the model: it knows key and address; its connections are not used.
        model: The name that the endpoint knows.
        max_wait: How long an endpoint may ask to wait.
    """

    name = "openai"
    limits = LIMITS

    def __init__(self, spec: LMSpec, client: "lm15.OpenAIChatLM", model: str, max_wait: MaxWait) -> None:
        base = str(client.base_url)
        self._wire = Wire(client, model)
        self._sdk = openai.OpenAI(
            api_key=str(client.api_key),
            base_url=base,
            max_retries=0,  # a creation that is repeated may be paid twice
            http_client=openai.DefaultHttpxClient(
                **on_host(base, spec.timeout), timeout=spec.timeout, headers={"Accept-Encoding": "identity"}
            ),
            timeout=spec.timeout,
        )
        broken = (openai.APIConnectionError, openai.APIResponseValidationError, ValueError, TypeError)
        self._talk = Talk(spec, (*broken, transport_error(openai.DefaultHttpxClient)), openai.APIStatusError, max_wait)

    def encode(self, plain: Plain) -> bytes:
        """The body of a chat completion, with no line end of Unicode's in it that may cut its line for who reads it."""
        body: bytes = self._wire.encode(plain)[2]
        for end in UNICODE_LINE_ENDS:
            body = body.replace(end.encode(), b"\\u%04x" % ord(end))
        return body

    def size(self, body: bytes) -> int:
        """Of its line in the file."""
        return len(body) + AROUND

    def newest(self) -> float:
        """Time when the newest batch was created; a wrong key shows here, for nothing."""
        found = self._talk.again(lambda: [_remote(one) for one in self._sdk.batches.list(limit=1).data])
        return max((one.created for one in found), default=0.0)

    def upload(self, nonce: str, bodies: Sequence[bytes]) -> str:
        """Send the file; it costs nothing, whatever becomes of it."""
        lines = b"".join(
            b'{"custom_id":"%b","method":"POST","url":"%b","body":%b}\n'
            % (custom_id(nonce, at).encode(), ENDPOINT.encode(), body)
            for at, body in enumerate(bodies)
        )
        named = (f"judgec-{nonce}.jsonl", lines)
        return self._talk.again(lambda: untrusted.name(self._sdk.files.create(file=named, purpose="batch").id))

    def create(self, nonce: str, file: str, bodies: Sequence[bytes]) -> Remote:  # noqa: ARG002 - they are in the file
        """Create the batch."""
        return self._talk.once(
            lambda: _remote(
                self._sdk.batches.create(
                    completion_window="24h", endpoint=ENDPOINT, input_file_id=file, metadata={NONCE: nonce}
                )
            )
        )

    def look(self, name: str) -> Remote:
        """Looks at the progress of a batch."""
        return self._talk.again(lambda: _remote(self._sdk.batches.retrieve(name)))

    def results(self, remote: Remote, most: int, take: Take) -> None:
        """The lines of the file of replies, then those of the file of errors."""

        def read(file: str) -> None:
            with self._sdk.files.with_streaming_response.content(file) as reply:
                for line in json_lines(reply.iter_bytes(), most):
                    name = line.get("custom_id")
                    if isinstance(name, str):
                        take(name, self._result(line))

        for file in remote.files:
            self._talk.again(partial(read, file), streamed=True)

    def find(self, nonce: str, since: float, known: set[str]) -> BatchSearch:  # noqa: ARG002 - the nonce is enough
        """Look through all batches of the account; their order is not documented."""

        def look() -> Remote | None:
            for one in islice(self._sdk.batches.list(limit=100), MOST_LISTED):
                metadata = one.metadata
                if isinstance(metadata, dict) and metadata.get(NONCE) == nonce:
                    return _remote(one)
            return None

        return BatchSearch(self._talk.again(look))

    def forbid(self, file: str) -> None:
        """Delete the file."""
        with suppress(UnknownBatchError):  # deleted before
            self._talk.again(lambda: self._sdk.files.delete(file))

    def close(self) -> None:
        """Close the connections."""
        self._sdk.close()

    def _result(self, line: JsonObject) -> Any:  # ``Completion | Failed``: DSPy's errors are untyped
        response, error = line.get("response"), line.get("error")
        if not isinstance(response, dict):
            said = error if isinstance(error, dict) else {}
            code, message = untrusted.name(said.get("code")), untrusted.name(said.get("message"))
            return Failed(lm15.ServerError(f"{code or 'no reply'}: {message}" if message else code or "no reply"))
        status, body = response.get("status_code"), response.get("body")
        raw = orjson.dumps(body)
        if status == OK:
            try:
                return self._wire.decode(raw)
            except lm15.LM15Error as fault:
                return Failed(fault)
        return Failed(self._wire.refuse(untrusted.count(status) or 0, {}, raw, lambda: 0.0))


def _remote(batch: Any) -> Remote:  # the SDK does not check what it was answered
    name = untrusted.name(batch.id)
    if not name:
        raise ValueError("a batch without a name")
    status, counts = untrusted.name(batch.status), batch.request_counts
    said = [
        (untrusted.name(getattr(one, "code", None)), untrusted.name(getattr(one, "message", None)))
        for one in getattr(batch.errors, "data", None) or ()
    ]
    why = "; ".join(f"{code}: {message}" for code, message in said[:3])
    files = [untrusted.name(one) for one in (batch.output_file_id, batch.error_file_id)]
    finished = [untrusted.count(getattr(counts, part, None)) or 0 for part in ("completed", "failed")]
    return Remote(
        name=name,
        ended=status in ENDED,
        why=(why or f"the batch {status}") if status in WITHOUT_RESULTS else "",
        no_room=status in WITHOUT_RESULTS and any(code in NO_ROOM for code, _ in said),
        done=sum(finished),
        created=seconds_of(batch.created_at),
        files=tuple(one for one in files if one),
    )
