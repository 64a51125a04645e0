"""Diagnoses which part of a system failed, and says what to do about it."""

from collections import Counter
from collections.abc import Sequence

from judgec.rag.probes.judging.facts import states, support
from judgec.rag.queries.terms import TermIndex, content
from judgec.records.counts import plural
from judgec.records.scenario.outcome import Probed, SystemReply, Where
from judgec.records.scenario.schema import Component, Fix, Question, Scenario

FOUND = 0.8  # share of a reference's words that a passage must hold to be the one that answers
LOOKED_AT = 20  # passages of the corpus in which a reference is looked for

FIXES: dict[Component, tuple[str, str]] = {
    "retrieval": (
        "better retrieval: other embeddings, hybrid search, smaller chunks, query rewriting",
        "the passage that answers was not among those retrieved",
    ),
    "generator": (
        "a stronger language model, or a better prompt",
        "the passage that answers was retrieved, and the answer did not use it",
    ),
    "corpus": ("add the missing documents, or index them again", "no passage of the index answers"),
}


def diagnose(question: Question, reply: SystemReply, terms: TermIndex | None) -> tuple[Where, str]:
    """Finds where a failed answer was lost, and the evidence.

    Args:
        question: With its reference or parts.
        reply: Failed, with an answer.
        terms: The index that the system searched, or None when nobody knows it.

    Returns:
        ``generator`` where what it needed was retrieved (or nothing was needed, as it had to refuse), ``retrieval``
        where it was not, ``corpus`` where no passage of the index holds it, ``not tested`` where the system does not
        say what it retrieved or the question has no reference.
    """
    if question.must_refuse:
        return "generator", "nothing in the index answers: whatever it said beyond a refusal was made up"
    needs = [part.reference for part in question.parts] or [_needed(question)]
    if not any(needs):
        return "not tested", "the question has no reference"
    if terms is not None and (absent := [need for need in needs if not _in_corpus(need, question, terms)]):
        return "corpus", f"no passage of the index holds {_quoted(absent)}"
    if reply.contexts is None:
        return "not tested", "the system does not say what it retrieved"
    missed = [need for need in needs if not any(_holds(text, need, question) for text in reply.contexts)]
    if missed:
        return "retrieval", f"none of {plural(len(reply.contexts), 'retrieved passage')} holds {_quoted(missed)}"
    return "generator", f"the retrieved passages hold {_quoted(needs)}, and the answer does not give it"


def advice(scenario: Scenario | None, failed: Sequence[Probed]) -> Fix | None:
    """The recommended fix of a scenario's failures: the scenario's own, unless the diagnosis says otherwise.

    Args:
        scenario: Or None for questions from a file.
        failed: Its failures; without any there is nothing to fix.
    """
    if not failed:
        return None
    counts = Counter(one.verdict.component for one in failed)
    own = scenario.recommended_fix if scenario else None
    tested = {component: counts[component] for component in FIXES if counts[component]}
    if not tested:
        return own
    component = max(tested, key=lambda name: (tested[name], own is not None and own.component == name))
    of = f"{tested[component]} of {plural(len(failed), 'failure')}"
    if own is not None and own.component == component:
        found = f": {FIXES[component][1]}" if not failed[0].question.must_refuse else ""
        return own.model_copy(update={"reason": f"{own.reason} ({of}{found})"})
    fix, reason = FIXES[component]
    return Fix(component=component, fix=fix, reason=f"in {of} {reason}")


def _needed(question: Question) -> str:
    if question.form == "false_premise" and question.wrong:
        return question.reference.replace(f", not {question.wrong[0]}", "").partition(":")[2].strip() or (
            question.reference
        )
    return question.reference


def _holds(text: str, need: str, question: Question) -> bool:
    """The source passage itself, or one that states the reference beside what was asked about."""
    if any(text.strip() == passage.strip() for passage in question.passages):
        return True
    return states(text, need) and support(question.query, (text,)) >= 0.5 * (1 if question.form != "language" else 0)


def _in_corpus(need: str, question: Question, terms: TermIndex) -> bool:
    nearest = terms.best(content(f"{question.query}\n{need}"), LOOKED_AT)
    return any(states(terms.chunks[at].text, need) for at in nearest) or any(
        support(need, (terms.chunks[at].text,)) >= FOUND for at in nearest
    )


def _quoted(needs: Sequence[str]) -> str:
    return " and ".join(f'"{need[:80]}"' for need in needs)
