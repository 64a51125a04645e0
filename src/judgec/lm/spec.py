"""Names a language model and how it is asked; never how it is paid for: no key is held here."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Literal, Self, TypedDict
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from judgec.errors import UserError
from judgec.lm.hosts import bare, host_of, named_endpoint, own_endpoint

NO_LM = "embedded"  # as no model is typed and saved: rules and evidence once stood in for one under this name
RECORDED = "recorded:"  # before the file of verdicts that are looked up in place of a model that is asked
FUNCTION = "function"  # as a provider, before the name of a Python function (``lm.functions``)
JURY = "jury:"  # before the names of compiled judges that are asked together, each with its own model
REFUSED = (
    "{model}: recorded verdicts, which answer for the items of their file alone; this asks about other texts. Name a "
    "language model with --lm, or a judge that was compiled with one."
)
Scalar = str | int | float | bool

MAX_TOKENS = 2048  # a judgment is a short reason and a grade; the cap makes the cost of a call bounded
REASONING_MAX_TOKENS = 16_000  # least that DSPy accepts for OpenAI's reasoning models: thinking counts as output
TIMEOUT = 120.0  # seconds without a byte
TOP_LOGPROBS = 8  # alternatives asked for at each token: the usual scales have at most seven grades

# OpenAI's reasoning families take neither temperature nor log-probabilities; "-chat" variants are not among
# them.
_REASONING = re.compile(r"^(?:o\d+(?:-.+)?|gpt-5(?:\.\d+)*(?!-chat)(?:-.*)?)$")
_GIVES_LOGPROBS = {"openai", "azure", "deepseek", "hosted_vllm"}
_OWNED = {  # set by judgec itself, or would carry a secret into files
    *("model", "messages", "n", "stream", "cache", "rollout_id", "num_retries", "temperature", "max_tokens"),
    *("api_key", "api_base", "base_url", "headers", "extra_headers", "timeout", "logprobs", "top_logprobs"),
    *("members", "max_completion_tokens", "without"),
}
OPTIONAL = ("temperature", "max_tokens", "max_completion_tokens", "logprobs")  # settings that a model may refuse
_THINKING = {"temperature", "max_tokens"}  # which models that think refuse


def members_of(card: Mapping[str, object]) -> dict[str, dict[str, Scalar]]:
    """What a card says of each judge of a jury, by name (``LMSpec.describe``); empty of one judge."""
    found: dict[str, dict[str, Scalar]] = json.loads(str(card.get("members", "{}")))
    return found


class LMSpec(BaseModel):
    """One model and its settings, as named on the command line and recorded on the card.

    Args:
        model: ``embedded`` for none, ``recorded:FILE``, ``jury:NAME,NAME``, or ``provider/name`` as DSPy and LiteLLM
            write it (``openai/gpt-4o-mini``, ``anthropic/...``, ``ollama_chat/...``, ``hosted_vllm/...``).
        api_base: URL of an OpenAI-compatible endpoint, without credentials, or None for the provider's own.
        temperature: None means 0 where the model takes a temperature and the model's default where it does
            not.
        max_tokens: Longest reply in tokens; None means 2,048, and 16,000 for reasoning models.
        timeout: Seconds without a byte after which an attempt is given up.
        top_logprobs: Alternatives to ask for at each token, 0 for none; None asks where the provider is known
            to give them.
        extra: Further sampling parameters sent as they are (``top_p``, ``seed``, ``reasoning_effort``).
        members: Of a jury each juror's model, by the juror's name; else empty.
        without: Settings that the model refuses (``OPTIONAL``), so that it is asked without them. Without
            ``max_tokens`` the longest reply is asked for as ``max_completion_tokens``, and the other way round.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    api_base: str | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=TIMEOUT, gt=0)
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    extra: Mapping[str, Scalar] = Field(default_factory=dict)
    members: Mapping[str, "LMSpec"] = Field(default_factory=dict)
    without: tuple[str, ...] = ()

    @field_validator("model")
    @classmethod
    def _named(cls, model: str) -> str:
        if model.startswith(RECORDED):
            if not model.removeprefix(RECORDED).strip():
                raise ValueError(f"--lm {model}: names no file; recorded:VERDICTS.parquet is valid. Name the file.")
            return model
        if model.startswith(JURY):
            return model
        provider, slash, name = model.partition("/")
        if model != NO_LM and not (provider and slash and name and not re.search(r"\s", model)):
            raise ValueError(
                f"--lm: {model!r} names no model; valid is 'embedded' or 'provider/name' such as openai/gpt-4o-mini."
            )
        return model

    @field_validator("api_base")
    @classmethod
    def _plain_url(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("--api-base: not an http(s) URL; valid is for example http://127.0.0.1:8000/v1.")
        if parts.username or parts.password or parts.query:
            raise ValueError(
                "--api-base: the URL carries credentials or a query; give the bare URL "
                "and the key in the provider's environment variable."
            )
        return url.rstrip("/")

    @field_validator("extra")
    @classmethod
    def _free(cls, extra: Mapping[str, Scalar]) -> Mapping[str, Scalar]:
        if taken := sorted(_OWNED & extra.keys()):
            raise ValueError(f"--lm: {', '.join(taken)} cannot be an extra parameter; judgec sets it itself.")
        return dict(extra)

    @model_validator(mode="after")
    def _takes_temperature(self) -> Self:
        if self.reasoning and self.temperature is not None:
            raise ValueError(f"--lm: {self.model} is a reasoning model and takes no temperature. Leave it out.")
        return self

    @model_validator(mode="after")
    def _has_members(self) -> Self:
        if self.model.startswith(JURY) != bool(self.members):
            raise ValueError(f"--lm {self.model}: no model; compile-judge --candidate names several judges.")
        return self

    @classmethod
    def jury(cls, members: Mapping[str, "LMSpec"], *, api_base: str | None = None) -> Self:
        """Several models that are asked together.

        Args:
            members: Each juror's model, by the juror's name.
            api_base: The endpoint that all of them were given, or None.
        """
        return cls(model=f"{JURY}{','.join(members)}", members=dict(members), api_base=api_base)

    @classmethod
    def parse(
        cls,
        model: str,
        *,
        api_base: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        timeout: float = TIMEOUT,
        top_logprobs: int | None = None,
        extra: Mapping[str, Scalar] | None = None,
        without: Iterable[str] = (),
        environ: Mapping[str, str] | None = None,
    ) -> Self:
        """The spec for what a user typed, at the endpoint that was typed, else at the one that the environment names.

        Args:
            model: As the class has it; so are the settings.
            api_base: As typed. The provider's own URL is the same as none.
            temperature: See the class.
            max_tokens: See the class.
            timeout: See the class.
            top_logprobs: See the class.
            extra: See the class.
            without: See the class.
            environ: Where the provider's variable is looked up; by default the process's environment.

        Raises:
            UserError: When it names no model or a setting is out of range.
        """
        base = api_base
        if base is None and (named := named_endpoint(model, environ)) is not None:
            base = named.url
        try:
            return cls(
                model=model,
                api_base=None if base is not None and base.rstrip("/") == own_endpoint(model) else base,
                temperature=temperature,
                max_tokens=max_tokens,
                timeout=timeout,
                top_logprobs=top_logprobs,
                extra=dict(extra or {}),
                without=tuple(name for name in OPTIONAL if name in without),
            )
        except ValidationError as error:
            faults = (f"{'.'.join(map(str, e['loc']))} {e['msg']}" for e in error.errors(include_input=False))
            raise UserError("; ".join(fault.split("Value error, ")[-1] for fault in faults)) from None

    @classmethod
    def from_card(
        cls,
        card: Mapping[str, Scalar | None],
        *,
        model: str | None = None,
        api_base: str | None = None,
        asks: bool = True,
        environ: Mapping[str, str] | None = None,
    ) -> Self:
        """The spec that ``describe`` recorded, as far as it is safe to take from a file.

        The endpoint is never taken from a card: whoever changed the file could redirect the key. Where nobody typed
        one, the provider's own or the environment's must be the one that the card names.

        Args:
            card: From ``describe``.
            model: Another model, which then has its own default settings.
            api_base: The endpoint to use, as typed.
            asks: Whether it will be asked at all; else it does not matter where.
            environ: As ``parse``.

        Raises:
            UserError: When the card names no model, or another endpoint than the one that would be asked.
        """
        recorded = str(card.get("model", ""))
        if recorded.startswith(JURY):
            members = members_of(card)
            looked_up = {name for name, one in members.items() if str(one.get("model")).startswith(RECORDED)}
            if model is not None and not (looked_up and model.startswith(RECORDED)):
                also = f", or recorded:FILE with verdicts of {', '.join(sorted(looked_up))}" if looked_up else ""
                raise UserError(
                    f"--lm {model}: the judge is a jury, {recorded.removeprefix(JURY)}, each with its own model; they "
                    f"are valid{also}. Leave --lm out."
                )
            return cls.jury(
                {
                    name: LMSpec.from_card(
                        one,
                        model=model if name in looked_up else None,
                        api_base=api_base,
                        asks=asks,
                        environ=environ,
                    )
                    for name, one in members.items()
                },
                api_base=api_base,
            )
        if model is not None and recorded.startswith(RECORDED) != model.startswith(RECORDED):
            raise UserError(
                f"--lm {model}: the judge was compiled for {recorded or 'no model'}; "
                + (
                    "recorded:FILE with verdicts of the same judge is valid. Name such a file."
                    if recorded.startswith(RECORDED)
                    else "recorded verdicts answer for judges that were compiled from some. Name a model."
                )
            )
        if model is not None and model != recorded:
            moved = cls.parse(model, api_base=api_base, environ=environ)
            if asks and api_base is None and moved.provider == recorded.partition("/")[0]:
                moved.require_host(card, environ=environ)
            return moved
        found = cls.parse(recorded, api_base=api_base, environ=environ, **_settings_of(card))
        if asks and api_base is None:
            found.require_host(card, environ=environ)
        return found

    def base_beside(self, card: Mapping[str, Scalar | None]) -> str | None:
        """The endpoint, as typed, of a judge that works with its own model in a run which asks this one.

        It is never taken from the card: what was typed for the run holds for every model of its provider, and for all
        where the run itself asks none.
        """
        same = self.no_model or str(card.get("model")).partition("/")[0] == self.provider
        return self.typed_base if same else None

    def thinking(self, effort: str | None) -> Self:
        """The same with how long it is to think; of several models each.

        Raises:
            UserError: A model of OpenAI's that does not think.
        """
        if effort is None:
            return self
        if self.members:
            return self.model_copy(
                update={"members": {name: one.thinking(effort) for name, one in self.members.items()}}
            )
        if self.no_model or (self.provider == "openai" and self.api_base is None and not self.reasoning):
            raise UserError(
                f"--reasoning-effort {effort}: {self.model} does not take it; a model that thinks is valid. Drop it."
            )
        return self.model_copy(update={"extra": {**self.extra, "reasoning_effort": effort}})

    def require_host(self, card: Mapping[str, Scalar | None], *, environ: Mapping[str, str] | None = None) -> None:
        """Refuse to ask at another endpoint than the one that a judge was compiled at, where nobody typed it.

        Args:
            card: Of the judge, as ``describe`` recorded it.
            environ: As ``parse``.

        Raises:
            UserError: With both endpoints to type.
        """
        recorded = card.get("api_base")
        before = None if recorded is None else bare(str(recorded))
        if before == own_endpoint(self.model):
            before = None
        if self.no_model or self.recorded is not None or before == self.api_base:
            return
        named = named_endpoint(self.model, environ)
        why = f", as {named.variable} says" if named is not None else ""
        shown = [before or own_endpoint(self.model), self.api_base or own_endpoint(self.model)]
        options = " or ".join(f"--api-base {url}" for url in shown if url)
        raise UserError(
            f"{card.get('model')}: the judge was compiled at {before or self.own_host}, and {self.model} would now be "
            f"asked at {self.api_base or self.own_host}{why}; the endpoint has to be typed when it is another. "
            f"Add {options}."
        )

    @property
    def no_model(self) -> bool:
        """True where no language model is asked, and for a jury of such judges."""
        return self.model == NO_LM or (bool(self.members) and all(one.no_model for one in self.members.values()))

    @property
    def in_process(self) -> bool:
        """True for what is computed in this process, without a service: evidence, rules, a Python function."""
        return self.no_model or self.provider == FUNCTION

    @property
    def recorded(self) -> str | None:
        """The file of recorded verdicts, or None for a model that is asked."""
        return self.model.removeprefix(RECORDED) if self.model.startswith(RECORDED) else None

    @property
    def provider(self) -> str:
        """The part before the slash."""
        return self.model.partition("/")[0]

    @property
    def typed_base(self) -> str | None:
        """Its endpoint as it is typed, so that another model of its provider is asked there; None as the usual one is.

        The environment's endpoint is the usual one: another judge may have been compiled elsewhere.
        """
        named = named_endpoint(self.model)
        if self.api_base == (None if named is None else named.url):
            return None
        return self.api_base or own_endpoint(self.model)

    @property
    def own_host(self) -> str:
        """Host of the provider itself: host and port, or its name where the host is not known here."""
        own = own_endpoint(self.model)
        return f"the {self.provider} API" if own is None else host_of(own)

    @property
    def asked_at(self) -> str:
        """Model and host, for people: ``openai/m at 127.0.0.1:8000``; of a jury every juror's."""
        if self.members:
            return ", ".join(dict.fromkeys(one.asked_at for one in self.members.values()))
        if self.no_model:
            return "no model"
        if self.in_process or self.recorded is not None:
            return self.model
        return f"{self.model} at {self.own_host if self.api_base is None else host_of(self.api_base)}"

    @property
    def reasoning(self) -> bool:
        """True for OpenAI's reasoning models, which take no temperature."""
        return _REASONING.match(self.model.rpartition("/")[2].lower()) is not None

    @property
    def thinks(self) -> bool:
        """True for models that think before they answer, by their name or by the settings that they refuse."""
        return self.reasoning or not _THINKING.isdisjoint(self.without)

    @property
    def sampling(self) -> dict[str, Scalar]:
        """The sampling parameters of every call, in OpenAI's names; absent means the model's default."""
        longest = [name for name in ("max_tokens", "max_completion_tokens") if name not in self.without][:1]
        if self.provider == FUNCTION:
            return {}
        values: dict[str, Scalar] = {**self.extra, **dict.fromkeys(longest, self.reply_tokens)}
        if not self.reasoning and "temperature" not in self.without:
            values["temperature"] = 0.0 if self.temperature is None else self.temperature
        if (alternatives := self._alternatives()) and "logprobs" not in self.without:
            values["logprobs"] = True
            values["top_logprobs"] = alternatives
        return values

    @property
    def reply_tokens(self) -> int:
        """The longest reply that is asked for, in tokens."""
        return self.max_tokens or (REASONING_MAX_TOKENS if self.thinks else MAX_TOKENS)

    def _alternatives(self) -> int:
        if self.top_logprobs is not None:
            return self.top_logprobs
        return TOP_LOGPROBS if self.provider in {NO_LM, *_GIVES_LOGPROBS} and not self.reasoning else 0

    def describe(self) -> dict[str, Scalar | None]:
        """Settings for the card: the model, the endpoint and every sampling setting, in JSON-ready form."""
        if self.recorded is not None:
            return {"model": self.model}
        if self.members:
            described = {name: one.describe() for name, one in self.members.items()}
            members = json.dumps(described, sort_keys=True)
            return {"model": self.model, "api_base": self.api_base, "members": members}
        if self.provider == FUNCTION:
            return {"model": self.model, **self.extra}
        temperature: Scalar | Literal["model default"] = self.sampling.get("temperature", "model default")
        refused: dict[str, Scalar | None] = {"without": ",".join(self.without)} if self.without else {}
        whole = {"model": self.model, "api_base": self.api_base, **self.sampling, "temperature": temperature}
        return {**whole, **refused}


class _Settings(TypedDict):
    """Settings that a card records."""

    temperature: float | None
    extra: dict[str, Scalar]
    without: tuple[str, ...]


def _settings_of(card: Mapping[str, Scalar | None]) -> _Settings:
    temperature = card.get("temperature")
    return {
        "temperature": float(temperature) if isinstance(temperature, int | float) else None,
        "extra": {name: value for name, value in card.items() if name not in _OWNED and value is not None},
        "without": tuple(str(card.get("without") or "").split(",")),
    }
