import pytest

from judgec.compile.search.registry import OPTIMIZERS, find_optimizer
from judgec.compile.settings import reflection_spec
from judgec.errors import UserError
from judgec.lm.spec import LMSpec


def test_optimizers_are_listed_by_name() -> None:
    assert list(OPTIMIZERS) == sorted(OPTIMIZERS) == ["auto", "gepa", "labeled", "mipro", "none"]


def test_unknown_optimizer_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UserError, match="no 'miprov3'; there are " + ", ".join(OPTIMIZERS)):
        find_optimizer("miprov3", reflection=True)


@pytest.mark.parametrize("name", ["gepa", "mipro"])
def test_optimizer_that_rewrites_without_a_reflection_model_is_refused(name: str) -> None:
    _, why = reflection_spec(LMSpec.parse("embedded"), None)
    with pytest.raises(UserError, match="labeled and none need none"):
        find_optimizer(name, reflection=False, no_reflection=why)


@pytest.mark.parametrize("name", ["auto", "labeled", "none"])
def test_optimizer_that_needs_no_reflection_is_found_without(name: str) -> None:
    assert find_optimizer(name, reflection=False) is OPTIMIZERS[name]


def test_reflection_model_defaults_to_the_judges_at_its_endpoint_with_another_temperature() -> None:
    judge = LMSpec.parse("openai/small", api_base="http://127.0.0.1:9/v1")
    spec, _ = reflection_spec(judge, None)
    assert spec is not None
    assert (spec.model, spec.api_base, spec.sampling["temperature"]) == ("openai/small", judge.api_base, 1.0)
    assert "logprobs" not in spec.sampling


def test_reflection_model_of_another_provider_is_not_asked_at_the_judges_endpoint() -> None:
    judge = LMSpec.parse("hosted_vllm/small", api_base="http://127.0.0.1:9/v1")
    spec, _ = reflection_spec(judge, "openai/gpt-4o")
    assert spec is not None
    assert spec.api_base is None
