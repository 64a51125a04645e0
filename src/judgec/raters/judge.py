"""A judge as a whole: prompt, evidence, calibration and accept threshold."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar, get_args

import dspy
import numpy as np
from pydantic import BaseModel, ValidationError

from judgec.errors import ArtifactError, UserError
from judgec.evidence.model import EvidenceGoneError, EvidenceModel, Observed
from judgec.lm.adapters import CHAT, AdapterName, adapter_name, verdict_form, with_adapter, with_verdict
from judgec.lm.executor import Ask
from judgec.lm.spec import NO_LM, REFUSED, LMSpec
from judgec.raters.calibrator import Calibrator, Trace
from judgec.raters.cascade import EVIDENCE, Cascade
from judgec.raters.checks import details_of, no_details, told_of
from judgec.raters.decision import EVEN_ODDS, acceptability, half_way
from judgec.raters.features import FeatureSource, NewFeatures
from judgec.raters.live import LivePrompt
from judgec.raters.pairwise import is_pairwise, mirror, symmetric
from judgec.raters.piece import Piece
from judgec.raters.pool import Panel
from judgec.raters.programs import Json, Program, dump_module, gone, load_module
from judgec.raters.prompt import PromptRater
from judgec.raters.rate import rate_all
from judgec.raters.rater import BothOrders, CascadeRater, Count, GivenVerdicts, PanelRater, Rater, Rating
from judgec.raters.reasons import Reasons, SeenScores
from judgec.raters.registry import WORDING, judge_module
from judgec.raters.signatures import check_kind, fingerprint
from judgec.records.card import ProgramCard
from judgec.records.counts import plural
from judgec.records.judgment import UNSCORED, Judgments, expected
from judgec.records.label import FloatArray, IntArray, Item
from judgec.records.scale import Scale
from judgec.records.tasks.registry import TASKS
from judgec.table import seal

_Observe = Callable[[IntArray, bool], Observed]
"""Features and parts of the items in these rows, or of their mirror images."""

Model = TypeVar("Model", bound=BaseModel)
VERDICT, VERDICTS = "verdict", "verdicts"  # the form of a verdict that a prompt asks for itself, in the same places
ADAPTER, ADAPTERS = "adapter", "adapters"  # the form of a prompt on a card, of jurors' prompts in a calibration
A_MODEL = "provider/name"  # as --lm is typed
ENDED_PANELS = {"weighted": "a weighted panel", "stack": "a stack of judges"}  # by the kind that was saved
RIDGE = "losses"  # in a cascade that was saved with a regression of what its strong judge saves
ROUNDED = 1e-9  # by which a score may miss an accepted number


@dataclass(frozen=True)
class Binding:
    """The models, verdicts and features that a judge's tree rates with; they are no part of the tree.

    Args:
        leaf: Gives the raw verdicts of a member of the judge, by its name; of a judge without members, by an empty one.
        features: Where evidence comes from.
        count: Told of verdicts.
        a_item: How many verdicts a leaf gives an item: two where each pair is asked in both orders.
    """

    leaf: Callable[[str], Rater]
    features: FeatureSource = field(default_factory=NewFeatures)
    count: Count = field(default_factory=Count)
    a_item: int = 1


def no_member(name: str) -> Rater:
    """A member whose verdicts nobody gives.

    Raises:
        UserError: Always.
    """
    raise UserError(
        f"{name}: its verdicts were recorded, and a judge that is made of them is asked by judge FILE and load_judge "
        "alone, which look them up. Name a judge whose members are all asked, or compile one without recorded ones."
    )


def require_asked(judge: "CompiledJudge", spec: LMSpec, where: str) -> None:
    """Refuse a judge whose verdicts were recorded, of other items than are judged here; ``where`` names it.

    Raises:
        UserError: When it, or a member of it, was recorded.
    """
    for name in (name for name, model in spec.members.items() if model.recorded is not None):
        no_member(name)
    if spec.recorded is not None and judge.asks_lm:
        raise UserError(REFUSED.format(model=f"{where} ({spec.model})"))


@dataclass(frozen=True)
class CompiledJudge:
    """Everything that turns items into judgments.

    Args:
        module: The prompt.
        scale: The grades.
        aspects: What is graded of each item.
        evidence: Makes the features that the calibrators read, or None when none reads any.
        calibrators: One an aspect; an aspect without one keeps the LM's verdict as it is.
        tie_band: Scores that differ by at most this are a tie, in scale units; None when none was fitted.
        panel: The judges whose verdicts are pooled; None where one judge or prompt gives them.
        cascade: Whose judgment stands where it is sure enough, before this one is asked; None without one.
        prompts: Of recorded judges, their own prompts by name, so that they can be asked again.
        jurors: Of a jury, the prompts of the compiled judges that are asked, each with its own model; else empty.
        out_of_fold: What it would have said of the items it was fitted on, each from folds without its query; known
            to the compile that made it alone.
        half_way: How many of the verdicts that it was fitted on lay half way between two grades; likewise.
        remarks: What calibration and evidence have to say stands behind a verdict's own reason.
        refusal: Why it cannot judge any more, from ``programs.gone``; empty for a judge that can.
    """

    module: dspy.Module
    scale: Scale
    aspects: tuple[str, ...]
    evidence: EvidenceModel | None = None
    calibrators: Mapping[str, Calibrator] = field(default_factory=dict)
    tie_band: float | None = None
    panel: Panel | None = None
    cascade: Cascade | None = None
    prompts: Mapping[str, LivePrompt] = field(default_factory=dict)
    jurors: Mapping[str, dspy.Module] = field(default_factory=dict)
    out_of_fold: Judgments | None = field(default=None, repr=False, compare=False)
    half_way: int = field(default=0, repr=False, compare=False)
    remarks: bool = field(default=True, repr=False, compare=False)
    refusal: str = field(default="", repr=False, compare=False)

    @cached_property
    def pairs(self) -> bool:
        """True if it compares two answers."""
        return is_pairwise(self.module)

    @property
    def asks_lm(self) -> bool:
        """False when every aspect's calibrator reads the evidence alone."""
        return any(
            aspect not in self.calibrators or self.calibrators[aspect].source != "evidence" for aspect in self.aspects
        )

    @property
    def reads_evidence(self) -> bool:
        """True if a calibrator reads features."""
        return self.evidence is not None and any(one.source != "lm" for one in self.calibrators.values())

    @property
    def thresholds(self) -> dict[str, float]:
        """Accept thresholds by aspect; a calibrator from before rules were compiled has even odds."""
        found = {aspect: (one, one.accept_threshold) for aspect, one in self.calibrators.items()}
        even = None if self.scale.accept_index is None else EVEN_ODDS
        known = {aspect: even if least is None and one.rule.legacy else least for aspect, (one, least) in found.items()}
        return {aspect: least for aspect, least in known.items() if least is not None}

    @property
    def joint(self) -> Panel | Cascade | None:
        """The way in which several recorded judges make it; None where one judge or prompt does."""
        return self.cascade or self.panel

    @property
    def cheap(self) -> "CompiledJudge":
        """The judge that a cascade begins with."""
        assert self.cascade is not None  # the caller has looked
        return replace(self, calibrators=self.cascade.calibrators, cascade=None, panel=None, out_of_fold=None)

    @property
    def strong(self) -> "CompiledJudge":
        """The judge that a cascade asks where the cheap one does not decide."""
        assert self.cascade is not None  # the caller has looked
        strong = self.cascade.dear
        jurors = {name: module for name, module in self.jurors.items() if name == strong}
        prompts = {name: prompt for name, prompt in self.prompts.items() if name == strong}
        return replace(self, cascade=None, jurors=jurors, prompts=prompts)

    def require_whole(self) -> None:
        """Refuse to judge, or to be written for judging elsewhere, with what is gone.

        Raises:
            ArtifactError: It needs that.
        """
        if self.refusal:
            raise ArtifactError(self.refusal)

    def after(self, member: str) -> str | None:
        """The judge that is asked where a member has no verdict: of a cascade's first the second; else nobody."""
        return self.cascade.dear if self.cascade is not None and member == self.cascade.cheap else None

    def bound(self, to: Binding, member: str = "") -> Rater:
        """The judge, ready to rate.

        Args:
            to: What it rates with.
            member: Of a judge of one member, its name where the judge does not know it.

        Raises:
            ArtifactError: It needs what is gone.
        """
        self.require_whole()
        if self.cascade is not None:  # also where the strong judge reads evidence alone: then it does not ship
            cheap, strong = self.cascade.cheap, self.cascade.dear
            first = Calibrated(self.cheap, None if cheap == EVIDENCE else to.leaf(cheap), to)
            return CascadeRater(self.cascade, first, self.strong.bound(to, strong), to.count, to.a_item)
        if not self.asks_lm:
            return Calibrated(self, None, to)
        if self.panel is not None:
            return Calibrated(self, PanelRater([to.leaf(name) for name in self.panel.members], self.scale), to)
        return Calibrated(self, to.leaf(member or next(iter(self.jurors or self.prompts), "")), to)

    def judge(
        self,
        items: Sequence[Item],
        ask: Ask,
        *,
        one_order: bool = False,
        recorded: Callable[[str], Rater] = no_member,
    ) -> Judgments:
        """Judge items; one that the LM gave no verdict on stays unscored, whatever the evidence says.

        Args:
            items: Any number.
            ask: Sends requests to the LM; not called when ``asks_lm`` is False.
            one_order: Of a judge that compares two answers: ask one order only; one made of others asks both.
            recorded: Gives the verdicts of members that were recorded, by their names.

        Raises:
            UserError: Nobody gives these.
        """

        def leaf(name: str) -> Rater:
            if self.jurors and name not in self.jurors:
                return recorded(name)
            module, to = (self.jurors[name], name) if name in self.jurors else (self.module, "")
            alone = PromptRater(module, scale=self.scale, aspects=self.aspects, to=to)
            return BothOrders(alone, self.scale) if self.pairs and not (one_order and not self.jurors) else alone

        return rate_all(self.bound(Binding(leaf)), items, ask)

    def calibrate(self, items: Sequence[Item], raw: Judgments | None) -> Judgments:
        """The judgments that follow from raw verdicts, or from evidence alone where ``raw`` is None.

        Args:
            items: What was judged, in the order of ``raw``.
            raw: From ``prompt.verdicts`` with this judge's module, or of what it is made of together.

        Raises:
            ArtifactError: It needs what is gone.
        """
        self.require_whole()
        rater: Rater = Calibrated(self, None if raw is None else GivenVerdicts(raw), Binding(no_member))
        if self.cascade is not None and raw is not None:
            cheap, first = self.cascade.cheap, replace(raw.first or raw, item_ids=raw.item_ids)
            rater = self.bound(Binding(lambda name: GivenVerdicts(first if name == cheap else raw)))
        return rate_all(rater, items)

    @cached_property
    def _reasons(self) -> Reasons:
        return Reasons(self.calibrators, self.scale, pairs=self.pairs)

    @cached_property
    def _check(self) -> str:
        """The output that is checked piece by piece, or empty."""
        return check_kind(self.module)

    def _details(
        self, judged: Judgments, raw: Judgments | None, piece: Piece
    ) -> tuple[Mapping[str, object], ...] | None:
        """The further columns of each row, where the judge checks answers piece by piece."""
        if not self._check:
            return None
        rows = np.flatnonzero(judged.scored).tolist()
        said = ["" if raw is None else raw.rationale[row] for row in rows]
        details = details_of(self._check, [piece.items[row] for row in rows], said)
        found = dict(zip(rows, details, strict=True))
        return tuple(found.get(row) or no_details(self._check) for row in range(len(judged.item_ids)))

    def _told(self, raw: Judgments | None, rows: IntArray, features: FloatArray, piece: Piece) -> FloatArray:
        """Features with what the model said of the claims; the same object where it said nothing of any."""
        if raw is None or self.evidence is None or not self.evidence.reads_told or not self._check:
            return features
        said = [raw.rationale[row] for row in rows.tolist()]
        return self.evidence.telling(features, told_of(self._check, [piece.items[row] for row in rows.tolist()], said))

    def judgments(self, piece: Piece, raw: Judgments | None, observe: _Observe) -> Judgments:
        """Judgments from raw verdicts and evidence.

        Args:
            piece: What is judged.
            raw: The verdicts; None where evidence alone decides.
            observe: Gives the evidence.
        """
        rows: IntArray = np.arange(len(piece.item_ids)) if raw is None else np.flatnonzero(raw.scored)
        features, parts = observe(rows, False) if self.reads_evidence else (None, None)
        told = None if features is None else self._told(raw, rows, features, piece)
        traces = {aspect: Trace() for aspect in self.calibrators}
        judged, seen = self._calibrated(piece.item_ids, raw, (features, told), traces), SeenScores(parts, traces)
        if self.pairs:
            mirrors = None if raw is None else mirror(raw, self.scale)
            turned = {aspect: Trace() for aspect in self.calibrators}
            mirrored_features = observe(rows, True)[0] if self.reads_evidence else None
            other = self._calibrated(piece.item_ids, mirrors, (mirrored_features, mirrored_features), turned)
            judged, seen = self.symmetric(judged, other, raw), SeenScores(parts, traces, turned)
        details = self._details(judged, raw, piece)
        if not self.remarks:
            return replace(judged, details=details)
        return replace(judged, rationale=self._reasons.of(judged, raw, seen), details=details)

    def symmetric(self, judged: Judgments, turned: Judgments, raw: Judgments | None) -> Judgments:
        """Calibrated judgments of pairs that are the same whichever answer stands first: a flipped verdict is a tie.

        Args:
            judged: Of the pairs.
            turned: Of their mirror images.
            raw: The pairs' raw verdicts; None where evidence alone decides.
        """
        calibrator = self.calibrators.get(self.aspects[0])
        stated = calibrator is not None and calibrator.rule.name == "raw"
        found = symmetric(judged, turned, raw, self.scale, stated=stated)
        return found if calibrator is None else replace(found, confidence=calibrator.sure(found.confidence))

    def _calibrated(
        self,
        item_ids: tuple[str, ...],
        raw: Judgments | None,
        features: tuple[FloatArray | None, FloatArray | None],
        traces: Mapping[str, Trace],
    ) -> Judgments:
        """``features`` are those of the scored items, in order, without and with what a model said of claims."""
        alone, told = features
        shape = (len(item_ids), len(self.aspects))
        scored = np.ones(len(item_ids), dtype=bool) if raw is None else raw.scored
        values = np.array(self.scale.values)
        result = Judgments(
            item_ids=item_ids,
            aspects=self.aspects,
            probabilities=np.full((*shape, len(values)), np.nan),
            grade=np.full(shape, UNSCORED, dtype=np.int64),
            score=np.full(shape, np.nan),
            accept=np.full(shape, UNSCORED, dtype=np.int64),
            confidence=np.full(shape, np.nan),
            rationale=("",) * len(item_ids) if raw is None else raw.rationale,
            unscored=(None,) * len(item_ids) if raw is None else raw.unscored,
            stated=None if raw is None else raw.confidence[:, 0],
        )
        for j, aspect in enumerate(self.aspects):
            calibrator = self.calibrators.get(aspect)
            if calibrator is None:
                _keep_verdict(result, raw, j)
                continue
            verdicts = None if raw is None else raw.probabilities[scored, j]
            spread = calibrator.apply(verdicts, alone if calibrator.source == "evidence" else told, traces[aspect])
            stated = None if raw is None else raw.grade[scored, j]
            grade = calibrator.rule.grades(spread, self.scale, verdicts, stated)
            result.probabilities[scored, j] = spread
            result.grade[scored, j] = grade
            result.score[scored, j] = calibrator.score(spread, verdicts, values)
            if not self.scale.interval:  # a number is never exactly right
                result.confidence[scored, j] = calibrator.sure(spread[np.arange(len(spread)), grade])
            result.accept[scored, j] = decided(spread, grade, self.scale, calibrator)
        return result

    def calibration(self) -> Json:
        """All but the prompt, as JSON."""
        forms = {name: form for name, one in self.jurors.items() if (form := verdict_form(one)) is not None}
        adapters = {name: form for name, one in self.jurors.items() if (form := adapter_name(one)) != CHAT}
        return {
            "evidence": None if self.evidence is None else self.evidence.to_json(),
            "calibrators": {
                aspect: calibrator.model_dump(mode="json") for aspect, calibrator in self.calibrators.items()
            },
            **({} if self.panel is None else {"panel": self.panel.model_dump(mode="json")}),
            **({} if self.cascade is None else {"cascade": self.cascade.model_dump(mode="json")}),
            **({"jurors": {name: dump_module(module) for name, module in self.jurors.items()}} if self.jurors else {}),
            **({ADAPTERS: adapters} if adapters else {}),
            **({VERDICTS: forms} if forms else {}),
            **(
                {"prompts": {name: one.model_dump(mode="json") for name, one in self.prompts.items()}}
                if self.prompts
                else {}
            ),
        }


