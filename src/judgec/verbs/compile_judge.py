"""``judgec.compile_judge``: experts' labels in, a measured judge out."""

import os
from collections.abc import Sequence
from pathlib import Path

from judgec.compile.abstain import check_options
from judgec.compile.dataset import Dataset
from judgec.compile.planned import plan_judge
from judgec.compile.prepare import default_objective
from judgec.compile.release import Place, check_place
from judgec.compile.search.candidates import UNCOMPILED, Candidate, task_module
from judgec.compile.search.plan import CallPlan
from judgec.compile.search.registry import NONE
from judgec.compile.settings import (
    JURY_KIND,
    CallSettings,
    CandidateSettings,
    Combine,
    CompileSettings,
    SearchSettings,
    reflection_spec,
)
from judgec.connect.tracking.store import tracking_store
from judgec.errors import UserError
from judgec.labels.labels import people_only, require_two_classes
from judgec.labels.rows.raters import is_measured
from judgec.labels.split.family import default_family
from judgec.labels.split.memory import JUDGE
from judgec.lm.adapters import with_adapter
from judgec.lm.batch.executor import require_batches
from judgec.lm.spec import RECORDED, LMSpec
from judgec.lm.usage import Account
from judgec.lm.watch import Watch
from judgec.raters.recorded import RECORDED_KIND
from judgec.raters.tasks.preference import weighing
from judgec.records.label import LabelSet
from judgec.records.tasks.registry import TASKS, compares
from judgec.table.regular import regular
from judgec.verbs.candidates import candidates_of, searches
from judgec.verbs.compilation import Compilation, compile_and_save
from judgec.verbs.labels import Labels, read_labels
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from judgec.verbs.recorded import FoundVerdicts, cascade_of, label_columns_of, panel_of, recorded_of
from judgec.verbs.verb import verb

LABELS = "a file of experts' labels"
IN_MEMORY = "judge"  # the name of a judge whose labels have no file and that nobody named


@verb(CompileJudgeOptions)
def compile_judge(options: CompileJudgeOptions, watch: Watch) -> Compilation:
    """Compile a judge from experts' labels and measure it on labels that it has never seen.

    The version is saved below ``home`` and logged to MLflow.

    Raises:
        UserError: An option out of range, or labels that cannot be learned from.
        InputError: Faulty labels.
        ServiceError: The model fails for good.

    Example:
        >>> found = judgec.compile_judge("trainsets/sensors/labels.jsonl", name="sensors")
        >>> found.promoted, bool(found.table.loc["compiled", "tau_b"] > 0.4)
        (True, True)
    """
    return compiled_within(options, watch)


def compiled_within(options: CompileJudgeOptions, watch: Watch, account: Account | None = None) -> Compilation:
    """As ``compile_judge``.

    Args:
        options: What decides the compile.
        watch: Told where it is.
        account: What other work may spend together with this; its caps go before those of the options.
    """
    labels, settings = _settings(options, watch)
    store = tracking_store(settings.home, options.tracking_uri, os.environ)
    return compile_and_save(
        labels.label_set,
        settings,
        store,
        os.environ,
        source=str(settings.source.get("path", "")) or settings.name,
        watch=watch,
        account=account,
        log_traces=options.log_traces,
    )


def planned(options: CompileJudgeOptions, watch: Watch) -> tuple[CompileSettings, Dataset, CallPlan]:
    """Plans what a compile would ask at most: nothing is asked and nothing is written.

    Raises:
        UserError: As ``compile_judge``.
    """
    labels, settings = _settings(options, watch)
    plan = plan_judge(labels.label_set, settings)
    return settings, plan.parts.pooled, plan.plan.whole


