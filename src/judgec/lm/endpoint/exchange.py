"""Holds what is asked of a model and what comes back, in the form that bulk judging can afford; and its cost."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Self

from dspy import lm15
from dspy.lm15 import CacheConfig, Config, Message, Request, Response

from judgec.lm.endpoint import untrusted
from judgec.lm.journal.journal import JournaledReply
from judgec.lm.logprobs import Logprobs, condense, dump
from judgec.lm.prices import BYTES_PER_TOKEN, TOKENS_PER_MESSAGE, price
from judgec.lm.redaction import cleaner
from judgec.lm.spec import LMSpec

MARKED = "anthropic/"  # before models whose prompts say where their fixed part ends; other providers find out
MARGIN = 1.5  # a prompt may have this many times the tokens that its length suggests
Chat = Sequence[Mapping[str, str]]

_TURNS: dict[str, Callable[[str], Message]] = {
    "user": Message.user,
    "assistant": Message.assistant,
    "developer": Message.developer,
}


class Plain(NamedTuple):
    """A request that is text alone, as judges ask: the client's own objects cost more than a lookup.

    Args:
        model: As in the spec.
        messages: The rendered prompt, ``role`` and ``content`` each.
        config: Sampling settings; one object for all calls that share them.
        item: The fields of the item, for a function in the place of a model (``lm.functions``); else None.
    """

    model: str
    messages: Chat
    config: Config
    item: Mapping[str, object] | None = None

    def request(self) -> Request:
        """The same for DSPy's client.

        Raises:
            lm15.InvalidRequestError: When a text is no valid Unicode, which no endpoint can be sent.
        """
        try:
            "".join(message["content"] for message in self.messages).encode()
        except UnicodeEncodeError as error:
            raise lm15.InvalidRequestError(f"the prompt is not valid Unicode: {error.reason}") from None
        system = "".join(m["content"] for m in self.messages if m["role"] == "system") or None
        turns = tuple(_TURNS[m["role"]](m["content"]) for m in self.messages if m["role"] != "system")
        config = self.config
        if self.model.startswith(MARKED) and (system or len(turns) > 1):
            # The item is in the last message; all before it is the same for every item.
            where = {"prefix_until_index": len(turns) - 2} if len(turns) > 1 else {"prefix": "stable"}
            config = replace(config, cache=CacheConfig(**where))
        return Request(model=self.model, messages=turns, system=system, config=config)


class Completion(NamedTuple):
    """The answer of a model; token counts are the provider's own, None where it gives none."""

    text: str
    finish: str
    served_by: str
    logprobs: Logprobs | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    cache_writes: int | None = None

    @classmethod
    def of(cls, response: Response) -> Self:
        """The same from the client's object, whose fields are as untrusted as the reply that they were read from."""
        usage = response.usage
        text, finish = untrusted.text(response.text), untrusted.name(response.finish_reason)
        refused = [part.text for part in response.message.parts if isinstance(part, lm15.RefusalPart)]
        if refused and finish != untrusted.FILTERED:
            text, finish = text or untrusted.text(refused[0]), untrusted.REFUSED
        return cls(
            text=text,
            finish=finish,
            served_by=untrusted.name(response.model),
            logprobs=condense(response.logprobs),
            input_tokens=untrusted.count(usage.input_tokens),
            output_tokens=untrusted.count(usage.output_tokens),
            reasoning_tokens=untrusted.count(usage.reasoning_tokens),
            cached_tokens=untrusted.count(usage.cache_read_tokens),
            cache_writes=untrusted.count(usage.cache_write_tokens),
        )

    @classmethod
    def faulty(cls, fault: str, model: str, output_tokens: int | None = None) -> Self:
        """Stand-in for a reply that was paid for and holds nothing to read: one of ``untrusted.FAULTS``."""
        return cls(text="", finish=fault, served_by=model, output_tokens=output_tokens)


