import pytest

from judgec.errors import UserError
from judgec.lm.spec import LMSpec


@pytest.mark.parametrize("model", ["", "gpt-4o-mini", "openai/", "/x", "openai/a b"])
def test_parse_model_without_provider_or_name_is_refused(model: str) -> None:
    with pytest.raises(UserError, match="provider/name"):
        LMSpec.parse(model)


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8000", "ftp://host/v1", "http://user:pw@host/v1", "http://host/v1?key=s3cret"]
)
def test_parse_api_base_that_is_no_plain_url_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(UserError, match="--api-base") as caught:
        LMSpec.parse("openai/x", api_base=url)
    assert "s3cret" not in str(caught.value)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize("name", ["api_key", "headers", "temperature", "n"])
def test_parse_extra_that_judgec_owns_is_refused_without_its_value(name: str) -> None:
    with pytest.raises(UserError, match=name) as caught:
        LMSpec.parse("openai/x", extra={name: "s3cret"})
    assert "s3cret" not in str(caught.value)


def test_sampling_is_temperature_zero_with_logprobs_where_the_provider_has_them() -> None:
    plain = {"max_tokens": 2048, "temperature": 0.0}
    assert LMSpec.parse("openai/gpt-4o-mini").sampling == {**plain, "logprobs": True, "top_logprobs": 8}
    assert LMSpec.parse("anthropic/claude-sonnet-4-5", extra={"top_p": 0.9}).sampling == {**plain, "top_p": 0.9}


@pytest.mark.parametrize("model", ["openai/o3-mini", "openai/gpt-5", "openai/gpt-5.6-luna", "azure/o1"])
def test_sampling_of_a_reasoning_model_leaves_temperature_to_it_and_says_so(model: str) -> None:
    spec = LMSpec.parse(model)
    assert spec.sampling == {"max_tokens": 16_000}
    assert spec.describe()["temperature"] == "model default"
    with pytest.raises(UserError, match="takes no temperature"):
        LMSpec.parse(model, temperature=0.0)


@pytest.mark.parametrize("model", ["openai/gpt-5-chat", "openai/gpt-4o", "ollama_chat/olmo"])
def test_sampling_of_models_that_only_look_like_reasoning_has_a_temperature(model: str) -> None:
    assert LMSpec.parse(model).describe()["temperature"] == 0.0
