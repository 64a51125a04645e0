"""Remembers which parameters an endpoint refuses: calls are then made without them."""

import re
from dataclasses import replace

from dspy import lm15
from dspy.lm15 import Config, Request

from judgec.lm.endpoint.exchange import Plain

REFUSED = {400, 422}
# The parameter that each complaint is about, as servers write it; the more specific one first.
_COMPLAINTS = (
    ("logprobs", re.compile(r"log_?probs?", re.IGNORECASE)),
    ("response_format", re.compile(r"response_?format|json[_ ]schema|structured|grammar|guided", re.IGNORECASE)),
)


class Features:
    """The optional parameters of one endpoint: a JSON schema for the reply, log-probabilities of its tokens."""

    def __init__(self) -> None:
        self._without: frozenset[str] = frozenset()
        self._plainer: list[tuple[Config, frozenset[str], Config]] = []

    def fit(self, request: Request | Plain) -> Request | Plain:
        """The request without what the endpoint is known to refuse."""
        return self._drop(request, self._without) if self._without else request

    def give_up(self, request: Request | Plain, error: "lm15.LM15Error") -> Request | Plain | None:
        """The request without what the endpoint has just refused, or None when that is not why it failed.

        Args:
            request: As it was sent.
            error: What came back. A complaint that names no parameter is taken to mean the schema, the rarer one.
        """
        if not isinstance(error, lm15.InvalidRequestError) or error.status not in REFUSED:
            return None
        if isinstance(error, lm15.ContextLengthError):
            return None
        asked = {name for name, _ in _COMPLAINTS if getattr(request.config, name) is not None}
        named = [name for name, pattern in _COMPLAINTS if name in asked and pattern.search(str(error))]
        if named:
            self._without |= {named[0]}
            return self._drop(request, frozenset(named[:1]))
        return self._drop(request, frozenset({"response_format"})) if "response_format" in asked else None

    def _drop(self, request: Request | Plain, names: frozenset[str]) -> Request | Plain:
        config = request.config
        if all(getattr(config, name) is None for name in names):
            return request
        for known, without, plainer in self._plainer:  # one object for all calls that share it
            if known is config and without == names:
                return _with(request, plainer)
        plainer = replace(config, **dict.fromkeys(names))
        self._plainer = [*self._plainer[-7:], (config, names, plainer)]
        return _with(request, plainer)


def _with(request: Request | Plain, config: Config) -> Request | Plain:
    return request._replace(config=config) if isinstance(request, Plain) else replace(request, config=config)
