"""Makes labels ready for a compile: split, objective, prompt; refuses what cannot be learned from."""

from judgec.compile.parts import Parts, make_parts
from judgec.compile.settings import CompileSettings
from judgec.compile.verify import labelled
from judgec.errors import UserError
from judgec.labels.split.draw import folds_of
from judgec.labels.split.memory import read_memory
from judgec.records.counts import plural
from judgec.records.label import InputCounts, LabelSet
from judgec.records.tasks.registry import finds_modes
from judgec.stats.agreement.objective import Objective, parse_objective


def default_objective(labels: LabelSet) -> str:
    """``kappa`` for accepts, classes and failure modes, ``tau_b`` for ordered grades."""
    unordered = labels.accept_only or labels.scale.level == "nominal" or finds_modes(labels.task)
    return "kappa" if unordered else "tau_b"


def missing_of(labels: LabelSet) -> dict[str, float]:
    """The share of the labelled items without an input that others have, by field."""
    known = {label.item_id for label in labels.labels}
    counts = InputCounts.of([item for item in labels.items if item.item_id in known])
    return {name: share for name in labels.fields if (share := counts.missing(name))}


def prepared(labels: LabelSet, settings: CompileSettings) -> tuple[Parts, Objective]:
    """The data of every split, and what is maximized.

    Raises:
        UserError: The labels cannot be learned from, or the objective does not fit them.
    """
    objective = parse_objective(settings.objective)
    objective.require(interval=labels.scale.interval and not labels.accept_only)
    if labels.scale.interval and not labels.accept_only and settings.asks_a_model:
        raise UserError(
            f"{settings.name}: labels on an interval scale, and a language model to ask; recorded verdicts, functions "
            "and evidence are valid there. Record its numbers (--candidate recorded:FILE), or make grades of the "
            "labels with --round nearest."
        )
    if labels.scale.interval and settings.candidates.combine.cascade is not None:
        raise UserError(
            f"--cascade {','.join(settings.candidates.combine.cascade)}: labels on an interval scale, and no "
            "judge says how sure it is of a number; grades or classes are valid. Make grades with --round nearest, or "
            "leave it out."
        )
    memory = read_memory(settings.home, settings.name)
    folds = folds_of(labels, memory, settings.folds, free=settings.asks_once)
    parts = make_parts(labels, settings.seed, memory=memory, folds=folds, consensus=settings.consensus)
    if objective.needs_accept and (parts.pooled.test.experts.target_accept < 0).all():
        raise UserError(
            "--objective accept: nobody's accept or reject is known on this scale; the grades are "
            f"{', '.join(map(str, labels.scale.grades))}. Name the lowest accepted one with --accept-at."
        )
    train = parts.shipped.train
    if not labelled(train, train.experts.target_accept if labels.accept_only else train.experts.target):
        held = f"{plural(len(train), 'item')}, all of one grade" if len(train) else "no items"
        raise UserError(
            f"train split: {held}; of {plural(len(labels.items), 'item')} of {_queries(labels)} queries "
            f"{'half the' if parts.refit is None else 'five in seven'} queries fall "
            "into it, and at least two different grades are needed there to learn from. Label items of further queries."
        )
    return parts, objective


def _queries(labels: LabelSet) -> int:
    return len({item.query_id for item in labels.items})
