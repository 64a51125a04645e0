"""``judgec.compile_judge``: experts' labels in, a measured judge out."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from judgec.api.compilation import Compilation, compile_and_save
from judgec.api.frames import Source
from judgec.api.labels import Labels, read_labels
from judgec.compiler.abstain import check_options
from judgec.compiler.compile import default_objective
from judgec.compiler.report import check_name
from judgec.compiler.settings import CompileSettings, Silent, Watch, Weighs, reflection_spec
from judgec.lm.spec import LMSpec
from judgec.store.splits import default_family
from judgec.tracking.store import tracking_store

IN_MEMORY = "judge"  # the name of a judge whose labels have no file and that nobody named


def compile_judge(
    labels: Labels | Source,
    *,
    lm: str = "embedded",
    name: str | None = None,
    objective: str | None = None,
    optimizer: str = "auto",
    folds: int | None = None,
    annotators: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    task: str | None = None,
    accept_at: str | float | None = None,
    api_base: str | None = None,
    reflection_lm: str | None = None,
    budget: int | None = None,
    max_cost: float | None = None,
    seed: int = 0,
    evidence: bool = True,
    abstain_below: float | None = None,
    promise: float | None = None,
    risk: float = 0.1,
    learning_curve: bool = False,
    factors: str = "",
    has_citations: bool = False,
    home: str | Path = ".",
    tracking_uri: str | None = None,
    progress: Watch | None = None,
) -> Compilation:
    """Compile a judge from experts' labels and measure it on labels that it has never seen.

    The options are those of ``judgec compile-judge``; the version is saved below ``home`` and logged to MLflow.

    Args:
        labels: From ``judgec.read_labels``, or anything that it reads.
        lm: The judge's model, for example ``openai/gpt-4o-mini``; ``embedded`` asks none.
        name: Name of the judge; by default that of the file, or ``judge``.
        objective: tau_b, kappa, qwk, exact, accept, balanced_accuracy, or a sum such as ``tau_b+accept``.
        optimizer: auto, labeled, bootstrap, mipro, gepa, or a plugin's.
        folds: 1 tests a split, 5 tests all queries in turn; by default 5 below 40 queries.
        annotators: As ``judgec.read_labels``, where ``labels`` are not read yet; so are the next three.
        columns: judgec's names by yours.
        task: What is labelled.
        accept_at: The lowest accepted grade.
        api_base: An OpenAI-compatible endpoint.
        reflection_lm: The model that rewrites prompts.
        budget: Most LM calls.
        max_cost: Most US dollars.
        seed: Of all that is drawn at random; no split depends on it.
        evidence: Whether the calibrator may use evidence features.
        abstain_below: Leave less sure judgments to a human.
        promise: Find the confidence that promises this agreement.
        risk: Chance that the promise may be wrong.
        learning_curve: Measure agreement for fewer labels too.
        factors: What a judge that compares two answers weighs.
        has_citations: Compared answers cite documents.
        home: Folder of programs/, mlruns/ and .judgec/.
        tracking_uri: An MLflow server or database.
        progress: Told of stages and notes.

    Raises:
        UserError: An option out of range, or labels that cannot be learned from.
        InputError: Faulty labels.
        ServiceError: The model fails for good.

    Example:
        >>> found = judgec.compile_judge("trainsets/sensors/labels.jsonl", name="sensors")
        >>> found.promoted, found.table.loc["compiled", "tau_b"] > 0.4
        (True, True)
    """
    if not isinstance(labels, Labels):
        labels = read_labels(labels, annotators=annotators, columns=columns, task=task, accept_at=accept_at)
    path = str(labels.source.get("path", ""))
    family = name or (default_family(path) if path else IN_MEMORY)
    check_name(family)
    check_options(abstain_below, promise, risk)
    spec = LMSpec.parse(lm, api_base=api_base)
    reflection, no_reflection = reflection_spec(spec, reflection_lm)
    settings = CompileSettings(
        name=family,
        home=Path(home),
        lm=spec,
        objective=objective or default_objective(labels.label_set),
        optimizer=optimizer,
        seed=seed,
        budget=budget,
        max_cost=max_cost,
        evidence=evidence,
        reflection=reflection,
        no_reflection=no_reflection,
        abstain_below=abstain_below,
        promise=promise,
        risk=risk,
        learning_curve=learning_curve,
        folds=folds,
        weighs=Weighs(factors, has_citations),
        source=labels.source,
    )
    store = tracking_store(settings.home, tracking_uri, os.environ)
    return compile_and_save(
        labels.label_set, settings, store, os.environ, source=path or family, watch=progress or Silent()
    )
