"""OpenAI's chat completions as bytes: a request's body, a reply's text, what an HTTP error means.

DSPy's native client reads and writes the same protocol in full generality, at twenty times the cost. Its request
is rendered once here for each way of asking, so that what it knows of a provider (names of parameters, headers)
holds; then only the messages change. A body that is not of the usual form is left to its reader.
"""

import email.utils
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson
from dspy import lm15
from dspy.lm15 import Config

from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.exchange import Completion, Plain
from judgec.lm.logprobs import condense_entries
from judgec.lm.redaction import clean

Headers = tuple[tuple[str, str], ...]
JsonObject = Mapping[str, Any]  # parsed JSON; each reader checks what it takes from it

FINISHES = {"stop", "length"}  # others carry more than text
KEPT = 8  # ways of asking that are remembered
ODD_BYTES = 1 << 18  # longest body that is read by the slower reader
CONFLICT = 409  # OpenAI's "try again": a lock could not be taken


@dataclass(frozen=True, slots=True)
class _Form:
    """One way of asking, rendered: where to, with which headers, and the body but for its messages."""

    url: str
    headers: Headers
    rest: JsonObject


class Wire:
    """Bytes for one model of one endpoint.

    Args:
        client: DSPy's native client of the model; its pure parts are used, never its connections.
        model: The name that the endpoint knows.
    """

    def __init__(self, client: "lm15.OpenAIChatLM", model: str) -> None:
        self._client = client
        self._model = model
        self._known: list[tuple[Config, bool, _Form | None]] = []

    def encode(self, plain: Plain) -> tuple[str, Headers, bytes]:
        """URL, headers and body of a request.

        Raises:
            lm15.InvalidRequestError: When a text is no valid Unicode.
        """
        shown = "assistant" in [message["role"] for message in plain.messages]  # some providers add to these turns
        for config, with_turns, form in self._known:  # noqa: B007 - the form is what is looked for
            if config is plain.config and with_turns == shown:
                break
        else:
            form = self._learn(plain)
            self._known = [*self._known[1 - KEPT :], (plain.config, shown, form)]
        if form is None:
            whole = self._render(plain)
            return whole.url, tuple(whole.headers), whole.body
        try:
            return form.url, form.headers, orjson.dumps({**form.rest, "messages": plain.messages})
        except TypeError as error:
            raise lm15.InvalidRequestError(f"the prompt is not valid Unicode: {error}") from None

    def _render(self, plain: Plain) -> Any:  # DSPy is untyped
        return self._client.build_request(replace(plain.request(), model=self._model), stream=False)

    def _learn(self, plain: Plain) -> "_Form | None":
        """None when the client writes these messages in a way of its own."""
        whole = self._render(plain)
        body = orjson.loads(whole.body)
        same = body.pop("messages", None) == list(plain.messages)
        return _Form(whole.url, tuple(whole.headers), body) if same else None

    def decode(self, body: bytes) -> Completion:
        """The reply in a body that came with status 200.

        Raises:
            lm15.ProviderError: When it is no JSON, or says error, or has no choices: a gateway spoke, not the model.
        """
        data = _json(body)
        said = _usual(data)
        if said is None:
            try:
                said = Completion.of(lm15.response_from_openai_chat(data, model=self._model))
            except lm15.LM15Error:
                if data.get("error") or "choices" not in data:
                    raise
                said = self.faulty(untrusted.BAD_SHAPE)
            except Exception:  # noqa: BLE001 - whatever the client stumbled over in what it took for a reply
                said = self.faulty(untrusted.BAD_SHAPE)
            if "choices" not in data:
                raise lm15.ProviderError("the reply is no chat completion: it has no choices", status=200)
        return said

    def faulty(self, fault: str, output_tokens: int | None = None) -> Completion:
        """Stand-in for a reply that holds nothing to read."""
        return Completion.faulty(fault, self._model, output_tokens)

    def refuse(self, status: int, headers: Mapping[str, str], body: bytes, now: Callable[[], float]) -> Exception:
        """The exception for an HTTP error, as the ``openai`` package reads it.

        Args:
            status: 400 or more.
            headers: ``Retry-After`` in seconds, milliseconds or as a date; ``x-should-retry`` overrides the status.
            body: JSON or not.
            now: Seconds since the epoch.
        """
        try:
            error: lm15.ProviderError = self._client.normalize_error(status, clean(body.decode("utf-8", "replace")))
        except Exception:  # noqa: BLE001 - a body that the client cannot read says nothing: the status remains
            error = self._client.normalize_error(status, "")
        if status == CONFLICT:
            error = lm15.ServerError(error.message, status=status, provider_code=error.provider_code)
        error.retry_after = retry_after(headers, now) or untrusted.seconds(error.retry_after)
        error.should_retry = {"true": True, "false": False}.get(headers.get("x-should-retry", ""))
        raised: Exception = error  # DSPy is untyped
        return raised


def retry_after(headers: Mapping[str, str], now: Callable[[], float]) -> float | None:
    """Seconds that a server asks to wait, or None when it does not, or not in a way that makes sense."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        return seconds if 0 <= seconds < float("inf") else None
    date = email.utils.parsedate_tz(headers.get("retry-after", ""))
    try:
        return None if date is None else max(0.0, email.utils.mktime_tz(date) - now())
    except (ValueError, OverflowError):  # of no calendar
        return None


def _json(body: bytes) -> JsonObject:
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError:
        try:  # half a character, NaN: what orjson refuses and json reads
            data = json.loads(body.decode("utf-8", "replace")) if len(body) <= ODD_BYTES else None
        except (ValueError, RecursionError):
            raise lm15.ProviderError("the reply is not JSON", status=200) from None
    if not isinstance(data, dict):
        raise lm15.ProviderError("the reply is not a JSON object", status=200)
    return data


def _usual(data: JsonObject) -> Completion | None:
    """One choice with a text; None when there is anything else in it."""
    try:
        (choice,) = data["choices"]
        message, finish, usage = choice["message"], choice["finish_reason"], _object(data.get("usage"))
        text, served = message["content"], data["model"]
        special = message.get("refusal") or message.get("tool_calls") or data.get("error")
        if special or finish not in FINISHES or not (isinstance(text, str) and text and isinstance(served, str)):
            return None
        return Completion(
            text=untrusted.text(text),
            finish=finish,
            served_by=untrusted.name(served),
            logprobs=condense_entries(_object(choice.get("logprobs")).get("content") or ()),
            input_tokens=untrusted.count(usage.get("prompt_tokens")),
            output_tokens=untrusted.count(usage.get("completion_tokens")),
            cached_tokens=untrusted.count(_object(usage.get("prompt_tokens_details")).get("cached_tokens")),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _object(value: object) -> JsonObject:
    """A field that should be an object; an empty one when it is anything else."""
    return value if isinstance(value, dict) else {}
