"""Opens a model so that every call to it passes journal, caps and meter, whoever makes it."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import asdict, replace
from functools import partial
from typing import NoReturn, Self, get_args

import dspy
from dspy import lm15
from dspy.clients.base_lm import BaseLM
from dspy.lm15 import (
    Config,
    Message,
    Request,
    Response,
    TextPart,
    request_from_openai_chat,
)
from dspy.lm15 import (
    Usage as TokenUsage,
)
from dspy.utils.callback import BaseCallback

from judgec.errors import UserError
from judgec.lm import logprobs
from judgec.lm.backend import Backend, Retries, service_error
from judgec.lm.calls import Answered, Calls
from judgec.lm.endpoint.exchange import Chat, Plain, system_text
from judgec.lm.endpoint.features import SettingRefusedError
from judgec.lm.endpoint.pool import open_endpoint
from judgec.lm.journal.journal import Journal
from judgec.lm.max_wait import MaxWait
from judgec.lm.prices import price
from judgec.lm.spec import FUNCTION, LMSpec
from judgec.lm.usage import Budget, Usage

PREFLIGHT_TOKENS = 16
MOST_BEGINNINGS = 32  # of prompts, hashed
FINISHES = frozenset(get_args(lm15.FinishReason))
_rollout: ContextVar[int | None] = ContextVar("judgec_rollout", default=None)


class JournaledClient:
    """The engine of a ``dspy.LM``: makes keys and requests, and sends every call through ``Calls``.

    Args:
        spec: The model.
        calls: Journal, single flight, budget and retries around the backend.
    """

    def __init__(self, spec: LMSpec, calls: Calls) -> None:
        self.calls = calls
        first = [{"role": "user", "content": "-"}]
        body = {"model": spec.model, "messages": first, **spec.sampling}
        self._given: Config = request_from_openai_chat(body).config
        self._without: frozenset[str] | None = None
        self._begun: dict[tuple[object, ...], hashlib._Hash] = {}
        self._strict: dict[str, tuple[Config, bytes]] = {}
        self._prefix = hashlib.sha256(json.dumps([spec.model, calls.backend.identity]).encode())
        calls.smallest = self.smallest

    @property
    def spec(self) -> LMSpec:
        """The model, without the settings that it has refused."""
        return self.calls.features.spec

    @property
    def refused(self) -> bool:
        """True if settings were given up."""
        return bool(self.calls.features.without)

    def complete(self, request: Request) -> Response:
        """One call of ``dspy.LM``, with the rollout that its caller asked for."""
        return _response(self.call(partial(_keyed, self, request, _rollout.get())), self.spec)

    def call(self, made: Callable[[], tuple[Request | Plain, bytes]]) -> Answered:
        """Make a call, once more where a setting of it is refused.

        Args:
            made: The request and its key, without what is refused by then.

        Raises:
            ServiceError, BudgetError, lm15.LM15Error: As ``Calls.call``.
        """
        while True:
            with suppress(SettingRefusedError):
                return self.calls.call(*made())

    async def acall(
        self, made: Callable[[], tuple[Request | Plain, bytes]], on_throttled: Callable[[], None]
    ) -> Answered:
        """The same by a coroutine."""
        while True:
            with suppress(SettingRefusedError):
                return await self.calls.acall(*made(), on_throttled)

    def smallest(self) -> Plain:
        """A tiny question, to see whether the model answers."""
        asked = self.plain([{"role": "user", "content": "Reply with the one word: ready"}])
        if self.spec.thinks:  # thinking alone may take more
            return asked
        return asked._replace(config=replace(asked.config, max_tokens=PREFLIGHT_TOKENS))

    def plain(self, messages: Chat, schema: str | None = None, item: Mapping[str, object] | None = None) -> Plain:
        """A request with the spec's settings, as ``dspy.LM`` would make of these messages.

        Args:
            messages: The rendered prompt.
            schema: JSON schema that the reply must meet, where the endpoint can see to that.
            item: The fields of the item; a function is called with them, a model never sees them.
        """
        kept = item if self.spec.provider == FUNCTION else None
        return Plain(self.spec.model, messages, self._settings_for(schema)[0], kept)

    def digest(self, messages: Chat, rollout: int | None = None, schema: str | None = None) -> bytes:
        """The journal's key of a call with the spec's settings, as of the same call by ``dspy.LM``."""
        settings = self._settings_for(schema)[1]
        return self._digest([(m["role"], m["content"]) for m in messages], settings, rollout)

    def _settings_for(self, schema: str | None) -> tuple[Config, bytes]:
        """The settings of a call, without those that the model refuses."""
        features = self.calls.features
        if self._without is not features.without:
            self._without, self._strict = features.without, {}
            self._config = features.fitted(self._given)
            self._settings = _settings(self._config)
        if schema is None:
            return self._config, self._settings
        if schema not in self._strict:
            wanted = {"type": "json_schema", "name": "judgment", "strict": True, "schema": json.loads(schema)}
            config = features.fitted(replace(self._given, response_format=wanted))
            self._strict[schema] = config, _settings(config)
        return self._strict[schema]

    def digest_of(self, request: Request, rollout: int | None = None) -> bytes:
        """The journal's key of any request."""
        turns: list[tuple[str, str]] = []
        if request.system is not None:
            turns.append(("system", system_text(request)))
        if any(part.type != "text" for message in request.messages for part in message.parts) or request.tools:
            turns.append(("request", json.dumps(asdict(request), sort_keys=True, default=str)))
        else:
            turns += [(message.role, message.text or "") for message in request.messages]
        usual, settings = self._settings_for(None)
        config = self.calls.features.fitted(request.config)
        return self._digest(turns, settings if config == usual else _settings(config), rollout)

    def _digest(self, turns: Sequence[tuple[str, str]], settings: bytes, rollout: int | None) -> bytes:
        """The first of several turns is hashed once: instructions and demonstrations are those of every item."""
        beginning = (settings, rollout, *turns[:-1])
        begun = self._begun.get(beginning)
        if begun is None:
            begun = self._prefix.copy()
            begun.update(b"%b|%d" % (settings, -1 if rollout is None else rollout))
            for turn in turns[:-1]:
                begun.update(_turn(*turn))
            self._begun = {**(self._begun if len(self._begun) < MOST_BEGINNINGS else {}), beginning: begun}
        digest = begun.copy()
        for turn in turns[-1:]:
            digest.update(_turn(*turn))
        return digest.digest()

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Programs are copied with their LM; the journal, the meter and the caps stay the same ones."""
        return self


def _keyed(client: JournaledClient, request: Request, rollout: int | None) -> tuple[Request, bytes]:
    return request, client.digest_of(request, rollout)


class AsyncJournaledClient:
    """The same client for coroutines."""

    def __init__(self, client: JournaledClient) -> None:
        self._client = client

    async def complete(self, request: Request) -> Response:
        """As ``JournaledClient.complete``."""
        client, rollout = self._client, _rollout.get()
        made = partial(_keyed, client, request, rollout)
        return _response(await client.acall(made, lambda: None), client.spec)

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """As ``JournaledClient``."""
        return self


class _Rollouts(BaseCallback):  # type: ignore[misc]  # DSPy's classes are untyped
    """Tells the client which rollout is asked: DSPy keeps ``rollout_id`` from the engine."""

    def on_lm_start(self, call_id: str, instance: BaseLM, inputs: dict[str, object]) -> None:  # noqa: ARG002 - DSPy's
        given = inputs.get("kwargs")
        chosen = given.get("rollout_id") if isinstance(given, dict) else None
        _rollout.set(instance.kwargs.get("rollout_id") if chosen is None else chosen)


class NobodyAsked:
    """Where no model is named, as by ``--lm embedded``: a judge that asks one is refused."""

    identity = ""

    def complete(self, request: Request) -> NoReturn:  # noqa: ARG002 - as it is called
        """Refuses.

        Raises:
            UserError: Always.
        """
        raise UserError(
            "no model is named, and this judge asks one. Name it, --lm provider/name, or compile a judge of the "
            "evidence alone: judgec compile-judge LABELS --name NAME."
        )

    async def acomplete(self, request: Request) -> NoReturn:
        """As ``complete``."""
        self.complete(request)

    async def aclose(self) -> None:
        """Nothing is open."""


def open_lm(
    spec: LMSpec,
    *,
    journal: Journal | None,
    budget: Budget,
    usage: Usage,
    backend: Backend | None = None,
    retries: Retries | None = None,
    max_wait: MaxWait | None = None,
    environ: Mapping[str, str] | None = None,
) -> dspy.LM:
    """The model behind ``spec`` as a ``dspy.LM`` that never pays a finished call twice and never passes a
    cap.

    Args:
        spec: The model.
        journal: Where finished calls are kept; None keeps none.
        budget: The caps; share it between the models of one run.
        usage: The meter; share it likewise.
        backend: Who makes the attempts, whatever the model; by default ``open_backend`` decides.
        retries: How failed attempts are repeated.
        max_wait: How long a call waits for an endpoint that asks for time; share it between the models of a run.
        environ: Where keys are looked up; by default the process's environment.

    Returns:
        An LM for DSPy modules and optimizers, and for ``Executor``; ``lm.engine`` is its ``JournaledClient``.

    Raises:
        UserError: When dollars are capped and the model has no list price.
    """
    if budget.usd is not None and price(spec.model) is None:
        raise UserError(
            f"--max-cost: there is no list price for {spec.model}, so its cost cannot be capped. "
            "Cap the calls with --budget instead."
        )
    if backend is None:
        backend = open_backend(spec, environ)
    calls = Calls(
        spec, backend, journal=journal, budget=budget, usage=usage, retries=retries or Retries(), max_wait=max_wait
    )
    client = JournaledClient(spec, calls)
    # No cache and no retries of DSPy's own: the client has both, and DSPy's cache ignores the endpoint.
    return dspy.LM(
        spec.model,
        engine=client,
        async_engine=AsyncJournaledClient(client),
        cache=False,
        num_retries=0,
        callbacks=[_Rollouts()],
        **spec.sampling,
    )


def open_backend(spec: LMSpec, environ: Mapping[str, str] | None = None) -> Backend:
    """Opens the backend of a model's calls: an endpoint's pooled client, DSPy's, or one that refuses."""
    if spec.no_model:
        return NobodyAsked()
    return open_endpoint(spec, environ)


