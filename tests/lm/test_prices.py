import subprocess
import sys

import pytest

from judgec.lm.prices import estimate, estimate_tokens, price
from judgec.lm.spec import LMSpec


def test_price_of_a_known_model_is_its_list_price() -> None:
    found = price("openai/gpt-4o-mini")
    assert found is not None
    assert (found.input, found.output, found.cached) == (0.15e-6, 0.6e-6, 0.075e-6)  # OpenAI's price list
    assert found.written == found.input  # where nothing is said of it
    other = price("anthropic/claude-sonnet-4-5")
    assert other is not None
    assert (other.input, other.cached, other.written) == (3e-6, 0.3e-6, 3.75e-6)  # Anthropic's


@pytest.mark.parametrize("model", ["openai/no-such-model", "openai/claude-sonnet-4-5", "hosted_vllm/mine"])
def test_price_of_a_name_the_provider_does_not_sell_is_unknown(model: str) -> None:
    assert price(model) is None


def test_price_of_what_runs_here_is_nothing() -> None:
    assert [p.output for m in ("embedded", "ollama_chat/llama3") if (p := price(m))] == [0.0, 0.0]


def test_price_imports_neither_litellm_nor_dspy() -> None:
    code = "import sys; from judgec.lm.prices import price; price('openai/gpt-4o'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "judgec.lm.prices" in loaded
    assert not {"litellm", "dspy", "httpx", "numpy"} & set(loaded)


def test_estimate_counts_bytes_and_prices_them() -> None:
    prompt = [{"role": "system", "content": "x" * 396}, {"role": "user", "content": "é"}]
    assert estimate_tokens(prompt) == 100 + 8  # 398 bytes are 99.5 tokens; four a message
    asked = estimate([prompt, prompt], LMSpec.parse("openai/gpt-4o-mini"))
    assert (asked.calls, asked.tokens) == (2, 216 + 240)  # replies of 120 tokens
    assert asked.usd == pytest.approx(216 * 0.15e-6 + 240 * 0.6e-6)
    assert estimate([prompt], LMSpec.parse("openai/no-such-model")).usd is None