def _settings(options: CompileJudgeOptions, watch: Watch) -> tuple[Labels, CompileSettings]:
    if options.labels is None:
        raise UserError(f"compile-judge: no labels; {LABELS} is needed. Give it, or run judgec init FILE once.")
    path = "" if isinstance(options.labels, Labels) or not isinstance(options.labels, str) else options.labels
    if isinstance(options.labels, Labels):
        path = str(options.labels.source.get("path", ""))
    name = options.name or (default_family(path) if path else IN_MEMORY)
    check_place(Place(options.home, name, JUDGE))
    check_options(options.abstain_below)
    candidates = candidates_of(options)
    options, spec = candidates.options, candidates.models().thinking(candidates.options.reasoning_effort)
    reflection, no_reflection = reflection_spec(spec, options.reflection_lm)
    watch.stage("labels", path or IN_MEMORY)
    alone = candidates.recorded is None
    labels, recorded = _read(candidates.recorded or options, asked=bool(candidates.beside) and alone)
    verdicts = None if recorded is None else recorded.judges
    others = () if verdicts is None else tuple(verdicts.judges)
    if recorded is not None:
        where = LMSpec.parse(recorded.model)
        spec = where if alone else candidates.models(dict.fromkeys(others, where))
    no_model = not candidates.beside and recorded is None and spec.no_model
    if no_model:
        _check_without_model(options, labels.label_set)
    if options.batch:
        require_batches(spec)
    asked = candidates.asked(labels.label_set)
    for one in asked:
        if one.program is None:
            with_adapter(one.module, options.adapter)
    kinds = (
        (JURY_KIND, bool(asked) and not searches(options)),
        (RECORDED_KIND, recorded is not None),
        (NONE, no_model),
    )
    return labels, CompileSettings(
        name=name,
        home=options.home,
        lm=spec,
        objective=options.objective or default_objective(labels.label_set),
        seed=options.seed,
        consensus=options.consensus,
        evidence=options.evidence,
        abstain_below=options.abstain_below,
        folds=options.folds,
        source=labels.source,
        search=SearchSettings(
            next((kind for kind, holds in kinds if holds), options.optimizer),
            reflection,
            no_reflection,
            _prompts(options, labels.label_set, spec),
        ),
        candidates=CandidateSettings(
            verdicts,
            asked,
            _prompt(options, labels.label_set),
            Combine(panel_of(options, len(asked) + len(others)), cascade_of(options, spec, verdicts, candidates)),
            None if options.baseline is None else candidates.named(options.baseline, others),
        ),
        caps=CallSettings(
            budget=options.budget,
            max_cost=options.max_cost,
            max_wait=options.max_wait,
            in_flight=options.in_flight,
            batch=options.batch,
            functions=candidates.functions,
        ),
    )


def _prompt(options: CompileJudgeOptions, labels: LabelSet) -> Candidate:
    """The prompt of the task, in the form and with the criteria that somebody asked for.

    Raises:
        UserError: Criteria of pairs for labels of something else.
    """
    module = task_module(labels, options.adapter)
    if not (options.factors or options.has_citations):
        return Candidate(UNCOMPILED, module)
    if not compares(labels.task):
        raise UserError(
            f"--factors, --has-citations: these labels are of task {labels.task}; only a judge of preference, which "
            "compares two answers, weighs them. Leave them out."
        )
    return Candidate(UNCOMPILED, weighing(module, factors=options.factors, citations=options.has_citations))


def _check_without_model(options: CompileJudgeOptions, labels: LabelSet) -> None:
    """Refuse what is of a prompt, or what no rule reads, where no model reads one.

    Raises:
        UserError: An option that changes or searches a prompt, or that leaves out the evidence, which is all there is;
            labels of claims, conversations or runs.
    """
    if unread := TASKS[labels.task].read_by_models(labels.fields):
        raise UserError(
            f"task {labels.task}: no rule reads {' and '.join(unread)}; a language model does. Name one with --lm."
        )
    of_prompts = {
        "--no-evidence": not options.evidence,
        f"--optimizer {options.optimizer}": options.optimizer != CompileJudgeOptions.optimizer,
        "--factors": bool(options.factors),
        "--has-citations": options.has_citations,
        f"--adapter {options.adapter}": options.adapter != CompileJudgeOptions.adapter,
    }
    if given := [option for option, has in of_prompts.items() if has]:
        raise UserError(
            f"{given[0]}: no model is named, so that evidence alone judges and there is no prompt. Name a model with "
            f"--lm, or leave {given[0]} out."
        )


