"""The record of what an audit found about a judge; it lies on the judge's card."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, field_validator

from judgec.records.estimate import Estimate

Status = Literal["pass", "not shown", "fail", "skipped"]
RANK: tuple[Status, ...] = ("fail", "not shown", "pass", "skipped")  # the worst first


class Finding(BaseModel):
    """The outcome of one audit.

    Args:
        audit: Its name, for example ``length``.
        status: ``fail``: the whole interval is beyond the bound; ``pass``: the whole interval is within it;
            ``not shown``: neither; ``skipped``: it does not apply, ``sentence`` says why.
        effect: The effect, larger is worse; of several parts the worst. Shares and parts of the scale, so that
            1 is everything.
        bound: What the effect may be.
        two_sided: The effect has a sign, and either is a fault.
        sentence: The finding for people.
        part: Which part ``effect`` is of, or empty.
        parts: The effect of every part, keyed by name, where there are several.
        unscored: Changed items that the judge gave no verdict on; they are in no effect.
        more_items: Of ``not shown``: how many more items, like these, would settle it; None where it is settled, or no
            number would do.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    audit: str
    status: Status
    effect: Estimate
    bound: float
    two_sided: bool = False
    sentence: str
    part: str = ""
    parts: Mapping[str, Estimate] = {}
    unscored: int = 0
    more_items: int | None = None

    @field_validator("status", mode="before")
    @classmethod
    def _as_it_was_called(cls, status: object) -> object:
        """Cards that were written when ``not shown`` was called ``warn`` are read as well."""
        return "not shown" if status == "warn" else status

    def to_json(self) -> dict[str, object]:
        """A finding of ``judgec audit --json``."""
        return {
            "status": self.status,
            "effect": self.effect.to_json(),
            "bound": self.bound,
            "two_sided": self.two_sided,
            "sentence": self.sentence,
            "part": self.part or None,
            "parts": {name: effect.to_json() for name, effect in self.parts.items()},
            "unscored": self.unscored,
            "more_items": self.more_items,
            "n": self.effect.n,
            "n_clusters": self.effect.n_clusters,
        }


class AuditReport(BaseModel):
    """All audits of one version of a judge, as they lie on its card.

    Args:
        findings: One an audit, in the order in which they are listed.
        created: When, ISO 8601; of several runs, the last.
        lm: The model that was asked.
        items: Items that were audited.
        queries: Queries that they belong to.
        source: Where the items came from.
        seed: What chose items and edits.
        systems: How it ranks whoever answered, beside people; None where nobody names them, or nobody looked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    findings: tuple[Finding, ...]
    created: str
    lm: str
    items: int
    queries: int
    source: str = ""
    seed: int = 0
    systems: Mapping[str, object] | None = None

    @property
    def status(self) -> Status:
        """The worst of all findings."""
        return min((finding.status for finding in self.findings), key=RANK.index, default="skipped")

    @property
    def summary(self) -> str:
        """One sentence: how many audits passed, and which did not."""
        named = {
            status: [finding.audit for finding in self.findings if finding.status == status]
            for status in ("fail", "not shown")
        }
        passed = sum(finding.status == "pass" for finding in self.findings)
        parts = [f"{passed} of {sum(finding.status != 'skipped' for finding in self.findings)} audits passed"]
        parts += [f"failed: {', '.join(named['fail'])}"] if named["fail"] else []
        parts += [f"not shown: {', '.join(named['not shown'])}"] if named["not shown"] else []
        return "; ".join(parts)

    def updated(self, new: "AuditReport") -> "AuditReport":
        """This report with the findings of another run put over it; audits that were not run again stay."""
        again = {finding.audit: finding for finding in new.findings}
        kept = tuple(again.pop(finding.audit, finding) for finding in self.findings)
        return new.model_copy(update={"findings": (*kept, *again.values()), "systems": new.systems or self.systems})

    def to_json(self) -> dict[str, object]:
        """The part ``audits`` of reports."""
        return {
            "status": self.status,
            "summary": self.summary,
            "created": self.created,
            "lm": self.lm,
            "items": self.items,
            "queries": self.queries,
            "audits": {finding.audit: finding.to_json() for finding in self.findings},
            **({} if self.systems is None else {"systems": dict(self.systems)}),
        }
