"""The notes of a tournament's report: what its reader has to know."""

from collections.abc import Sequence
from dataclasses import replace
from textwrap import shorten

from judgec.raters.programs import Program
from judgec.records.citation import NO_DOCUMENT
from judgec.records.counts import plural
from judgec.records.tasks.registry import compares
from judgec.report.systems_table import systems_lines
from judgec.stats.agreement.systems import SystemAgreement
from judgec.tournament.files.entries import Entries
from judgec.tournament.pooling import count_citations
from judgec.tournament.report.evaluation import Evaluation, audit_note
from judgec.verbs.options.evaluate import EvaluateOptions
from judgec.verbs.validity import Validity
from judgec.verbs.zero_shot import UNLABELLED, is_zero_shot

ADVICE = "Give {name} in the tables of the tournament, or name a judge that was compiled without."


def notes_of(
    options: EvaluateOptions, found: Evaluation, validities: Sequence[Validity] = (), *, qrels: bool
) -> tuple[str, ...]:
    """Notes for the reader of an evaluation, one sentence each.

    Args:
        options: What was asked for.
        found: What came of it.
        validities: Of the judges.
        qrels: Whether relevance grades were given.
    """
    card, entries = found.card, found.entries
    notes = list(entries.notes)
    answered = len(entries.answered)
    if len(entries.queries) > answered:
        notes.append(f"{len(entries.queries) - answered} queries have no answer of anybody.")
    notes += [f"{agent} has no answer to {count} of {answered} queries." for agent, count in entries.missing.items()]
    if found.skipped:
        skipped = plural(found.skipped, "game was", "games were")
        notes.append(f"{skipped} not played because an answer is missing: nobody has won.")
    for one in validities:
        notes += replace(one, unproven="").notes("answers", ADVICE)  # UNPROVEN JUDGE says more
    if (entries.retrieved or entries.shared) and "contexts" not in card.fields:
        notes.append("The judge was compiled without contexts: it does not see the documents.")
    notes += filter(None, [audit_note(card)])
    if card.labels:
        notes.append("The judge learned from constructed labels: no expert gave them.")
    if options.lm is not None:
        notes.append(f"Judged with {options.lm}; the judge was measured with {card.lm.get('model')}.")
    if (options.factors or options.has_citations) and card.version:
        notes.append("The judge's prompt was changed (--factors, --has-citations); it was measured without that.")
    if qrels and options.relevance_judge:
        notes.append("--relevance-judge was not used: --qrels grades the documents.")
    elif options.relevance_judge and is_zero_shot(options.relevance_judge, options.home):
        notes.append(f"UNPROVEN: {options.relevance_judge} graded the documents; {UNLABELLED}.")
    if found.identical:
        notes.append(
            f"{found.identical} of {len(found.played)} games are between answers that are the same: ties, and nobody "
            "was asked."
        )
    if "contexts" in card.fields and (compares(card.task) or any(one.item for one in found.marks.values())):
        notes += _documents(options, found)
    if options.adaptive and options.games is None:
        notes.append("--adaptive chose the order of the games, and all were played; --games N plays its first N.")
    return tuple(notes)


def _documents(options: EvaluateOptions, found: Evaluation) -> list[str]:
    """Notes on the documents that a judge was shown and that answers rest on together."""
    graded, least = found.relevance, options.threshold
    notes = []
    if not compares(found.card.task):
        measured = ", and it was measured with each answer's own" if found.card.version else ""
        notes.append(f"The judge saw the relevant documents of all agents of a query together{measured}.")
        bare = sum(one.item is not None and "contexts" not in one.item.inputs for one in found.marks.values())
        if bare:
            notes.append(
                f"{bare} of {len(found.marks)} answers were judged without documents, by a prompt that does not speak "
                "of them: their queries have none, or all were hidden."
            )
    if graded is not None and least is not None and graded.best < graded.position(least):
        best = graded.called(graded.best)
        notes.append(f"All graded documents are hidden: the best grade is {best}, --threshold {least}.")
    if found.without_contexts:
        notes.append(
            f"{found.without_contexts} of {len(found.played)} games were judged without documents, by a prompt that "
            "does not speak of them: there was none, or all were hidden."
        )
    for agent, (missing, left) in count_citations(found.entries).items():
        if missing:
            count = plural(len(missing), "citation")
            notes.append(f"{count} of {agent} of documents that it did not have: the judge read [{NO_DOCUMENT}].")
        if left:
            form = f"not of its form {found.entries.citing[agent]}, and left as written"
            notes.append(f"{plural(len(left), 'mark')} of {agent} such as {shorten(left[0], 40)}: {form}.")
    return notes


def seen_note(seen: frozenset[str], entries: Entries) -> tuple[str, ...]:
    """Said where the judge has learned from labels of these very queries."""
    if not seen:
        return ()
    return (f"{len(seen)} of {len(entries.answered)} queries were in the judge's train or dev labels.",)


def ranked_notes(judges: Sequence[Program]) -> tuple[str, ...]:
    """Says of each judge how it ranked the systems of its own test items, where these told systems apart."""
    notes = []
    for program in judges:
        found = program.report.get("systems")
        if isinstance(found, dict):
            said = systems_lines(SystemAgreement.from_json(found))
            notes += [f"{program.card.name}@{program.card.version}, on its own test items: {one}." for one in said]
    return tuple(notes)
