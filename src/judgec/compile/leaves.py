"""Says who the candidates of a compile are, as they will be saved: leaves of a tree."""

from judgec.compile.search.candidates import Candidate
from judgec.compile.settings import CompileSettings
from judgec.lm.spec import FUNCTION, RECORDED, LMSpec
from judgec.raters.about_judges import AboutJudge
from judgec.raters.predictors import saved_prompt
from judgec.raters.tree import AnyLeaf, FunctionLeaf, PromptLeaf, RecordedLeaf
from judgec.raters.turns import unfit
from judgec.records.card import Setting
from judgec.records.label import LabelSet


def leaves_of(settings: CompileSettings, labels: LabelSet) -> dict[str, AnyLeaf]:
    """Those whose verdicts are compared, by name; none where one prompt is searched for.

    A recorded judge whose prompt is known, and can be put to items of the task, is that prompt.

    Args:
        settings: With what was recorded, and who was asked.
        labels: Whose items are judged.
    """
    recorded, asked = settings.candidates.recorded, {one.name: one for one in settings.candidates.asked}
    if recorded is None:
        return {}
    return {
        name: _asked(asked[name], settings.lm.members[name], labels)
        if name in asked
        else _recorded(name, about, settings, labels)
        for name, about in recorded.judges.items()
    }


def _asked(one: Candidate, lm: LMSpec, labels: LabelSet) -> AnyLeaf:
    if lm.provider == FUNCTION:
        (predict,) = one.module.predictors()
        return FunctionLeaf(name=one.name, lm=lm.describe(), inputs=tuple(predict.signature.input_fields))
    return saved_prompt(one.module, labels.scale, one.name, lm.describe())


def _recorded(name: str, about: AboutJudge, settings: CompileSettings, labels: LabelSet) -> AnyLeaf:
    where = [one.model for one in (settings.lm, *settings.lm.members.values()) if one.model.startswith(RECORDED)]
    if not about.messages or unfit(about.messages, labels.task, labels.aspects):
        return RecordedLeaf(name=name, verdicts=where[0])
    lm: dict[str, Setting] = {} if about.model is None else {"model": about.model}
    return PromptLeaf(name=name, lm=lm, turns=dict(about.messages), verdict=about.verdict, verdicts=where[0])
