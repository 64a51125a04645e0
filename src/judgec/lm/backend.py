"""Calls the models: DSPy's own client for one attempt, and what each way of failing means."""

import asyncio
import random
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol, runtime_checkable
from weakref import WeakKeyDictionary

import dspy
from dspy import lm15
from dspy.clients.engines import AsyncLiteLLMEngine, LiteLLMEngine
from dspy.lm15 import AsyncLMRouter, LMRouter, Request, Response, RouterConfig

from judgec.errors import BudgetError, ServiceError
from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.bounded import BoundedAsyncTransport, BoundedTransport, Exchanged, TooLongError, exchanging
from judgec.lm.endpoint.exchange import Completion, Plain
from judgec.lm.redaction import clean, clean_error, keep_environment
from judgec.lm.redirects import stay_on_host
from judgec.lm.spec import LMSpec

CONNECT_SECONDS = 10.0
WHOLE_REPLY = 5.0  # an attempt may take this many times the seconds without a byte: a drip is no reply
QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached"}  # 429s that waiting does not cure
MISSING = 404
MOST_DOUBLINGS = 30  # of a wait, long beyond its cap
NO_KEY = "none"  # what a private endpoint without a key is sent


@runtime_checkable
class Speaks(Protocol):
    """A backend that takes plain requests as they are."""

    async def say(self, plain: Plain) -> Completion:
        """One attempt on this event loop."""
        ...


class Backend(Protocol):
    """One attempt at a call. Failures are ``dspy.lm15`` errors; there are no retries and no cache here."""

    identity: str
    """What tells two backends with one model name apart: the endpoint's URL."""

    def complete(self, request: Request) -> Response | Completion:
        """Make the call in this thread."""
        ...

    async def acomplete(self, request: Request) -> Response | Completion:
        """Make the call on this event loop."""
        ...

    async def aclose(self) -> None:
        """Close what belongs to this event loop."""
        ...


@dataclass(frozen=True)
class Retries:
    """Rules for repeating failed attempts; by default a call waits at most about a minute in all.

    Args:
        attempts: Most attempts a call, the first included.
        first_seconds: Wait after the first failure; it doubles each time.
        most_seconds: Longest wait of our own; a longer Retry-After is honoured.
        jitter: Gives numbers in 0..1 that spread the waits of many callers.
    """

    attempts: int = 6
    first_seconds: float = 1.0
    most_seconds: float = 30.0
    jitter: Callable[[], float] = field(default_factory=lambda: random.Random().random)

    def wait(self, error: lm15.LM15Error, failed: int) -> float:
        """Seconds to wait after ``failed`` failures, the last one with ``error``."""
        ours = min(self.first_seconds * 2.0 ** min(failed - 1, MOST_DOUBLINGS), self.most_seconds) * (
            0.5 + self.jitter() / 2
        )
        return max(ours, (error.retry_after or 0.0) * (1 + self.jitter() / 10))


class Remedy(Enum):
    """The next step after a failed attempt."""

    RETRY = "try again"
    GIVE_UP = "this call cannot succeed; others may"
    STOP = "no call can succeed until the user changes something"


class LMServiceError(ServiceError, dspy.utils.exceptions.LMError):  # type: ignore[misc]  # DSPy is untyped
    """A ``ServiceError`` that passes DSPy's error boundary unchanged."""


class LMBudgetError(BudgetError, dspy.utils.exceptions.LMError):  # type: ignore[misc]  # DSPy is untyped
    """A ``BudgetError`` that passes DSPy's error boundary unchanged."""


class UnreadError(lm15.TransportError):  # type: ignore[misc]  # DSPy is untyped
    """Nobody can have read the request: no connection was made, or a kept one was closed as the request came."""


