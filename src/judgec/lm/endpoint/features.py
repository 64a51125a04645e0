"""Remembers which settings a model refuses: calls are then made without them, all alike."""

import re
from collections.abc import Callable, Collection
from dataclasses import replace

from dspy import lm15
from dspy.lm15 import Config, Request

from judgec.lm.endpoint.exchange import Plain
from judgec.lm.redaction import clean_error
from judgec.lm.spec import OPTIONAL, LMSpec

FORBIDDEN = 403
REFUSED = {400, FORBIDDEN, 422}
SCHEMA = "response_format"
LONGEST = ("max_tokens", "max_completion_tokens")  # two names of one setting
# The setting that each complaint is about, as servers write it; the more specific one first.
_COMPLAINTS = (
    ("logprobs", re.compile(r"log_?probs?", re.IGNORECASE)),
    (SCHEMA, re.compile(r"response_?format|json[_ ]schema|structured|grammar|guided", re.IGNORECASE)),
    ("temperature", re.compile(r"\btemperature\b", re.IGNORECASE)),
)
_LONGEST = re.compile(r"\bmax_(?:completion_)?tokens\b", re.IGNORECASE)
_TOO_LONG = re.compile(r"too (?:large|long|many|small)|exceed|context|at (?:least|most)|reached", re.IGNORECASE)
_ADVICE = re.compile(r"['\"`]?max_completion_tokens['\"`]? instead", re.IGNORECASE)


class SettingRefusedError(Exception):
    """The model refuses a setting that the call was made with: it is to be made again, under its new key."""


class Features:
    """The settings that one model may refuse: a schema, log-probabilities, a temperature, a longest reply.

    Args:
        spec: The model, with what it is known to refuse.
        say: Told of each that is given up.
    """

    def __init__(self, spec: LMSpec, say: Callable[[str], None] = lambda _: None) -> None:
        self.without = frozenset(spec.without)
        self._spec = spec
        self._say = say
        self._taken: set[str] = set()  # settings of calls that were answered
        self._plainer: list[tuple[Config, frozenset[str], Config]] = []

    @property
    def spec(self) -> LMSpec:
        """The model without what it refuses, as a card records it and as the journal's keys have it."""
        without = self.without - {SCHEMA}  # a judge asks for a schema where a reply could not be read, or is told to
        return self._as(without)

    def fit(self, request: Request | Plain) -> Request | Plain:
        """The request without what the model is known to refuse."""
        return self._drop(request, self.without) if self.without else request

    def fitted(self, config: Config) -> Config:
        """The same of a request's settings."""
        if not self.without:
            return config
        for known, without, plainer in self._plainer:  # one object for all calls that share it
            if known is config and without is self.without:
                return plainer
        plainer = self._without(config, self.without)
        self._plainer = [*self._plainer[-7:], (config, self.without, plainer)]
        return plainer

    def taken(self, request: Request | Plain) -> None:
        """A call was answered: what it was made with is not refused."""
        if len(self._taken) < len(_COMPLAINTS) + len(LONGEST):
            self._taken |= self._made_with(request.config)

    def give_up(self, request: Request | Plain, error: "lm15.LM15Error") -> Request | Plain | None:
        """Learn from a refusal.

        Args:
            request: As it was sent.
            error: What came back. A complaint that names no setting is taken to mean the schema, the rarer one.

        Returns: The request without the schema, for this call alone; None when that is not why it failed.

        Raises:
            SettingRefusedError: A setting was refused by name: it is left out from now on.
        """
        if getattr(error, "status", None) not in REFUSED or isinstance(error, lm15.ContextLengthError):
            return None
        said, made_with = str(error), self._made_with(request.config)
        named = [name for name, pattern in _COMPLAINTS if name in made_with and pattern.search(said)]
        if not named and (longest := self._longest_refused(said, made_with)) is not None:
            named = [longest]
        # What was taken before is no matter of the model: the complaint quotes the item, say.
        if stale := [name for name in named if name in self.without]:
            raise SettingRefusedError(stale[0])
        named = [name for name in named if name == SCHEMA or name not in self._taken]
        if named:
            self.without |= {named[0]}
            self._say(self._told(named[0], said))
            raise SettingRefusedError(named[0])
        guessed = SCHEMA in made_with and error.status != FORBIDDEN
        return self._drop(request, frozenset({SCHEMA})) if guessed else None

    def _as(self, without: Collection[str]) -> LMSpec:
        return self._spec.model_copy(update={"without": tuple(name for name in OPTIONAL if name in without)})

    def _told(self, name: str, said: str) -> str:
        instead = ""
        if name in LONGEST and not self.without.issuperset(LONGEST):
            instead = f" (with {next(one for one in LONGEST if one not in self.without)} instead)"
        line = clean_error(said).strip().splitlines()[0][:200]
        return (
            f"{self._spec.model} refuses {name} and is asked without it for every item{instead}; an agreement that was "
            f"measured with {name} does not hold for this judge ({line})"
        )

    def _longest_refused(self, said: str, made_with: set[str]) -> str | None:
        """The name of the longest reply that is refused: the first one that is named, but for the advice."""
        if not made_with.intersection(LONGEST) or _TOO_LONG.search(said):
            return None
        found = _LONGEST.search(_ADVICE.sub("", said)) or _LONGEST.search(said)
        if found is None:
            return None
        name = found[0].lower()
        return name if name in made_with else next(one for one in LONGEST if one in made_with)

    def _made_with(self, config: Config) -> set[str]:
        made = {name for name, _ in _COMPLAINTS if getattr(config, name) is not None}
        further = config.extensions or {}
        if config.max_tokens is not None:
            made.update(LONGEST)  # the client knows which of the names the provider takes
        return made | {name for name in LONGEST if name in further}

    def _drop(self, request: Request | Plain, names: frozenset[str]) -> Request | Plain:
        config = self.fitted(request.config) if names is self.without else self._without(request.config, names)
        if config == request.config:
            return request
        return request._replace(config=config) if isinstance(request, Plain) else replace(request, config=config)

    def _without(self, config: Config, names: frozenset[str]) -> Config:
        plain = {name: None for name, _ in _COMPLAINTS if name in names and getattr(config, name) is not None}
        plainer = replace(config, **plain) if plain else config
        most = config.max_tokens
        if most is None or names <= {SCHEMA, "logprobs"}:
            return plainer
        if most == self._spec.reply_tokens:  # none that the call itself chose
            most = self._as(names).reply_tokens
        left = [name for name in LONGEST if name not in names]
        if len(left) == len(LONGEST):
            return replace(plainer, max_tokens=most)
        further = {**(config.extensions or {}), **dict.fromkeys(left, most)}
        return replace(plainer, max_tokens=None, extensions=further or None)
