"""Says whom a saved judge asks: its own models, others that are named in their place, or nobody.

What a judge is made of is looked at in ``GivenJudge`` alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from judgec.errors import UserError
from judgec.lm.hosts import own_endpoint
from judgec.lm.spec import RECORDED, LMSpec
from judgec.raters.judge import JudgeTree, load_judge
from judgec.raters.programs import Program, model_of
from judgec.raters.recorded import RecordedVerdicts
from judgec.raters.tree import PromptLeaf
from judgec.records.card import EVIDENCE_ALONE, ProgramCard
from judgec.verbs.options.judge import Asking

SAMPLING_TEMPERATURE = 0.7  # of several samples, where the judge's own is 0: they would all be the same


@dataclass(frozen=True, kw_only=True)
class GivenJudge:
    """A saved judge, and who is asked for its verdicts.

    Args:
        program: What was saved of it: its card, its report, what it has learned from.
        compiled: Its tree.
        spec: The model that it asks, or where its verdicts were recorded.
        verdicts: Recorded verdicts that it reads, in place of those.
        named: Somebody typed whom to ask: a file of verdicts that is not here holds none then.
        prompted: The models that prompts are put to whose verdicts were recorded, where an item has none.
    """

    program: Program = field(repr=False)
    compiled: JudgeTree
    spec: LMSpec
    verdicts: RecordedVerdicts | None = field(default=None, repr=False)
    prompted: Mapping[str, LMSpec] = field(default_factory=dict)
    named: bool = False

    @property
    def card(self) -> ProgramCard:
        """What it is and where it came from."""
        return self.program.card

    @property
    def name(self) -> str:
        """``NAME@VERSION``."""
        return f"{self.card.name}@{self.card.version}"

    @property
    def saved(self) -> bool:
        """True if it is among the programs; a judge without labels is not."""
        return self.card.version > 0

    @property
    def asks_lm(self) -> bool:
        """False where evidence alone decides."""
        return self.compiled.asks_lm

    @property
    def asked_at(self) -> str:
        """Model and host; where evidence alone decides, that nothing is asked."""
        if self.card.evidence_alone:
            return EVIDENCE_ALONE
        asked = ", ".join(dict.fromkeys(one.asked_at for one in self.prompted.values()))
        return f"{self.spec.asked_at}; items without a verdict: {asked}" if asked else self.spec.asked_at

    @property
    def lm(self) -> str | None:
        """Whom it asks, as ``--lm`` says it; None where its card says so."""
        if any(leaf.verdicts for leaf in self.compiled.prompts):
            return ",".join(f"{whose}={one.model}" for whose, one in self.prompted.items()) if self.named else None
        return None if self.spec.members else self.spec.model

    @property
    def models(self) -> list[str]:
        """Those that it asks, or that gave its recorded verdicts."""
        return [one.model for one in self.spec.members.values()] or [self.spec.model]

    @property
    def accepts(self) -> bool:
        """False where the scale has no accept threshold and none was fitted: it accepts and rejects nothing."""
        fitted = (one.accept_threshold for one in self.compiled.rater.calibrators.values())
        return self.card.scale.accept_index is not None or any(one is not None for one in fitted)


def as_loaded(
    program: Program,
    *,
    lm: str | None = None,
    api_base: str | None = None,
    temperature: float | None = None,
) -> GivenJudge:
    """The judge with its model, or another; parameters as ``judgec.load_judge``. Nothing is opened yet.

    Args:
        program: The judge.
        lm: As there; of prompts whose verdicts were recorded the model of all of them, or ``WHOSE=MODEL,...`` for some:
            a recorded judge, or the model whose verdicts were recorded, and whom to ask.
        api_base: As there; no endpoint is taken from its card.
        temperature: Of the models that such prompts are put to.

    Raises:
        ArtifactError: Its files do not fit this version of judgec.
        UserError: A model that cannot be asked in its place, or at another endpoint than the one it was compiled at.
    """
    compiled = load_judge(program)
    prompts = [leaf for leaf in compiled.prompts if leaf.verdicts]
    named = lm if prompts and lm is not None and not lm.startswith(RECORDED) else None
    spec = model_of(program.card, lm=lm if named is None else None, api_base=api_base)
    models = _models_of(prompts, named)
    asked = {name: LMSpec.parse(one, api_base=api_base, temperature=temperature) for name, one in models.items()}
    return GivenJudge(program=program, compiled=compiled, spec=spec, prompted=asked, named=named is not None)


def _models_of(prompts: Sequence[PromptLeaf], lm: str | None) -> dict[str, str]:
    """Whom to ask with each recorded judge's prompt; those of whose model nobody can be asked are left out.

    Raises:
        UserError: A name before ``=`` is neither a judge nor a model of these verdicts.
    """
    own = {one.name: str(one.lm.get("model") or "") for one in prompts}
    named = dict.fromkeys(own, lm) if lm is not None and "=" not in lm else {}
    if lm is not None and "=" in lm:
        named = {who.strip(): model.strip() for who, _, model in (one.rpartition("=") for one in lm.split(","))}
    if strange := [who for who in named if who not in {*own, *own.values()}]:
        raise UserError(
            f"--lm {lm}: {', '.join(strange)} is neither a judge nor a model of these verdicts; "
            f"{', '.join(sorted({*own, *filter(None, own.values())}))} are valid before the =. Correct it."
        )
    if none := [model for model in named.values() if "/" not in model or ":" in model.partition("/")[0]]:
        raise UserError(
            f"--lm {lm}: {none[0] or 'nothing'} is no model that prompts are put to; provider/name is valid, as "
            "openai/gpt-4o, or recorded:FILE. Correct it."
        )
    found = {name: named.get(name) or named.get(model) or model for name, model in own.items()}
    return {name: model for name, model in found.items() if model and "/" in model}


def as_asked(judge: Program | GivenJudge, asking: Asking) -> GivenJudge:
    """The judge with the model that is asked for, else with its own; nothing is opened yet.

    Args:
        judge: As it was saved, or as Python has loaded it: then its own model is the one that it was loaded with.
        asking: Which model, and how it is asked; where evidence alone decides, nobody is, whatever it says.

    Raises:
        UserError: Several samples of what says the same every time, a model that cannot be asked in its place, or the
            judge was compiled at another endpoint than the one that would be asked.
    """
    lm, api_base = asking.lm, asking.api_base
    if isinstance(judge, Program):
        if judge.card.evidence_alone:
            return as_loaded(judge, api_base=api_base)
        judge = as_loaded(judge, lm=lm, api_base=api_base, temperature=asking.temperature)
    elif lm is not None or api_base is not None:
        api_base = api_base or judge.spec.api_base
        at = as_loaded(judge.program, lm=lm or judge.lm, api_base=api_base, temperature=asking.temperature)
        kept = judge.spec if lm is None and judge.spec.recorded is not None else at.spec
        judge = replace(at, spec=kept, verdicts=judge.verdicts)
    return replace(judge, spec=_sampled(judge.name, judge.spec, asking))


def _sampled(name: str, spec: LMSpec, asking: Asking) -> LMSpec:
    """The model with the temperature that is asked for; several samples need one."""
    if spec.members:
        for option, given in (("--samples", asking.samples > 1), ("--temperature", asking.temperature is not None)):
            if given:
                raise UserError(f"{option}: {name} is a jury, which is asked as it was measured. Leave it out.")
        return spec
    if asking.samples > 1 and (spec.no_model or spec.recorded is not None):
        who = "a judge without a model says" if spec.no_model else "recorded verdicts say"
        raise UserError(
            f"--samples: {who} the same every time; a language model gives several samples. "
            "Leave --samples out, or name a model with --lm."
        )
    temperature = asking.temperature
    if temperature is None and asking.samples > 1 and not spec.reasoning:
        temperature = spec.temperature or SAMPLING_TEMPERATURE
    if temperature is None:
        return spec
    return LMSpec.parse(
        spec.model,
        api_base=spec.api_base or own_endpoint(spec.model),
        temperature=temperature,
        max_tokens=spec.max_tokens,
        timeout=spec.timeout,
        top_logprobs=spec.top_logprobs,
        extra=spec.extra,
        without=spec.without,
    )
