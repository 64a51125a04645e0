"""Audits whether a judge favours its own model's family or a group of items; both need the experts' labels."""

import re
from collections.abc import Mapping

import numpy as np

from judgec.lm.spec import NO_LM
from judgec.records.audit import Finding
from judgec.records.label import UNLABELLED, FloatArray, Item
from judgec.trust.audits.effect import Effect, finding_of, skipped
from judgec.trust.audits.subject import AuditSubject, expert_merit

MIN_QUERIES = 8  # of a group, for a gap to be looked for
NO_LABELS = "there are no experts' labels to compare with; give some with --labels"

# A word in the name of a model, and the family that it belongs to.
FAMILIES = {
    "gpt": "OpenAI",
    "openai": "OpenAI",
    "chatgpt": "OpenAI",
    "davinci": "OpenAI",
    "o1": "OpenAI",
    "o3": "OpenAI",
    "o4": "OpenAI",
    "claude": "Anthropic",
    "anthropic": "Anthropic",
    "gemini": "Google",
    "gemma": "Google",
    "palm": "Google",
    "google": "Google",
    "llama": "Meta",
    "vicuna": "Meta",
    "alpaca": "Meta",
    "mistral": "Mistral",
    "mixtral": "Mistral",
    "ministral": "Mistral",
    "qwen": "Alibaba",
    "qwq": "Alibaba",
    "deepseek": "DeepSeek",
    "command": "Cohere",
    "cohere": "Cohere",
    "phi": "Microsoft",
    "grok": "xAI",
    "smollm": "Hugging Face",
    "olmo": "AI2",
    "granite": "IBM",
    "nova": "Amazon",
    "titan": "Amazon",
}
SEVERAL = "several"  # in place of a model: those of a jury are of different families


def family_of(name: str | None) -> str | None:
    """The family of the model that a name speaks of, or None; the last word that names one counts.

    ``hosted_vllm/Qwen2.5-7B`` is Alibaba's; in ``openai/llama-3`` the first word names the protocol.
    """
    found = None
    for word in re.findall(r"[a-z]+\d*", (name or "").lower()):
        found = FAMILIES.get(word) or FAMILIES.get(re.sub(r"\d+$", "", word)) or found
    return found


def audit_self_preference(subject: AuditSubject, bound: float) -> Finding:
    """Measures how much more than the experts the judge gives to answers by models of its own family.

    Answers: mean of judge - expert over its own family's answers, less that over the others'. Pairs of one of each:
    judge - expert in points of its own family.
    """
    own = family_of(subject.model)
    if own is None:
        return skipped("self_preference", bound, _no_family(subject.model))
    surplus = subject.merit(subject.beside_experts) - expert_merit(subject)
    if subject.experts is None or np.isnan(surplus).all():
        return skipped("self_preference", bound, NO_LABELS)
    says = f"Beyond what experts say, answers by models of {own}, the judge's own family, get {{effect}} of the scale"
    if subject.pairwise:
        side = np.array([_side(item, own) for item in subject.items])
        if not side.any():
            why = f"no pair has one answer by a model of {own} and one by another; name the models in the columns "
            return skipped("self_preference", bound, f"{why}agent_a and agent_b, for example gpt-4o")
        mine = side != 0
        values = np.where(mine, surplus * side, np.nan)[mine]
        return finding_of("self_preference", [Effect("", says, values, subject.cluster[mine])], bound)
    families = [family_of(item.agent) for item in subject.items]
    is_own = np.array([family == own for family in families])
    is_other = np.array([family is not None and family != own for family in families])
    if not is_own.any() or not is_other.any():
        seen = ", ".join(sorted({family for family in families if family})) or "none that is known"
        why = f"agents of {own} and of others are needed; families seen: {seen}. Name the model that wrote each answer"
        return skipped("self_preference", bound, f"{why} in the column agent, for example gpt-4o")
    return finding_of("self_preference", [_contrast("", says, subject, surplus, is_own, is_other)], bound)


def audit_groups(subject: AuditSubject, bound: float) -> Finding:
    """For each group: mean of judge - expert there, less that of all other items."""
    surplus = subject.merit(subject.beside_experts) - expert_merit(subject)
    if subject.experts is None or (subject.experts.target == UNLABELLED).all():
        return skipped("groups", bound, NO_LABELS)
    if subject.pairwise:
        surplus = np.abs(surplus)  # of pairs, who stands first has no meaning: compare how far the judge is off
    groups = np.array([item.group or "" for item in subject.items])
    queries = {
        name: len(np.unique(subject.cluster[(groups == name) & ~np.isnan(surplus)]))
        for name in sorted(set(groups.tolist()) - {""})
    }
    names = [name for name in queries if queries[name] >= MIN_QUERIES and ((groups != name) & ~np.isnan(surplus)).any()]
    if len(names) < 2:
        return skipped("groups", bound, _too_few(queries))
    word = (
        "is further off than elsewhere by" if subject.pairwise else "grades higher than experts, against elsewhere, by"
    )
    measures = [
        _contrast(
            name,
            f"In group {name.replace('{', '(').replace('}', ')')} the judge {word} {{effect}} of the scale",
            subject,
            surplus,
            groups == name,
            groups != name,
            two_sided=True,
        )
        for name in names
    ]
    return finding_of("groups", measures, bound)


def _no_family(model: str) -> str:
    if model == NO_LM:
        return "no model is asked, and evidence is of no family that it could favour"
    if model == SEVERAL:
        return "the jurors' models are of several families"
    known = ", ".join(dict.fromkeys(FAMILIES.values()))
    return f"the family of the judge's model {model!r} is not known; names that tell {known} are"


def _too_few(queries: Mapping[str, int]) -> str:
    if not queries:
        return "no item names its group; put one, such as a subject area, into the column group"
    largest = max(queries, key=lambda name: queries[name])
    enough = sum(number >= MIN_QUERIES for number in queries.values())
    return (
        f"{enough} of {len(queries)} groups have {MIN_QUERIES} labelled queries that the judge has not learned from "
        f"(the largest, {largest}, has {queries[largest]}); two are needed. Label more queries, or put coarser groups "
        "into the column group"
    )


def _contrast(
    name: str,
    says: str,
    subject: AuditSubject,
    surplus: FloatArray,
    here: np.ndarray,
    there: np.ndarray,
    *,
    two_sided: bool = False,
) -> Effect:
    """mean(surplus here) - mean(surplus there), as a mean over all of these items, so that it has their clusters.

    Each value is the difference and the item's influence on it; the smaller group decides the degrees of freedom.
    """
    known = ~np.isnan(surplus)
    values = np.full(len(surplus), np.nan)
    n = int(((here | there) & known).sum())
    means, queries = {}, {}
    for sign, group in ((1, here & known), (-1, there & known)):
        means[sign] = float(surplus[group].mean()) if group.any() else 0.0
        queries[sign] = len(np.unique(subject.cluster[group]))
        few = np.sqrt(queries[sign] / max(1, queries[sign] - 1))  # residuals of few queries are too small
        values[group] = sign * few * (surplus[group] - means[sign]) * n / max(1, int(group.sum()))
    used = here | there
    values = values[used] + means[1] - means[-1]
    return Effect(name, says, values, subject.cluster[used], subject.step, two_sided, draws=min(queries.values()))


def _side(item: Item, own: str) -> int:
    """1 where only the first answer is by the own family, -1 where only the second is, else 0."""
    a, b = family_of(item.text("agent_a")), family_of(item.text("agent_b"))
    if a is None or b is None:
        return 0
    return int(a == own) - int(b == own)
