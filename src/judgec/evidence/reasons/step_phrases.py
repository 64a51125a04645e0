"""Phrases about the steps of a run: calls that failed or came again, results nobody used, claims without support."""

from collections.abc import Mapping, Sequence

from judgec.evidence.reasons.findings import shorten
from judgec.evidence.reasons.phrases import BAD, EITHER, FAULT, GOOD, Phrases
from judgec.evidence.reasons.templates import ReasonTemplate
from judgec.evidence.step_features import WEAK, Run
from judgec.records.counts import plural
from judgec.records.trajectory import Step, title

ENGLISH: Mapping[str, str] = {
    "not in steps": "no step found what the answer says ({})",
    "failed": "{} of {} calls failed ({})",
    "repeated": "{} was called again with the same arguments",
    "unused": "the result of {} is not used",
    "used": "the answer or a later call uses each result",
    "found in steps": "steps found what the answer says",
}


def step_phrases(run: Run, telling: ReasonTemplate | None = None) -> Phrases:
    """Phrases of the topics ``calls``, ``results`` and ``found``; nothing of a run without steps.

    Args:
        run: The run.
        telling: In another language than English.
    """
    if not run.steps:
        return {}
    return _calls(run, telling) | _results(run, telling) | _found(run, telling)


def _calls(run: Run, telling: ReasonTemplate | None) -> Phrases:
    if run.failed:
        names = ", ".join(dict.fromkeys(map(_named, run.failed)))
        return {"calls": (FAULT, _say(telling, "failed", len(run.failed), len(run.calls), names))}
    if run.repeated:
        return {"calls": (BAD, _say(telling, "repeated", _names([step for step, _ in run.repeated])))}
    if telling is None:
        return {"calls": (GOOD, f"none of {plural(len(run.calls), 'call')} failed or came again")}
    return {"calls": (GOOD, telling.phrases["calls"].format(len(run.calls)))}


def _results(run: Run, telling: ReasonTemplate | None) -> Phrases:
    if run.unused:
        return {"results": (BAD, _say(telling, "unused", _names(run.unused)))}
    return {"results": (GOOD, _say(telling, "used"))} if run.results else {}


def _found(run: Run, telling: ReasonTemplate | None) -> Phrases:
    passage = run.answer.passage
    if not passage.stems or not run.added:
        return {}
    shares = run.sentences(lambda _: 1.0)
    worst = min(range(len(shares)), key=shares.__getitem__)
    if shares[worst] < WEAK:
        quote = passage.quotes[worst] if worst < len(passage.quotes) else ""
        return {"found": (FAULT, _say(telling, "not in steps", _quoted(shorten(quote), telling)))}
    code = GOOD if shares[worst] > WEAK else EITHER
    return {"found": (code, _say(telling, "found in steps"))}


def _named(step: Step) -> str:
    return step.name or title(step)


def _names(steps: Sequence[Step]) -> str:
    return ", ".join(dict.fromkeys(map(_named, steps)))


def _quoted(text: str, telling: ReasonTemplate | None) -> str:
    return f'"{text}"' if telling is None else telling.quote.format(text)


def _say(telling: ReasonTemplate | None, key: str, *values: object) -> str:
    sentences = ENGLISH if telling is None else telling.phrases
    return sentences[key].format(*values)
