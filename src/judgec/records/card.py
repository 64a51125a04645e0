"""The card of a compiled judge: what it is and where it came from."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from judgec.records.audit import AuditReport
from judgec.records.cost import JudgeKind
from judgec.records.estimate import Estimate
from judgec.records.language import ENGLISH
from judgec.records.scale import Scale

Setting = bool | int | float | str | None
SECRET_WORDS = ("key", "token", "secret", "password", "authorization", "credential")
EVIDENCE_ALONE = "evidence alone, no prompt"
NO_MODEL = "no model"  # what the card calls the engine of a program that was compiled without one
COUNTS = ("max_tokens", "max_completion_tokens")  # these only sound secret


class Cost(BaseModel):
    """Cost of compiling: LM calls, US dollars (None when the price is unknown), seconds of wall clock."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lm_calls: int
    usd: float | None
    seconds: float

    def to_json(self) -> dict[str, object]:
        """As reports have it."""
        return {"lm_calls": self.lm_calls, "cost_usd": self.usd, "seconds": self.seconds}


class ProgramCard(BaseModel):
    """Everything needed to know, trust and rebuild one version of a compiled judge.

    Args:
        name: The family.
        version: 1, 2, ...; 0 before it is saved.
        task: What it judges: a built-in task, or the name of a plugin.
        scale: The grades, their meanings, the accept threshold.
        aspects: What is graded of each item.
        fields: The input fields that its signature was built with.
        missing: The share of the labelled items without one of them, by field; those that none lacks are left out. None
            of a card from before the shares were kept.
        signature: Name, direction and type of every field, in order; a saved state fits this signature alone.
        data_digest: SHA-256 of the label set.
        split_digest: SHA-256 of the assignment of queries to train, dev and test.
        languages: Of the labels, the commonest first: the prompt asks for reasons in it, evidence uses its stemmer.
        labels: ``constructed`` when no expert gave the labels, else empty.
        lm: The language model it was compiled for and its sampling settings (``LMSpec.describe``).
        engine: What stands behind the model when it is not a language model, else empty.
        judge_kind: What its grades follow from; ``evidence`` where no calibrator reads a verdict.
        optimizer: Name of the prompt search.
        settings: The optimizer's settings, keyed by name.
        objective: The statistic that was maximized.
        seed: Seed of the compile; the split does not depend on it.
        versions: Of python, judgec, dspy, mlflow, numpy, sklearn.
        cost: What compiling took.
        created: When, ISO 8601, as given by the caller.
        parent: Version of the champion it was compared with, or None.
        looks: How many versions of the family have been tested on this test split, this one included.
        promoted: Whether it became the champion.
        reason: Why, or why not.
        tie_band: Scores of two answers that differ by at most this are a tie, in scale units; fitted on dev.
            None when there was nothing to fit it on: then half a grade.
        test: Estimates on the test split, keyed by statistic: the objective and ``accept_agreement``.
        audit: What ``judgec audit`` found, or None when nobody has audited this version.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    version: int = 0
    task: str
    scale: Scale
    aspects: tuple[str, ...]
    fields: tuple[str, ...]
    missing: Mapping[str, float] | None = None
    signature: tuple[str, ...]
    data_digest: str
    split_digest: str
    languages: tuple[str, ...] = (ENGLISH,)
    labels: str = ""
    lm: Mapping[str, Setting]
    engine: str = ""
    judge_kind: JudgeKind = "prompt"
    optimizer: str
    settings: Mapping[str, Setting] = {}
    objective: str
    seed: int
    versions: Mapping[str, str]
    cost: Cost
    created: str
    parent: int | None = None
    looks: int
    promoted: bool
    reason: str
    tie_band: float | None = None
    test: Mapping[str, Estimate] = {}
    audit: AuditReport | None = None

    @property
    def evidence_alone(self) -> bool:
        """True for a judge that asks nothing."""
        return self.judge_kind == "evidence"

    @model_validator(mode="before")
    @classmethod
    def _of_before(cls, card: dict[str, Any]) -> dict[str, Any]:  # as files have it
        if "judge_kind" in card:
            return card
        made, card = card.get("settings", {}), dict(card)
        signs = {"evidence": card.pop("evidence_alone", False), "cascade": "cascade" in made, "panel": "panel" in made}
        signs |= {"recorded": made.get("kind") == "recorded", "prompt": True}
        return {"judge_kind": next(kind for kind, is_it in signs.items() if is_it), **card}

    @field_validator("lm")
    @classmethod
    def _without_secrets(cls, lm: Mapping[str, Setting]) -> Mapping[str, Setting]:
        secret = [name for name in lm if name not in COUNTS and any(word in name.lower() for word in SECRET_WORDS)]
        if secret:
            raise ValueError(f"lm: {', '.join(secret)} look like secrets; a card holds none. Leave them out.")
        return lm
