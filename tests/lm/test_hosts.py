"""Where a model is asked: as typed, as the environment says, or at the provider's own host; never elsewhere unsaid."""

import pytest

from judgec.errors import UserError
from judgec.lm.hosts import named_endpoint
from judgec.lm.spec import LMSpec

GATEWAY, OTHER = "http://127.0.0.1:8123/v1", "http://gateway.example:9/v1"


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "MISTRAL_API_BASE", "ANTHROPIC_BASE_URL", "OLLAMA_API_BASE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("model", "environ", "base"),
    [
        ("openai/m", {"OPENAI_BASE_URL": GATEWAY}, GATEWAY),
        ("openai/m", {"OPENAI_API_BASE": GATEWAY + "/"}, GATEWAY),
        ("openai/m", {"OPENAI_API_BASE": OTHER, "OPENAI_BASE_URL": GATEWAY}, GATEWAY),
        ("openai/m", {"OPENAI_BASE_URL": "  ", "OPENAI_API_BASE": GATEWAY}, GATEWAY),
        ("openai/m", {"OPENAI_BASE_URL": "https://user:pass-word@gw.example/v1"}, "https://gw.example/v1"),
        ("openai/m", {"OPENAI_BASE_URL": "https://api.openai.com/v1"}, None),
        ("openai/m", {"MISTRAL_API_BASE": GATEWAY}, None),
        ("mistral/m", {"MISTRAL_API_BASE": GATEWAY, "OPENAI_BASE_URL": OTHER}, GATEWAY),
        ("anthropic/m", {"ANTHROPIC_BASE_URL": "http://gw.example"}, "http://gw.example/v1"),
        ("ollama_chat/m", {"OLLAMA_API_BASE": "http://box:11434"}, "http://box:11434/v1"),
        ("hosted_vllm/m", {"HOSTED_VLLM_API_BASE": GATEWAY}, GATEWAY),
        ("embedded", {"OPENAI_BASE_URL": GATEWAY}, None),
        ("recorded:openai/x.csv", {"OPENAI_BASE_URL": GATEWAY}, None),
    ],
)
def test_parse_takes_the_providers_variable(model: str, environ: dict[str, str], base: str | None) -> None:
    spec = LMSpec.parse(model, environ=environ)
    assert spec.api_base == base
    assert "pass-word" not in f"{spec.describe()}{spec.asked_at}"


def test_typed_endpoint_wins_and_the_providers_own_is_none() -> None:
    environ = {"OPENAI_BASE_URL": GATEWAY}
    assert LMSpec.parse("openai/m", api_base=OTHER, environ=environ).api_base == OTHER
    own = LMSpec.parse("openai/m", api_base="https://api.openai.com/v1/", environ=environ)
    assert own == LMSpec.parse("openai/m", environ={})  # and so are its keys in the journal
    assert own.asked_at == "openai/m at api.openai.com"
    assert LMSpec.parse("openai/m", environ=environ).asked_at == "openai/m at 127.0.0.1:8123"


@pytest.mark.parametrize("value", ["127.0.0.1:8000", "ftp://x/v1", "http://", "http://[::1/v1", "https://x/v1?key=abc"])
def test_variable_that_is_no_bare_url_is_named_and_its_query_is_not(value: str) -> None:
    with pytest.raises(UserError, match="OPENAI_BASE_URL") as caught:
        named_endpoint("openai/m", {"OPENAI_BASE_URL": value})
    assert "key=abc" not in str(caught.value)


@pytest.mark.parametrize(
    ("compiled", "environ", "both"),
    [
        ({}, {"OPENAI_BASE_URL": GATEWAY}, ("https://api.openai.com/v1", GATEWAY)),
        ({"OPENAI_BASE_URL": GATEWAY}, {}, (GATEWAY, "https://api.openai.com/v1")),
        ({"OPENAI_BASE_URL": GATEWAY}, {"OPENAI_API_BASE": OTHER}, (GATEWAY, OTHER)),
    ],
)
def test_judge_compiled_at_another_endpoint_is_refused_with_both_to_type(
    compiled: dict[str, str], environ: dict[str, str], both: tuple[str, str]
) -> None:
    card = LMSpec.parse("openai/m", environ=compiled).describe()
    assert LMSpec.from_card(card, environ=compiled).describe() == card
    with pytest.raises(UserError) as caught:
        LMSpec.from_card(card, environ=environ)
    assert all(f"--api-base {url}" in str(caught.value) for url in both)
    for url in both:  # either is taken as it was printed
        found = LMSpec.from_card(card, api_base=url, environ=environ)
        assert found.api_base == LMSpec.parse("openai/m", api_base=url).api_base
    assert LMSpec.from_card(card, asks=False, environ=environ).model == "openai/m"
    with pytest.raises(UserError, match="was compiled at"):  # another model of the same provider moves no host
        LMSpec.from_card(card, model="openai/other", environ=environ)
    assert LMSpec.from_card(card, model="mistral/m", environ=environ).model == "mistral/m"


def test_jury_is_refused_where_one_juror_is() -> None:
    members = {name: LMSpec.parse(model, environ={}) for name, model in (("a", "openai/m"), ("b", "mistral/m"))}
    card = LMSpec.jury(members).describe()
    assert [one.model for one in LMSpec.from_card(card, environ={}).members.values()] == ["openai/m", "mistral/m"]
    with pytest.raises(UserError, match="MISTRAL_API_BASE"):
        LMSpec.from_card(card, environ={"MISTRAL_API_BASE": GATEWAY})
