"""Loads a judge that a verb is given by its name, or takes a ``judgec.Judge`` as it is."""

from dataclasses import replace
from pathlib import Path

from judgec.errors import UserError
from judgec.raters import programs
from judgec.records.card import ProgramCard
from judgec.table import seal
from judgec.verbs.frames import as_table, is_path
from judgec.verbs.judge import Judge, load_judge
from judgec.verbs.options.shared import HeldOutLabels
from judgec.verbs.whom import as_loaded
from judgec.verbs.workspace import Workspace
from judgec.verbs.zero_shot import NAME, UncompiledJudge, is_zero_shot, said_by, zero_shot_like, zero_shot_of_file


def given_judge(
    judge: Judge | str,
    *,
    home: Path,
    lm: str | None = None,
    api_base: str | None = None,
    labels: HeldOutLabels | None = None,
    like: ProgramCard | None = None,
) -> Judge:
    """The judge of a name below ``home``, or the one that was given, with its own home.

    Args:
        judge: ``NAME[@VERSION]``, a judge, or ``zero-shot[:TASK]``.
        home: Folder of programs/, for a name.
        lm: Another model than its own; that of a judge without labels.
        api_base: Another endpoint than its own.
        labels: What it is held against, which says which inputs a judge without labels is shown.
        like: The judge that one without labels stands beside: its task, scale and inputs are the other's.

    Raises:
        UserError: There is no such judge; or one without labels has no model, or nothing says what it judges.
        ArtifactError: Its files do not fit this version of judgec.
    """
    if is_unlabelled(judge, home):
        return _unlabelled(judge, home, lm, api_base, labels, like)
    if isinstance(judge, str):
        return load_judge(judge, home=home, lm=lm, api_base=api_base)
    if lm is not None or api_base is not None:
        base, allowed = api_base or judge.spec.api_base, judge.allow_modified
        return load_judge(judge.name, home=judge.home, lm=lm, api_base=base, allow_modified=allowed)
    with seal.reading(judge.allow_modified):  # an audit may be on its card by now
        return replace(judge, program=programs.load(judge.home, judge.name))


def is_unlabelled(judge: Judge | str, home: Path) -> bool:
    """True for a judge that learned from no label."""
    return is_zero_shot(judge, home) if isinstance(judge, str) else isinstance(judge, UncompiledJudge)


def _unlabelled(
    judge: Judge | str,
    home: Path,
    lm: str | None,
    api_base: str | None,
    labels: HeldOutLabels | None,
    like: ProgramCard | None,
) -> Judge:
    """A judge that learned from no label, for the inputs of the labels that it is held against."""
    name = judge if isinstance(judge, str) else f"{NAME}:{said_by(judge.card)}"
    if not isinstance(judge, str):
        home, lm, api_base = judge.home, lm or judge.spec.model, judge.spec.api_base or api_base
    if like is not None and name.partition(":")[2] in {"", like.task}:
        program = zero_shot_like(like, lm, api_base)
    elif labels is None or labels.labels is None:
        raise UserError(f"{name}: no labels of its own; --labels FILE names what it is held against. Add it.")
    else:
        given = labels.labels
        file = str(given) if is_path(given) else as_table(given, labels.missing)
        program = zero_shot_of_file(name, file, labels.columns, lm, api_base)
    return Judge(**vars(as_loaded(program, api_base=api_base)), workspace=Workspace(home))
