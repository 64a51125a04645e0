"""Loads a judge that a verb is given by its name, or takes a ``judgec.Judge`` as it is."""

from dataclasses import dataclass
from pathlib import Path

from judgec.raters import programs
from judgec.raters.programs import Program
from judgec.table import seal
from judgec.verbs.judge import Judge, load_judge


@dataclass(frozen=True, slots=True)
class GivenJudge:
    """A judge with all that was saved of it.

    Args:
        judge: Ready to judge.
        program: Its report and what it has learned from.
    """

    judge: Judge
    program: Program

    @property
    def name(self) -> str:
        """``NAME@VERSION``."""
        return self.judge.name

    @property
    def home(self) -> Path:
        """Folder of its programs/."""
        return self.judge.home


def given_judge(judge: Judge | str, *, home: Path, lm: str | None = None, api_base: str | None = None) -> GivenJudge:
    """The judge of a name below ``home``, or the one that was given, with its own home.

    Args:
        judge: ``NAME[@VERSION]``, or a judge.
        home: Folder of programs/, for a name.
        lm: Another model than its own.
        api_base: Another endpoint than its own.

    Raises:
        UserError: There is no such judge.
        ArtifactError: Its files do not fit this version of judgec.
    """
    if isinstance(judge, str):
        loaded = load_judge(judge, home=home, lm=lm, api_base=api_base)
    elif lm is None and api_base is None:
        loaded = judge
    else:
        base, allowed = api_base or judge.spec.api_base, judge.allow_modified
        loaded = load_judge(judge.name, home=judge.home, lm=lm, api_base=base, allow_modified=allowed)
    with seal.reading(loaded.allow_modified):
        return GivenJudge(loaded, programs.load(loaded.home, loaded.name))
