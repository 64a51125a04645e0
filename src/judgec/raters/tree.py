"""A judge as a tree of raters: who is asked, in what order, and what makes one grade of what they say."""

import json
from dataclasses import dataclass
from typing import Literal

from judgec.lm.spec import FUNCTION
from judgec.raters.cascade import EVIDENCE
from judgec.raters.judge import CompiledJudge
from judgec.raters.pool import MEAN
from judgec.raters.recorded import RECORDED_KIND, judge_of
from judgec.records.card import EVIDENCE_ALONE, ProgramCard
from judgec.records.cost import JudgeKind

RaterKind = Literal["prompt", "recorded", "function", "evidence", "calibrated", "pool", "cascade"]


@dataclass(frozen=True, slots=True)
class RaterNode:
    """A rater, with those that it is made of.

    Args:
        kind: ``prompt``, ``recorded``, ``function`` and ``evidence`` are leaves; ``calibrated`` has one rater, and the
            evidence where it reads it; ``pool`` several at once; ``cascade`` the first and the one behind it.
        name: Of a leaf, among judges.
        model: That a prompt is put to.
        how: Of a pool ``mean``, of a calibrated judge its calibrator.
        of: The raters below.
    """

    kind: RaterKind
    name: str = ""
    model: str = ""
    how: str = ""
    of: tuple["RaterNode", ...] = ()

    @property
    def judge_kind(self) -> JudgeKind:
        """What the grades follow from, under the calibrators."""
        return self.of[0].judge_kind if self.kind == "calibrated" else "panel" if self.kind == "pool" else self.kind

    @property
    def sentence(self) -> str:
        """What judges, for people."""
        if self.kind == "calibrated":
            return self.of[0].sentence
        names = self.name or ", ".join(one.sentence for one in self.of)
        return EVIDENCE_ALONE if self.kind == "evidence" else f"{self.judge_kind} {names}"

    def to_json(self) -> dict[str, object]:
        """The report's ``tree``; what does not apply is left out."""
        facts = {name: value for name in ("name", "model", "how") if (value := getattr(self, name))}
        return {"kind": self.kind, **facts, **({"of": [each.to_json() for each in self.of]} if self.of else {})}


def tree_of(judge: CompiledJudge, card: ProgramCard) -> RaterNode:
    """The tree of a compiled judge, of any version.

    Args:
        judge: As loaded.
        card: Of the same.
    """
    if not judge.asks_lm:
        return _calibrated(judge, RaterNode("evidence", EVIDENCE))
    if (cascade := judge.cascade) is not None:
        cheap = RaterNode("evidence", EVIDENCE) if cascade.cheap == EVIDENCE else _leaf(judge, card, cascade.cheap)
        strong = _calibrated(judge.strong, _leaf(judge, card, cascade.dear))
        return RaterNode("cascade", of=(_calibrated(judge.cheap, cheap), strong))
    if judge.panel is not None:
        members = tuple(_leaf(judge, card, name) for name in judge.panel.members)
        return _calibrated(judge, RaterNode("pool", how=MEAN, of=members))
    alone = next(iter(judge.jurors or judge.prompts), "")
    return _calibrated(judge, _leaf(judge, card, alone))


def _leaf(judge: CompiledJudge, card: ProgramCard, name: str) -> RaterNode:
    model = str(card.lm.get("model", ""))
    if name in judge.jurors:
        asked = str(json.loads(str(card.lm.get("members", "{}"))).get(name, {}).get("model", ""))
        provider, _, rest = asked.partition("/")
        return RaterNode("function", name, rest) if provider == FUNCTION else RaterNode("prompt", name, asked)
    if judge.jurors or card.settings.get("kind") == RECORDED_KIND:
        name = name or judge_of(card)
        known = judge.prompts.get(name)
        return RaterNode("recorded", name, str(known.model or "") if known is not None else "")
    return RaterNode("prompt", name or str(card.settings.get("prompt", "")), card.engine or model)


def _calibrated(judge: CompiledJudge, rater: RaterNode) -> RaterNode:
    """The rater under the judge's calibrators, with the evidence beside it where they read both."""
    fitted = judge.calibrators.values()
    if not fitted:
        return rater
    beside = rater.kind != "evidence" and any(one.source != "lm" for one in fitted)
    how = ", ".join(dict.fromkeys(one.family for one in fitted))
    return RaterNode("calibrated", how=how, of=(rater, RaterNode("evidence", EVIDENCE)) if beside else (rater,))