class Bill:
    """Cost of the calls of one model.

    Args:
        spec: The model.
        share: Of the list price.
    """

    def __init__(self, spec: LMSpec, share: float = 1.0) -> None:
        self._spec = spec
        self._share = share
        self._rate = price(spec.model)
        self._clean = cleaner()  # what a server says may hold the key that it was sent

    def most(self, request: Request | Plain) -> float:
        """The most dollars that a call can cost; 0 when nobody knows."""
        return 0.0 if self._rate is None else self.at_most(prompt_tokens(request), self.reply_tokens(request))

    def at_most(self, prompt: float, reply: int) -> float:
        """The same by tokens.

        Args:
            prompt: Tokens, by length.
            reply: Tokens, the longest that is asked for.
        """
        if self._rate is None:
            return 0.0
        dearest = max(self._rate.input, self._rate.written)
        return self._share * (prompt * MARGIN * dearest + reply * self._rate.output)

    def reply_tokens(self, request: Request | Plain) -> int:
        """The longest reply that is asked for, in tokens."""
        return request.config.max_tokens or self._spec.reply_tokens

    def record(self, request: Request | Plain, answer: Response | Completion, now: float) -> JournaledReply:
        """The reply as the journal keeps it, with what it cost."""
        reply = answer if isinstance(answer, Completion) else Completion.of(answer)
        by_length = 0.0 if reply.input_tokens is not None else prompt_tokens(request)
        return self.of(reply, by_length, self.reply_tokens(request), now)

    def of(self, reply: Completion, prompt: float, asked_for: int, now: float) -> JournaledReply:
        """The same for whoever has no request any more.

        Args:
            reply: What was answered.
            prompt: Tokens of the prompt by its length, for a reply that does not say.
            asked_for: The longest reply that was asked for, in tokens.
            now: Seconds since the epoch.
        """
        if len(reply.text) > untrusted.most_text(asked_for):
            reply = Completion.faulty(untrusted.TOO_LONG, reply.served_by, asked_for)
        asked, said = _billed_tokens(self._spec, prompt, reply)
        usd, rate, logprobs = None, self._rate, dump(reply.logprobs)
        if rate is not None:
            cached = min(reply.cached_tokens or 0, asked)
            written = min(reply.cache_writes or 0, asked - cached)
            fresh = asked - cached - written
            usd = fresh * rate.input + cached * rate.cached + written * rate.written + said * rate.output
            usd *= self._share
        return JournaledReply(
            model=self._spec.model,
            served_by=self._clean(reply.served_by),
            text=self._clean(reply.text),
            finish=self._clean(reply.finish),
            logprobs=None if logprobs is None else self._clean(logprobs),
            input_tokens=asked,
            output_tokens=said,
            usd=usd,
            finished=now,
        )


def chat_of(turns: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Roles and texts as messages."""
    return [{"role": role, "content": text} for role, text in turns]


def system_text(request: Request) -> str:
    """The system prompt as one text; empty when there is none."""
    system = request.system
    if system is None or isinstance(system, str):
        return system or ""
    return "".join(getattr(part, "text", "") for part in system)


def prompt_tokens(request: Request | Plain) -> float:
    """By the prompt's length, as in ``prices.estimate_tokens``."""
    if isinstance(request, Plain):
        texts = [message["content"] for message in request.messages]
    else:
        texts = [message.text or "" for message in request.messages]
        texts.append(system_text(request))
    size = sum([len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts])
    return size / BYTES_PER_TOKEN + TOKENS_PER_MESSAGE * len(texts)


def _billed_tokens(spec: LMSpec, prompt: float, reply: Completion) -> tuple[int, int]:
    """Billed tokens of prompt and reply: as reported, each provider in its own way, else by length."""
    asked, said = reply.input_tokens, reply.output_tokens
    if asked is None:
        asked = math.ceil(prompt)
    elif spec.provider == "anthropic":  # cached tokens are reported beside the input, by others within it
        asked += (reply.cached_tokens or 0) + (reply.cache_writes or 0)
    if said is None:
        said = math.ceil(len(reply.text.encode()) / BYTES_PER_TOKEN)
    elif spec.provider in {"gemini", "vertex_ai", "xai"}:  # thinking is reported beside the output
        said += reply.reasoning_tokens or 0
    return asked, said
