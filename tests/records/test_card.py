"""The card survives JSON and holds no secret."""

import pytest
from pydantic import ValidationError

from judgec.records.card import Cost, ProgramCard
from judgec.records.estimate import Estimate
from judgec.records.scale import Scale


def make_card(**changes: object) -> ProgramCard:
    """A card as a compile would write it."""
    fields: dict[str, object] = {
        "name": "sensors",
        "task": "grade",
        "scale": Scale(grades=(1, 2, 3), accept_at=3),
        "aspects": ("grade",),
        "fields": ("query", "answer"),
        "signature": (),  # of no prompt in fields
        "data_digest": "d" * 64,
        "split_digest": "s" * 64,
        "lm": {"model": "openai/gpt-4o-mini", "temperature": 0.0, "max_tokens": 2048},
        "optimizer": "labelled",
        "objective": "tau_b",
        "seed": 0,
        "versions": {"python": "3.11.7"},
        "cost": Cost(lm_calls=12, usd=None, seconds=3.5),
        "created": "2026-11-20T10:00:00Z",
        "looks": 1,
        "promoted": True,
        "reason": "better than the majority",
        "test": {"tau_b": Estimate(value=0.6, low=0.5, high=0.7)},
    }
    return ProgramCard.model_validate(fields | changes)


def test_card_read_back_from_json_is_equal() -> None:
    card = make_card(scale=Scale(grades=("a", "b", "tie"), level="nominal"), labels="constructed")

    assert ProgramCard.model_validate_json(card.model_dump_json()) == card


@pytest.mark.parametrize("name", ["api_key", "OPENAI_API_KEY", "Authorization", "aws_session_token", "password"])
def test_card_with_a_setting_that_sounds_secret_is_refused_without_showing_it(name: str) -> None:
    with pytest.raises(ValidationError, match="look like secrets") as caught:
        make_card(lm={"model": "m", name: "sk-123"})

    assert "sk-123" not in caught.value.errors()[0]["msg"]


def test_card_with_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        make_card(trusted=True)