def _prompts(options: CompileJudgeOptions, labels: LabelSet, spec: LMSpec) -> dict[str, str]:
    """The user's own instructions by the name of the candidate: of files, and of the datasheet.

    Raises:
        UserError: A file that is not there or holds no text, or nobody to read what is in it.
    """
    reads = not spec.no_model and spec.recorded is None
    found = {"datasheet": labels.instructions} if labels.instructions and reads else {}
    for name in options.instructions:
        where = f"--instructions {name}"
        if not reads:
            said = "no model is named to read them" if spec.no_model else f"{spec.model} reads no instructions"
            raise UserError(f"{where}: {said}; a language model does. Name one with --lm.")
        try:
            text = regular(Path(name)).read_text(encoding="utf-8-sig").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{where}: not a file of UTF-8 text ({error}); one is needed. Check the path.") from None
        if not text:
            raise UserError(f"{where}: no text in it; instructions to a judge are needed. Write some, or drop it.")
        if (stem := Path(name).stem) in found:
            raise UserError(f"{where}: a second candidate called {stem}; names must differ. Rename the file.")
        found[stem] = text
    if UNCOMPILED in found:
        raise UserError(f"--instructions: {UNCOMPILED} is the name of the judge as it is. Rename the file.")
    return found


def _read(options: CompileJudgeOptions, *, asked: bool) -> tuple[Labels, FoundVerdicts | None]:
    """The labels, and what recorded judges said; no judge is among the annotators."""
    labels = _labels(options)
    recorded = recorded_of(options, labels, asked=asked)
    if recorded is not None:  # their names stand in the verdicts, which are read by the scale of the labels
        names = {label.annotator for label in labels.label_set.labels}
        if more := tuple(name for name in recorded.every.judges if any(is_measured(one, [name]) for one in names)):
            labels = _labels(options, more)
            recorded = recorded_of(options, labels, asked=asked)
    return labels, recorded


def _labels(options: CompileJudgeOptions, more: Sequence[str] = ()) -> Labels:
    """The labels that were read already, or are read now, without labels by the judges; ``more`` are none either.

    Raises:
        InputError: They are all alike.
    """
    labels = _read_labels(options, more)
    require_two_classes(labels.label_set, str(labels.source.get("path") or "DataFrame"))
    return labels


def _read_labels(options: CompileJudgeOptions, more: Sequence[str]) -> Labels:
    judges = {**options.judges, **dict.fromkeys(more, "")}
    annotators = tuple(name for name in options.annotators if not is_measured(name, more))
    if isinstance(options.labels, Labels):
        kept = people_only(options.labels.label_set, judges)
        source = options.labels.source
        return Labels(kept, {**source, "judges": judges} if source and judges else source)
    assert options.labels is not None  # the caller has looked
    file = options.lm.removeprefix(RECORDED) if options.lm.startswith(RECORDED) else None
    return read_labels(
        options.labels,
        annotators=annotators,
        columns=options.columns
        if file is None
        else label_columns_of(options.columns, options.labels, file, options.missing),
        task=options.task,
        accept_at=options.accept_at,
        scale=options.scale,
        best=options.best,
        grades=options.grades,
        turn=options.turn,
        round=options.round,
        repeats=options.repeats,
        winner_words=options.winner_words,
        missing=options.missing,
        assessment=options.assessment,
        judges=judges,
        home=options.home,
        tracking_uri=options.tracking_uri,
    )
