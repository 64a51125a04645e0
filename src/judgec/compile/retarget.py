"""Asks a compiled judge's prompt of another model, which ships where it is cheaper and hardly worse."""

from collections.abc import Sequence
from dataclasses import dataclass

import dspy

from judgec.compile.list_price import cost_once
from judgec.compile.promote import Decision
from judgec.compile.search.candidates import first_predictor, with_instructions
from judgec.compile.search.plan import asked_once
from judgec.compile.settings import CompileSettings, Retarget
from judgec.errors import UserError
from judgec.lm.spec import LMSpec
from judgec.raters.judge import load_judge
from judgec.raters.programs import Program
from judgec.raters.recorded import RECORDED_KIND, RecordedVerdicts, judge_of
from judgec.records.label import Item, LabelSet
from judgec.report.numbers import dollars, number


@dataclass(frozen=True, slots=True)
class Retargeted:
    """A judge beside the one whose prompt it has.

    Args:
        source: The compiled judge that the prompt is of.
        margin: The loss of the objective that counts as not worse.
        before: US dollars for 1,000 items of the source's model; None where nobody knows.
        after: The same of the new model.
    """

    source: str
    margin: float
    before: float | None
    after: float | None

    @property
    def dearer(self) -> bool:
        """The new model is known to cost more."""
        return self.before is not None and self.after is not None and self.after > self.before

    @property
    def allowed(self) -> float | None:
        """The margin; None where the new model costs more, and so has to be better."""
        return None if self.dearer else self.margin

    def sentence(self) -> str:
        """For the notes."""
        before, after = (dollars(usd, "an unknown price") for usd in (self.before, self.after))
        rule = (
            "which is dearer, so it has to be better"
            if self.dearer
            else f"it may be at most {number(self.margin)} worse"
        )
        return f"the prompt is that of {self.source}; {after} for 1,000 items against {before}; {rule}"

    def to_json(self, decision: Decision) -> dict[str, object]:
        """The report's ``retarget``."""
        low = decision.difference.low
        return {
            "from": self.source,
            "margin": self.margin,
            "difference": decision.difference.to_json(),
            "non_inferior": low is not None and low > -self.margin,
            "cost_per_1000": {"from": self.before, "to": self.after},
        }


def check_carried(program: Program, labels: LabelSet, fields: Sequence[str]) -> None:
    """A prompt can be carried over: the labels ask what the judge was compiled for.

    Raises:
        UserError: They ask something else, or the judge has no prompt of its own.
    """
    card = program.card
    where = f"--from {card.name}@{card.version}"
    here = (labels.task, labels.aspects, labels.scale.grades)
    if (card.task, card.aspects, card.scale.grades) != here:
        raise UserError(
            f"{where}: judges {card.task} on {', '.join(map(str, card.scale.grades))}; these labels are of "
            f"{labels.task} on {', '.join(map(str, labels.scale.grades))}. Give the labels that it was compiled from."
        )
    if missing := sorted(set(card.fields) - set(fields)):
        raise UserError(f"{where}: its prompt shows {', '.join(missing)}, which no item has. Give its own labels.")
    if card.evidence_alone:
        raise UserError(f"{where}: asks no model, so there is no prompt to carry over. Name a judge with a prompt.")
    if card.settings.get("panel") is not None or card.settings.get("cascade") is not None or "members" in card.lm:
        raise UserError(
            f"{where}: a panel or cascade has several prompts; a judge with one is valid. Name one of its members."
        )


def with_the_same_prompt(program: Program, recorded: RecordedVerdicts) -> RecordedVerdicts:
    """Of recorded judges those with the prompt of a compiled one, without that one itself.

    Raises:
        UserError: There is none, or it is not known what their prompts say.
    """
    module = load_judge(program).module
    card = program.card
    wanted = first_predictor(module).signature.instructions
    own = judge_of(card) if card.settings.get("kind") == RECORDED_KIND else None
    kept = [
        name
        for name, about in recorded.judges.items()
        if name != own
        and about.prompt
        and first_predictor(with_instructions(module, about.prompt)).signature.instructions == wanted
    ]
    if not kept:
        raise UserError(
            f"--from {card.name}@{card.version}: none of the {len(recorded.judges)} judges in {recorded.path} has its "
            "prompt; judges.json or a column prompt says what theirs are. Add them, or widen --judges."
        )
    return recorded.of(kept)


def retargeted(retarget: Retarget, settings: CompileSettings, module: dspy.Module, items: Sequence[Item]) -> Retargeted:
    """Compares the costs of both models: by the price list and the prompts of these items, or as it was recorded.

    Args:
        retarget: The source.
        settings: With the new model.
        module: The new judge's prompt.
        items: That are judged.
    """
    card, source = retarget.program.card, load_judge(retarget.program)
    if card.settings.get("kind") == RECORDED_KIND:
        before = _recorded(retarget.recorded, judge_of(card), items)
    else:
        before = _asked(source.module, LMSpec.from_card(card.lm, asks=False), items)
    if settings.rated.recorded is not None:
        (name, *others) = settings.rated.recorded.judges
        after = None if others else _recorded(settings.rated.recorded, name, items)
    else:
        after = _asked(module, settings.lm, items)
    return Retargeted(retarget.name, retarget.margin, before, after)


def _asked(module: dspy.Module, spec: LMSpec, items: Sequence[Item]) -> float | None:
    found = asked_once(module, items, spec)
    return None if found.usd is None or not items else found.usd / len(items) * 1000


def _recorded(recorded: RecordedVerdicts | None, name: str, items: Sequence[Item]) -> float | None:
    usd = None if recorded is None or name not in recorded.judges else cost_once(recorded, name, items)
    return None if usd is None else usd * 1000