class ClientBackend:
    """Any model that DSPy knows: natively where it can, through LiteLLM for other providers.

    Args:
        spec: The model; its key is found by the client in ``environ``.
        environ: The environment, or None for the process's own.
    """

    def __init__(self, spec: LMSpec, environ: Mapping[str, str] | None = None) -> None:
        self.identity = spec.api_base or ""
        self._spec = spec
        keep_environment(environ or {})
        self._route, self._config = native_route(spec, environ)
        if self._route is None:
            self._sync: LMRouter | LiteLLMEngine = LiteLLMEngine(**self._clients())
        else:
            self._sync = LMRouter(self._bounded(BoundedTransport))
        self._async: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncLMRouter | AsyncLiteLLMEngine] = (
            WeakKeyDictionary()
        )

    def complete(self, request: Request) -> Response | Completion:
        """One attempt in this thread."""
        asked, most = self._most(request)
        with exchanging(most, whole_seconds(self._spec)) as call:
            try:
                return self._sync.complete(self._routed(request))
            except Exception as error:  # noqa: BLE001 - whatever the client stumbles over in a reply
                return self._fault(error, call, asked)

    async def acomplete(self, request: Request) -> Response | Completion:
        """One attempt on this event loop."""
        asked, most = self._most(request)
        with exchanging(most, whole_seconds(self._spec)) as call:
            try:
                return await self._acomplete(request)
            except Exception as error:  # noqa: BLE001 - as above
                return self._fault(error, call, asked)

    def _most(self, request: Request) -> tuple[int, int]:
        """The longest reply that is asked for, in tokens, and the bytes that it can have."""
        asked = request.config.max_tokens or self._spec.reply_tokens
        return asked, untrusted.most_bytes(asked, int(request.config.logprobs or 0))

    def _fault(self, error: Exception, call: Exchanged, asked: int) -> Completion:
        """Stand-in for a reply that holds nothing to read; raises what is no fault of a reply."""
        if isinstance(error, TooLongError) or call.too_long:
            return Completion.faulty(untrusted.TOO_LONG, self._spec.model, asked)
        if call.late and not isinstance(error, lm15.TimeoutError):
            raise self._late() from error
        if isinstance(error, lm15.LM15Error) or not call.answered:
            raise _cleaned(error)
        return Completion.faulty(untrusted.BAD_SHAPE, self._spec.model)

    async def _acomplete(self, request: Request) -> Response:
        loop = asyncio.get_running_loop()
        client = self._async.get(loop)
        if client is None:  # connections belong to the loop that opened them
            routed = self._route is not None
            client = AsyncLMRouter(self._bounded(BoundedAsyncTransport)) if routed else self._litellm()
            self._async[loop] = client
        limit = asyncio.timeout(whole_seconds(self._spec))
        try:
            async with limit:
                return await client.complete(self._routed(request))
        except Exception as error:
            if limit.expired():  # LiteLLM makes another error of it
                raise self._late() from error
            raise

    def _late(self) -> Exception:
        raised: Exception = lm15.TimeoutError(f"no whole reply in {whole_seconds(self._spec):g} s")  # DSPy is untyped
        return raised

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        client = self._async.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    def _routed(self, request: Request) -> Request:
        if self._route is None:
            stay_on_host()
            return request
        return Request(
            model=self._route,
            messages=request.messages,
            system=request.system,
            tools=request.tools,
            config=request.config,
        )

    def _bounded(self, kind: type[BoundedTransport] | type[BoundedAsyncTransport]) -> RouterConfig:
        seconds = self._spec.timeout
        limits = {"read_timeout": seconds, "write_timeout": seconds, "pool_timeout": seconds}
        transport = kind(whole_seconds(self._spec), connect_timeout=CONNECT_SECONDS, **limits)
        return replace(self._config, transport=transport)

    def _litellm(self) -> AsyncLiteLLMEngine:
        return AsyncLiteLLMEngine(**self._clients())

    def _clients(self) -> dict[str, object]:
        clients: dict[str, object] = {"timeout": self._spec.timeout}
        if self._spec.api_base is not None:
            clients["api_base"] = self._spec.api_base
        return clients


def whole_seconds(spec: LMSpec) -> float:
    """Seconds that an attempt may take from its first byte to its last."""
    return WHOLE_REPLY * spec.timeout


def native_route(spec: LMSpec, environ: Mapping[str, str] | None) -> tuple[str | None, RouterConfig]:
    """The native client's name for the model and its settings; None when LiteLLM must serve it."""
    try:
        # A colon would make it the client's own way of naming; Ollama's tags and fine-tuned models have one.
        found = LMRouter(RouterConfig(env={})).resolve_openai_chat(spec.model.replace(":", "-"))
    except (lm15.UnknownModelError, lm15.UnsupportedFeatureError):
        return None, RouterConfig()
    if spec.api_base is not None and found.provider.startswith("azure"):
        return None, RouterConfig()  # the native client wants the resource, not a URL
    urls = None if spec.api_base is None else {found.provider: spec.api_base}
    route = f"{found.provider}:{spec.model.partition('/')[2]}"
    config = RouterConfig(env=environ, base_urls=urls)
    if spec.api_base is not None:
        try:
            LMRouter(config).lm(route)
        except lm15.NotConfiguredError:  # most servers on one's own machine want no key
            config = RouterConfig(env=environ, base_urls=urls, api_keys={found.provider: NO_KEY})
    return route, config


