"""Makes the phrase of a reason from the check of claims or citations."""

from collections.abc import Sequence

from judgec.evidence.citation_features import CheckedCitations
from judgec.evidence.claim_features import CheckedAnswer
from judgec.evidence.reasons.findings import shorten
from judgec.evidence.reasons.phrases import BAD, EITHER, FAULT, GOOD, Phrases
from judgec.records.claim import CONTRADICTED, NOT_FOUND, SUPPORTED, CheckedClaim, CheckedNugget, recall
from judgec.records.counts import plural

FEW = 0.5  # share of supported claims below which they speak against the answer


def check_phrases(checked: CheckedAnswer | CheckedCitations) -> Phrases:
    """The phrase on the claims, the citations or the nuggets of an answer; nothing where it has none."""
    if isinstance(checked, CheckedAnswer) and not checked.sourced:
        return _of_nuggets(checked.checked_nuggets)
    if isinstance(checked, CheckedAnswer):
        claims, thing = [one.checked for one in checked.claims], "claim"
    else:
        claims, thing = [one for sentence in checked.sentences for one in sentence.checked], "citation"
    if not claims:
        return {}
    good = sum(one.verdict == SUPPORTED for one in claims)
    said = f"{good} of {len(claims)} {thing}{'' if len(claims) == 1 else 's'} {'is' if good == 1 else 'are'} supported"
    worst = _first(claims, CONTRADICTED)
    if worst is not None:
        where = f"{worst.source} {worst.number}"
        return {"sentences": (FAULT, f'{said}; {where} contradicts "{shorten(worst.text)}"')}
    worst = _first(claims, NOT_FOUND)
    if worst is None:
        return {"sentences": (GOOD, said)}
    lost = f'not found is "{shorten(worst.text)}"'
    if thing == "citation":
        lost = f'document {worst.number} does not say "{shorten(worst.text)}"'
    return {"sentences": (BAD if good < FEW * len(claims) else EITHER, f"{said}; {lost}")}


def _of_nuggets(nuggets: Sequence[CheckedNugget]) -> Phrases:
    """The phrase on what an answer should give, the weightiest that is missing by name."""
    wanted = [one for one in nuggets if one.nugget.weight > 0]
    lost = [one for one in wanted if one.verdict != SUPPORTED]
    if not wanted:
        return {}
    given = len(wanted) - len(lost)
    said = f"{given} of {plural(len(wanted), 'nugget')} {'is' if given == 1 else 'are'} given"
    if not lost:
        return {"sentences": (GOOD, said)}
    worst = max(lost, key=lambda one: one.nugget.weight)
    denied = "it denies" if worst.verdict == CONTRADICTED else "missing is"
    share = recall(tuple(nuggets)) or 0.0
    return {"sentences": (BAD if share < FEW else EITHER, f'{said}; {denied} "{shorten(worst.nugget.text)}"')}


def _first(claims: Sequence[CheckedClaim], verdict: str) -> CheckedClaim | None:
    return next((one for one in claims if one.verdict == verdict), None)