def client_of(lm: dspy.LM) -> JournaledClient:
    """The client of an LM made by ``open_lm``.

    Raises:
        TypeError: When it was made otherwise.
    """
    engine = lm.engine
    if not isinstance(engine, JournaledClient):
        raise TypeError("this LM was not made by open_lm")
    return engine


def preflight(lm: dspy.LM, *, keep: bool = False) -> None:
    """One tiny call that shows whether the model can be reached at all.

    Args:
        lm: From ``open_lm``.
        keep: Whether it is journaled like any other call, so that a run that is resumed does not pay it again, and
            an endpoint that only asks to wait is good enough; by default it is made whatever the journal says.

    Raises:
        ServiceError: When it cannot, with what to do: the variable that is missing, the URL that is dead.
    """
    client = client_of(lm)
    if client.spec.in_process:
        return
    try:
        while True:
            with suppress(SettingRefusedError):  # found out here, so that all items are asked alike
                request = client.smallest().request()
                client.calls.preflight(request, client.digest_of(request) if keep else None)
                break
    except lm15.RateLimitError as error:
        if not keep:
            raise service_error(error, client.spec) from error
        # Somebody answers, and the calls of the run know how to wait.
    except lm15.LM15Error as error:
        raise service_error(error, client.spec) from error


def _turn(role: str, text: str) -> bytes:
    body = text.encode("utf-8", "surrogatepass")
    return b"|%b|%d|%b" % (role.encode(), len(body), body)  # the length: no text can imitate a turn


def _settings(config: Config) -> bytes:
    """Everything that may change the reply, as bytes; where a provider's cache may begin to forget does not."""
    given = {name: value for name, value in asdict(config).items() if value not in (None, ()) and name != "cache"}
    return json.dumps(given, sort_keys=True, default=str).encode()


def _response(answered: Answered, spec: LMSpec) -> Response:
    """The reply as DSPy sees it; one that was not paid for now reports no tokens, so that nobody counts it twice."""
    reply = answered.reply
    usage = (
        TokenUsage()
        if answered.cached
        else TokenUsage(input_tokens=reply.input_tokens, output_tokens=reply.output_tokens)
    )
    return Response(
        id=None,
        model=reply.served_by or spec.model,
        message=Message.assistant([TextPart(reply.text)]),
        finish_reason=reply.finish if reply.finish in FINISHES else "error",
        usage=usage,
        logprobs=logprobs.to_tokens(logprobs.load(reply.logprobs)),
        logprobs_complete=True,
    )