def remedy(error: lm15.LM15Error) -> Remedy:
    """Chooses what to do about a failed attempt."""
    if isinstance(error, lm15.AuthError | lm15.BillingError | lm15.ConfigurationError | lm15.UnsupportedModelError):
        return Remedy.STOP
    if isinstance(error, lm15.RateLimitError) and error.provider_code in QUOTA_CODES:
        return Remedy.STOP
    told = getattr(error, "should_retry", None)  # the endpoint's own word, see ``endpoint.wire``
    if told is not None:
        return Remedy.RETRY if told else Remedy.GIVE_UP
    if isinstance(error, lm15.InvalidRequestError) and error.status == MISSING:
        return Remedy.STOP
    if type(error) is lm15.ProviderError:  # the reply is no JSON: a gateway spoke, not the model
        return Remedy.RETRY
    return Remedy.RETRY if isinstance(error, lm15.RETRYABLE_ERRORS) else Remedy.GIVE_UP


def unreachable(error: BaseException | None) -> bool:
    """True when nobody listens at the endpoint: connection refused, or no such host."""
    while error is not None:
        if isinstance(error, ConnectionRefusedError | socket.gaierror):
            return True
        error = error.__cause__ or error.__context__
    return False


def may_have_been_billed(error: lm15.LM15Error) -> bool:
    """True when the model may have worked for nothing: a time-out, a broken connection, garbage."""
    if isinstance(error, lm15.TimeoutError):
        return error.status is None
    broken = isinstance(error, lm15.TransportError) or type(error) is lm15.ProviderError
    return broken and not (isinstance(error, UnreadError) or unreachable(error))


def service_error(error: lm15.LM15Error, spec: LMSpec) -> LMServiceError:
    """The failure with what to do about it; never with a key."""
    where = f"--lm {spec.model}"
    endpoint = spec.api_base or f"the {spec.provider} API"
    said = first_line(error).partition("; this is lm15's")[0]  # its advice is for its own callers
    if isinstance(error, lm15.NotConfiguredError):
        keys = " or ".join(error.env_keys) or f"the key of {spec.provider}"
        return LMServiceError(f"{where}: no API key found. Set {keys} in the environment, or leave --lm out.")
    if isinstance(error, lm15.AuthError):
        keys = " or ".join(error.env_keys) or f"the key of {spec.provider}"
        return LMServiceError(f"{where}: {endpoint} refused the key ({said}). Check {keys} in the environment.")
    if isinstance(error, lm15.BillingError) or error.provider_code in QUOTA_CODES:
        return LMServiceError(f"{where}: {endpoint} says the quota is used up ({said}). Check the account's billing.")
    if isinstance(error, lm15.InvalidRequestError) and error.status != MISSING:
        return LMServiceError(f"{where}: {endpoint} refuses what it is asked: {said}. Check --lm and --api-base.")
    if isinstance(error, lm15.ConfigurationError | lm15.UnsupportedModelError | lm15.InvalidRequestError):
        return LMServiceError(f"{where}: {endpoint} does not serve it ({said}). Check the model's name and --api-base.")
    if unreachable(error):
        return LMServiceError(f"{where}: nobody answers at {endpoint}. Start the server, or check --api-base.")
    return LMServiceError(f"{where}: {endpoint} keeps failing ({said}). Try again later: what is finished is kept.")


def _cleaned(error: Exception) -> Exception:
    """The error without secrets: whoever catches it may print it."""
    error.args = tuple(clean(one) if isinstance(one, str) else one for one in error.args)
    if isinstance(getattr(error, "message", None), str):
        error.message = clean(error.message)  # type: ignore[attr-defined]  # of DSPy's errors
    return error


def first_line(error: BaseException) -> str:
    """The first line of an error's message, without the client's own advice; endpoints may echo a key in it."""
    line = (clean_error(str(error)).strip().splitlines() or [type(error).__name__])[0].strip()
    return line[:200]
