"""Reports and saves what a compile of an agent or a query generator found: one dict, its card, its page, its run."""

from collections.abc import Sequence

from judgec.compile.contest import CHAMPION, COMPILED, Contest, Contested, M
from judgec.compile.release import Finished, Place, card_facts
from judgec.compile.track import compile_run, flat
from judgec.connect.tracking.runs import CompileRun
from judgec.labels.rows.items import digest
from judgec.labels.split.draw import split_record
from judgec.labels.split.family import SPLITS
from judgec.labels.split.memory import OTHERS
from judgec.raters.predictors import saved_prompts
from judgec.raters.signatures import fingerprint
from judgec.records.card import NO_MODEL, Cost, ProgramCard
from judgec.records.estimate import Estimate
from judgec.report import kit
from judgec.report.cases import BrowsedCase
from judgec.report.items import WORDS, embedded
from judgec.report.kit import interval_bar, shown
from judgec.report.numbers import count, dollars, number
from judgec.report.page.page import Found
from judgec.report.page.prompt import prompt_lines, prompt_section

KEPT = "answers"  # what report.json has and no command prints
TERMS = WORDS | {
    "intro": "What compiling gained or lost at each test query, the largest changes first.",
    "differ": "changes",
    "rater": "Agent",
    "group": "Change",
    "far": "largest change",
}
WHO = {CHAMPION: "the champion before it"}


def finished(found: Contested[M], cost: Cost, created: str) -> Finished[Contested[M]]:
    """A compiled program that is not on disk yet.

    Args:
        found: The outcome.
        cost: What the run used.
        created: When, ISO 8601.
    """
    contest, module = found.contest, found.chosen.module
    report, cases = report_of(found, cost), contest.cases(found)
    prompts = [prompt_lines(saved_prompts(one)) for one in (module, contest.start)]
    card = ProgramCard(
        name=contest.name,
        task=contest.task,
        scale=contest.scale,
        aspects=contest.aspects,
        fields=contest.fields,
        signature=fingerprint(module),
        data_digest=digest([*(found.split.digests[name] for name in SPLITS), *sorted(contest.given)]),
        split_digest=found.split.digests["test"],
        labels=contest.labels,
        lm=contest.lm.describe(),
        engine=NO_MODEL if contest.lm.no_model else "",
        optimizer=contest.optimizer,
        settings={**contest.settings, "prompt": found.chosen.name, **found.chosen.settings},
        objective=contest.objective,
        seed=contest.seed,
        **card_facts(found.decision, found.standing, cost, created),
        test={contest.on_card[1]: found.test[COMPILED].estimates()[contest.on_card[0]]},
    )
    return Finished(
        place=Place(contest.home, contest.name, contest.task),
        card=card,
        tree=contest.tree(module),
        split=lambda salt: split_record(found.split, contest.items, contest.measured, salt),
        report={name: one for name, one in report.items() if name != KEPT},
        standing=found.standing,
        stands=lambda: contest.stands(found.split),
        decided=lambda standing: finished(found.again(standing), cost, created),
        page=lambda saved: program_page(contest, report, saved, cases, *prompts),
        browsed=cases,
        kept={name: one for name, one in report.items() if name == KEPT},
        compiled=found,
    )


def report_of(found: Contested[M], cost: Cost) -> dict[str, object]:
    """``report.json``."""
    decision, contest, items = found.decision, found.contest, found.contest.items
    return {
        "promoted": decision.promoted,
        "reason": decision.reason,
        "split": found.split.sizes(),
        "labels": {
            "queries": {name: len({items[i].query_id for i in getattr(found.split, name)}) for name in SPLITS},
            "digests": dict(found.split.digests),
            "fields": {name: list(contest.fields) for name in SPLITS},
        },
        "test": {
            who: {name: one.to_json() for name, one in tried.estimates().items()} for who, tried in found.test.items()
        },
        "difference": decision.to_json(),
        "prompt": found.chosen.name,
        "candidates": [
            {"name": name, "dev": tried.objective.point(), **tried.row} for name, tried in found.dev.items()
        ],
        "lm": contest.lm.describe(),
        "notes": list(found.notes),
        **cost.to_json(),
        **contest.report(found),
    }


def run_of(
    contest: Contest[M], found: Found, card: ProgramCard, *, source: str, took: tuple[float, float]
) -> CompileRun:
    """The run to log.

    Args:
        contest: What was compiled.
        found: Its report.
        card: Of the version as saved.
        source: Where the items came from.
        took: When it began and ended, in POSIX seconds.
    """
    dev = f"dev.{OTHERS[contest.task]}"
    return compile_run(
        found,
        card,
        contest.home,
        metrics={**contest.metrics(found), "test.n": float(found["split"]["test"])},
        shown=contest.headline,
        params=card.settings,
        candidates=[
            (
                row["name"],
                {name: row[name] for name in ("queries",) if name in row},
                {dev: row["dev"], **flat("dev", {**row, "dev": None})},
            )
            for row in found["candidates"]
        ],
        source=source,
        took=took,
        said=card.reason,
    )


def program_page(
    contest: Contest[M],
    found: Found,
    card: ProgramCard,
    cases: Sequence[BrowsedCase],
    now: Sequence[str],
    start: Sequence[str],
) -> str:
    """``report.html``: no script but the kit's, nothing loaded from elsewhere, every text of users escaped.

    Args:
        contest: What was compiled.
        found: Its report.
        card: Of the version as saved.
        cases: The test items.
        now: Lines of its prompts.
        start: Lines of the uncompiled prompts.
    """
    gap = found["difference"]
    means = {WHO.get(name, name): Estimate(**one.get("score", one)) for name, one in found["test"].items()}
    scores = [(name, shown(one), interval_bar(one, 0.0, 1.0)) for name, one in means.items()]
    apart = Estimate(**gap["objective"])
    scores.append((f"{COMPILED} minus {gap['to']}", shown(apart), interval_bar(apart, -1.0, 1.0, 0.0)))
    return kit.page(
        "program.html",
        {
            "found": found,
            "card": card,
            "contest": contest,
            "name": f"{card.name}@{card.version}",
            "detectable": None if gap["detectable"] is None else number(gap["detectable"]),
            "scores": scores,
            "items": embedded(cases, words=TERMS, head=(contest.units, "change")) if cases else None,
            "prompt": prompt_section(now, start, f"the uncompiled {contest.noun}"),
            "cost": f"{count(card.cost.lm_calls)} LM calls, {dollars(card.cost.usd)}, {card.cost.seconds:.0f} s",
        },
    )