@dataclass(frozen=True)
class Calibrated:
    """A judge's calibration over what a rater says, or over evidence alone.

    Args:
        judge: Whose.
        of: Gives the raw verdicts, or None.
        to: What it rates with.
    """

    judge: CompiledJudge
    of: Rater | None
    to: Binding

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``."""
        judge, raw, begun = self.judge, None, dict[bool, Callable[[], Observed]]()
        if self.of is not None:
            raw = yield from self.of.rate(piece)
            self.to.count.half_way += half_way(raw, judge.scale) if judge.panel is None else 0
        elif judge.evidence is not None:  # it can be read while pieces before this one are
            rows, evidence = range(len(piece.item_ids)), judge.evidence
            both = (False, True) if judge.pairs else (False,)
            begun = {turned: self.to.features.begin(evidence, piece, rows, turned=turned) for turned in both}
            yield ()

        def observe(rows: IntArray, turned: bool) -> Observed:
            assert judge.evidence is not None  # asked only then
            if begun:
                return begun[turned]()
            return self.to.features.begin(judge.evidence, piece, rows.tolist(), turned=turned)()

        return judge.judgments(piece, raw, observe)


def load_judge(program: Program) -> CompiledJudge:
    """The judge that was saved; one that needs what is gone refuses to judge.

    Raises:
        ArtifactError: When this version of judgec builds another signature for its task, scale and fields, or
            the saved state is not a prompt and a calibration of this judge.
    """
    card = program.card
    where = f"{card.name}@{card.version}"
    wording = card.settings.get(WORDING)
    module = judge_module(card.task, card.scale, card.aspects, card.fields, card.languages, wording=wording)
    _write_as(card.settings.get(ADAPTER, CHAT), module, f"{where}: card.json")
    with_verdict(module, card.settings.get(VERDICT))
    here = fingerprint(module)
    if sorted(here) == sorted(card.signature):  # the state has the order of its inputs
        load_module(module, program.program, f"{where}: program.json")
        here = fingerprint(module)
    if here != card.signature:
        saved_only = ", ".join(line for line in card.signature if line not in here) or "the same fields"
        here_only = ", ".join(line for line in here if line not in card.signature) or "the same in another order"
        raise ArtifactError(
            f"{where}: saved for another signature, with {saved_only}; its task, scale and fields now give "
            f"{here_only}. Compile it again, or load it with the version of judgec on its card."
        )
    what, evidence = _read_evidence(program.calibration, f"{where}: calibration.json")
    calibrators = _read_calibrators(program.calibration, evidence, card, f"{where}: calibration.json", checked=not what)
    panel, ended = _read_panel(program.calibration.get("panel"), f"{where}: calibration.json")
    cascade = _read_cascade(
        program.calibration.get("cascade"), evidence, card, f"{where}: calibration.json", checked=not what
    )
    prompts = _read_prompts(program.calibration.get("prompts"), f"{where}: calibration.json")
    jurors = _read_jurors(program.calibration.get("jurors"), card, f"{where}: calibration.json")
    for name, form in (program.calibration.get(ADAPTERS) or {}).items():
        _write_as(form, jurors.get(name), f"{where}: calibration.json: {name}")
    for name, form in (program.calibration.get(VERDICTS) or {}).items():
        with_verdict(jurors[name], str(form))
    about = card.scale, card.aspects
    judge = CompiledJudge(module, *about, evidence, calibrators, card.tie_band, panel, cascade, prompts, jurors)
    if ended:
        return replace(judge, refusal=gone(program, ended))
    if what and _reads_evidence(judge):
        spec = TASKS.get(card.task)
        asks = spec is not None and spec.read_by_models(card.fields)
        return replace(judge, refusal=gone(program, what, A_MODEL if asks else ""))
    if RIDGE in (program.calibration.get("cascade") or {}):
        return replace(judge, refusal=gone(program, "a regression of what its second judge saves"))
    if judge.asks_lm and card.lm.get("model") == NO_LM:
        seal.note(gone(program, "rules that stood in for a model"))
    return judge


def _write_as(form: object, module: dspy.Module | None, where: str) -> None:
    """Give a saved prompt its form, or refuse one that there is not."""
    if module is None or form not in get_args(AdapterName):
        raise ArtifactError(
            f"{where}: adapter {form!r}; {', '.join(get_args(AdapterName))}, of a prompt that is there, was expected. "
            "Compile it again."
        )
    with_adapter(module, str(form))


def _read_jurors(saved: object, card: ProgramCard, where: str) -> dict[str, dspy.Module]:
    if saved is None:
        return {}
    if not isinstance(saved, dict):
        raise ArtifactError(
            f"{where}: jurors is {type(saved).__name__}; prompts by name were expected. Compile it again."
        )
    found = {}
    for name, state in saved.items():
        found[str(name)] = judge_module(card.task, card.scale, card.aspects, card.fields, card.languages)
        load_module(found[str(name)], state, f"{where}: jurors: {name}")
    return found


def _read_prompts(saved: object, where: str) -> dict[str, LivePrompt]:
    if saved is None:
        return {}
    if not isinstance(saved, dict):
        raise ArtifactError(
            f"{where}: prompts is {type(saved).__name__}; prompts by name were expected. Compile it again."
        )
    return {str(name): _read_model(LivePrompt, one, f"{where}: prompts", "a prompt") for name, one in saved.items()}


def _read_cascade(
    saved: object, evidence: EvidenceModel | None, card: ProgramCard, where: str, *, checked: bool
) -> Cascade | None:
    if saved is None:
        return None
    if isinstance(saved, dict) and RIDGE in saved:  # shown, and refuses to judge
        saved = {"below": 0.0, **{name: saved[name] for name in saved.keys() & Cascade.model_fields.keys()}}
    cascade = _read_model(Cascade, saved, f"{where}: cascade", "a cascade")
    for aspect, calibrator in cascade.calibrators.items() if checked else ():
        _check_calibrator(aspect, calibrator, evidence, card, f"{where}: cascade")
    return cascade


def _read_model(kind: type[Model], saved: object, where: str, expected: str) -> Model:
    """A record of ``calibration.json``; one that does not fit is damaged."""
    try:
        return kind.model_validate_json(json.dumps(saved))
    except ValidationError as error:
        fault = error.errors()[0]
        raise ArtifactError(
            f"{where}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}; {expected} was expected. Compile it again."
        ) from error


def _read_panel(saved: object, where: str) -> tuple[Panel | None, str]:
    """The panel, and what is gone with it, or empty."""
    if saved is None:
        return None, ""
    known = saved if isinstance(saved, dict) else {}
    panel = _read_model(Panel, {"members": known.get("members")}, f"{where}: panel", "a panel")
    return panel, ENDED_PANELS.get(str(known.get("kind")), "")


def _reads_evidence(judge: CompiledJudge) -> bool:
    """True if a calibrator of it, or of the judge that it begins with, reads features."""
    fitted = [*judge.calibrators.values(), *(judge.cascade.calibrators.values() if judge.cascade is not None else ())]
    return any(one.source != "lm" for one in fitted)


def _read_evidence(state: Json, where: str) -> tuple[str, EvidenceModel | None]:
    """What the evidence needs that is gone, or empty; and the evidence."""
    if state.keys() - {"panel", "cascade", "prompts", "jurors", ADAPTERS, VERDICTS} != {
        "evidence",
        "calibrators",
    } or not isinstance(state["calibrators"], dict):
        raise ArtifactError(f"{where}: {', '.join(state)}; evidence and calibrators were expected. Compile again.")
    try:
        return "", None if state["evidence"] is None else EvidenceModel.from_json(state["evidence"])
    except EvidenceGoneError as error:
        return str(error), None


def _read_calibrators(
    state: Json, evidence: EvidenceModel | None, card: ProgramCard, where: str, *, checked: bool
) -> dict[str, Calibrator]:
    calibrators = {}
    for aspect, saved in state["calibrators"].items():
        calibrator = _read_model(Calibrator, saved, f"{where}: {aspect}", "a calibrator")
        if checked:
            _check_calibrator(aspect, calibrator, evidence, card, where)
        calibrators[aspect] = calibrator
    return calibrators


def _check_calibrator(
    aspect: str, calibrator: Calibrator, evidence: EvidenceModel | None, card: ProgramCard, where: str
) -> None:
    names = () if calibrator.source == "lm" else calibrator.feature_names
    fits = not names or (evidence is not None and evidence.names == names)
    if aspect not in card.aspects or calibrator.n_grades != len(card.scale.grades) or not fits:
        raise ArtifactError(
            f"{where}: {aspect} with {calibrator.n_grades} grades and {plural(len(names), 'feature')}; "
            f"{', '.join(card.aspects)} with {plural(len(card.scale.grades), 'grade')} and the features of the "
            "evidence beside them were expected. Compile it again."
        )


def accepted(probabilities: FloatArray, scale: Scale, threshold: float | None = None) -> IntArray:
    """1 accepted, 0 rejected, -1 when nobody said which grades are accepted and no threshold was fitted.

    Args:
        probabilities: Shape (n_items, n_grades).
        scale: Its grades.
        threshold: The least ``acceptability`` that is accepted; None means even odds.
    """
    if scale.accept_index is None and threshold is None:
        return np.full(len(probabilities), UNSCORED, dtype=np.int64)
    if threshold is None and scale.interval and scale.accept_index is not None:
        least = scale.values[scale.accept_index] - ROUNDED
        return (expected(probabilities, scale.values) >= least).astype(np.int64)
    return (acceptability(probabilities, scale) >= (EVEN_ODDS if threshold is None else threshold)).astype(np.int64)


def decided(spread: FloatArray, grade: IntArray, scale: Scale, calibrator: Calibrator) -> IntArray:
    """Accept or reject, shape (n_items,): as the grade says, or by the threshold of a judge that was fitted one.

    Args:
        spread: Calibrated probabilities, shape (n_items, n_grades).
        grade: The shipped positions, shape (n_items,).
        scale: The grades.
        calibrator: What made them.
    """
    if scale.interval or calibrator.rule.legacy or calibrator.accept_threshold is not None:
        return accepted(spread, scale, calibrator.accept_threshold)
    if scale.accept_index is None:
        return np.full(len(grade), UNSCORED, dtype=np.int64)
    return (grade >= scale.accept_index).astype(np.int64)


def disagreements(judgments: Judgments, scale: Scale) -> int:
    """Number of grades that say accept where the fitted threshold says reject, or the other way round."""
    if scale.accept_index is None:
        return 0
    by_grade = judgments.grade >= scale.accept_index
    return int(((judgments.accept != UNSCORED) & (by_grade != (judgments.accept == 1))).sum())


def _keep_verdict(result: Judgments, raw: Judgments | None, j: int) -> None:
    """An aspect without calibrator: the LM's own words."""
    assert raw is not None  # an aspect without calibrator makes ``asks_lm`` true
    result.probabilities[:, j] = raw.probabilities[:, j]
    result.grade[:, j] = raw.grade[:, j]
    result.score[:, j] = raw.score[:, j]
    result.accept[:, j] = raw.accept[:, j]
    result.confidence[:, j] = raw.confidence[:, j]
