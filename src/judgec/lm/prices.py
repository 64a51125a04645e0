"""List prices, read from the model table inside the installed packages: no import of LiteLLM, no network."""

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from judgec.lm.spec import FUNCTION, NO_LM, LMSpec

BYTES_PER_TOKEN = 4  # English text in current tokenizers; other scripts have more bytes and more tokens a letter
TOKENS_PER_MESSAGE = 4  # role and separators
BATCH_SHARE = 0.5  # of the list price, in a batch: OpenAI's and Anthropic's price lists, of every kind of token
FREE = {NO_LM, FUNCTION, "ollama", "ollama_chat"}
TYPICAL_REPLY = 120  # tokens of a reason, a grade and a confidence

# Both are the same upstream table; LiteLLM's is newer, DSPy's is there even when LiteLLM is not.
_TABLES = (
    ("litellm", "model_prices_and_context_window_backup.json"),
    ("dspy", "clients/model_metadata/snapshot.json.gz"),
)

Entry = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a token.

    Args:
        input: Of the prompt.
        output: Of the reply.
        cached: Of the prompt, read from the provider's cache.
        written: Of the prompt, written to that cache.
    """

    input: float
    output: float
    cached: float
    written: float


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Expected cost of calls; ``usd`` is None when a model has no list price."""

    calls: int = 0
    tokens: int = 0
    usd: float | None = 0.0

    def __add__(self, other: "CostEstimate") -> "CostEstimate":
        """Both; dollars are unknown where one's are."""
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return CostEstimate(self.calls + other.calls, self.tokens + other.tokens, usd)

    def of(self, calls: int) -> "CostEstimate":
        """The cost of so many calls of the same kind."""
        share = calls / max(1, self.calls)
        return CostEstimate(calls, int(self.tokens * share), None if self.usd is None else self.usd * share)


@cache
def price(model: str) -> Price | None:
    """The list price of ``provider/name`` whatever the endpoint, or None when no table names it.

    What runs on one's own machine costs nothing. A name under another provider is never taken for this one.
    """
    provider, _, name = model.partition("/")
    if provider in FREE:
        return Price(0.0, 0.0, 0.0, 0.0)
    for package, file in _TABLES:
        table = _table(package, file)
        entry = table.get(model)
        if entry is None and (bare := table.get(name, {})).get("litellm_provider") == provider:
            entry = bare
        if entry is not None and (found := _read(entry)) is not None:
            return found
    return None


def estimate_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    """About how many tokens a prompt has, by its bytes: within a third for English prose."""
    size = sum(len(message["content"].encode()) for message in messages)
    return -(-size // BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE * len(messages)


def estimate(prompts: Iterable[Sequence[Mapping[str, str]]], spec: LMSpec) -> CostEstimate:
    """Calls, tokens and dollars for asking every prompt once, with replies of the usual length."""
    calls = tokens = 0
    for messages in prompts:
        calls += 1
        tokens += estimate_tokens(messages)
    reply = min(spec.reply_tokens, TYPICAL_REPLY)
    rate = price(spec.model)
    usd = None if rate is None else tokens * rate.input + calls * reply * rate.output
    return CostEstimate(calls, tokens + calls * reply, usd)


@cache
def _table(package: str, file: str) -> dict[str, Entry]:
    found = find_spec(package)  # locates without importing
    if found is None or not found.submodule_search_locations:
        return {}
    path = Path(next(iter(found.submodule_search_locations)), file)
    if not path.is_file():
        return {}
    raw = path.read_bytes()
    return cast(
        "dict[str, Entry]", json.loads(gzip.decompress(raw) if file.endswith(".gz") else raw)
    )  # JSON is untyped


def _read(entry: Entry) -> Price | None:
    def rate(key: str) -> float | None:
        value = entry.get(key)
        return float(value) if isinstance(value, int | float) else None

    paid, reply = rate("input_cost_per_token"), rate("output_cost_per_token")
    if paid is None or reply is None:
        return None
    cached, written = rate("cache_read_input_token_cost"), rate("cache_creation_input_token_cost")
    return Price(paid, reply, paid if cached is None else cached, paid if written is None else written)
