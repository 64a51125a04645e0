"""Makes ``report.html`` of a compiled judge from its report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote

from markupsafe import Markup

from judgec.compile.costs import with_front
from judgec.errors import JudgecError
from judgec.labels.split.family import write_whole
from judgec.raters import programs
from judgec.raters.judge import JudgeTree, load_judge
from judgec.raters.recorded import RECORDED_KIND
from judgec.raters.tree import EVIDENCE, PromptLeaf
from judgec.records.agreement import Agreement
from judgec.records.audit import Finding
from judgec.records.card import NO_MODEL, ProgramCard
from judgec.records.cost import JudgeCost, JudgeKind
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.report.items import BrowsedItem
from judgec.report.kit import render
from judgec.report.numbers import count, dollars, number, objective_name, show, statistic_name
from judgec.report.page import charts
from judgec.report.page.audits import with_audits
from judgec.report.page.grade_charts import grade_charts
from judgec.report.page.page import Found
from judgec.report.page.page import judge_page as rendered
from judgec.report.page.prompt import prompt_lines, prompt_section
from judgec.report.page.verdict import headline
from judgec.report.systems_table import systems_lines
from judgec.stats.agreement.systems import SystemAgreement

PROMPT = "prompt"  # what the only prompt of a judge is called among its lines
KINDS = {
    "prompt": "a prompt, asked of a model",
    "recorded": "recorded verdicts",
    "function": "a Python function",
    "evidence": "features of the item, no model asked",
}
SURE = {  # below a reliability chart and along it, by what was stated
    "confidence": ("confidence of the judge (%)", "same grade as the experts (%)"),
    "acceptance": ("stated chance of acceptance (%)", "accepted by the experts (%)"),
}


def judge_page(
    found: Found,
    card: ProgramCard,
    items: Sequence[BrowsedItem],
    prompt: Sequence[str],
    *,
    start: Sequence[str] | None,
    home: Path,
) -> str:
    """``report.html`` of a version.

    Args:
        found: Its report.
        card: Of the version as saved.
        items: The test items, with what was said of them.
        prompt: Lines of its prompts.
        start: Lines of the uncompiled prompt, or None where there is none.
        home: Holds the version that it is compared with.
    """
    estimates = {name: one.estimates for name, one in agreements_of(found).items()}
    alike = {name for name in ("best_alone", "compiled_prompt") if estimates.get(name) == estimates["uncompiled"]}
    parent, before = _parent(card, start, home)
    return rendered(
        found,
        card,
        items,
        but={"uncompiled", "compiled_prompt"} if card.engine == NO_MODEL else alike,
        sizes=sizes_of(found.get("panel", {}).get("curve", ()), ship=not card.evidence_alone),
        charts={aspect: _charts(found, aspect) for aspect in found["charts"]},
        prompt=prompt_section(prompt, before, parent) if prompt else None,
        texts={"facts": _facts(found, card), "next": _next(found, card), "data": _data(found, card)},
        tree=_picture(found),
    )


def agreements_of(found: Found) -> dict[str, Agreement]:
    """The judges on the test items, in the order of the report."""
    return {name: Agreement.from_json(one) for name, one in found["test"].items()}


def systems_in(found: Found) -> SystemAgreement | None:
    """How the judge ranks whoever answered beside people; None where nobody names them."""
    return SystemAgreement.from_json(found["systems"]) if "systems" in found else None


def costs_of(found: Found) -> list[JudgeCost]:
    """What each judge that could have shipped costs, and what it is worth."""
    return [JudgeCost.from_json(row) for row in found["costs"]]


def sizes_of(curve: Sequence[Found], *, ship: bool = True) -> list[JudgeCost]:
    """A row for each size of a panel, the smallest first; without ``ship`` none of them is what ships."""
    rows = []
    for one in curve:
        n, worth = one["members"], {name: one["objective"].get(name) for name in ("value", "low", "high", "note")}
        dev = Estimate(**worth | {"note": worth["note"] or ""}, n=one["n"])
        name = f"panel of {n}" if n > 1 else "1 judge"
        kind: JudgeKind = "panel" if n > 1 else "recorded"
        chosen, (calls, usd) = ship and one["chosen"], (one["calls_per_item"], one["usd_per_1000"])
        rows.append(JudgeCost(name, kind, calls, usd, dev, pareto=False, chosen=chosen))
    return with_front(rows)


def prompt_of(judge: JudgeTree, recorded: Mapping[str, str] | None = None) -> list[str]:
    """Those that a judge is made of as lines: their prompts, as far as they are known; none of evidence alone.

    Args:
        judge: As saved.
        recorded: Prompts of recorded judges, by name.
    """
    lines: list[str] = []
    for one in judge.leaves:
        if isinstance(one, PromptLeaf):
            name = one.name if len(judge.leaves) > 1 else PROMPT
            lines += prompt_lines({name: one.model_dump(mode="json")})
        else:
            known = (recorded or {}).get(one.name, "") if one.kind == "recorded" else ""
            lines += [f"== {one.name}: {KINDS[one.kind]}", *known.splitlines()]
    return lines


def put_audits(home: Path, card: ProgramCard, found: Sequence[Finding], systems: Found | None = None) -> None:
    """Put the audits of a version into its page; a version without a page (an older one) is left alone.

    Args:
        home: The folder that holds ``programs/``.
        card: Of the version.
        found: All of its audits.
        systems: How it ranked whoever answered, as the card has it.
    """
    path = programs.page_path(home, card)
    ranked = None if systems is None else SystemAgreement.from_json(systems)
    if path.exists():
        write_whole(path, with_audits(path.read_text(encoding="utf-8"), found, f"{card.name}@{card.version}", ranked))


def _picture(found: Found) -> Markup:
    """The judge as nested boxes, with what each rater costs and adds."""
    facts: dict[str, list[str]] = {}
    for row in costs_of(found):
        price = dollars(row.usd_per_1000) + (" for 1,000 items" if row.usd_per_1000 else "")
        facts[EVIDENCE if row.kind == "evidence" else row.judge] = [price]
    for one in found.get("panel", {}).get("members", ()):
        facts.setdefault(one["judge"], []).append(f"adds {show(Estimate(**one['adds']), 3)}")
    share = f" ({100 * found['cascade']['share']:.0f} % of the items)" if "cascade" in found else ""
    then = f"where it is unsure{share}"
    return render("tree.html", {"tree": found["tree"], "facts": facts, "words": KINDS, "then": then})


def _facts(found: Found, card: ProgramCard) -> list[str]:
    facts: list[str] = []
    if not card.promoted:  # where a difference was shown nobody asks how many labels would show one
        least = found["difference"]["detectable"]
        if least is not None and number(least) not in card.reason:
            smallest = "The smallest difference that this test set would have shown with 80 % power"
            facts.append(f"{smallest}: {number(least)}.")
        facts += _sentences(found["more_queries"]["sentence"])
    facts += _sentences(*systems_lines(systems_in(found)))
    if "panel" in found and not card.evidence_alone:
        panel = found["panel"]
        gain = show(Estimate(**panel["gain"]), 3, sign=True)
        over = f"{gain} on test over the best single judge, {panel['incumbent']}, both compiled"
        said = "The picture says what each member adds out of fold on train and dev."
        facts.append(f"Panel ({panel['kind']}) of {len(panel['members'])}: {over}. {said}")
    if "cascade" in found:
        facts.append(f"Cascade, {found['cascade']['reason']}.")
    gain = found["prompt_gain"].get(headline(card.objective, Agreement.from_json(found["test"]["compiled"])))
    if card.settings.get("kind") != RECORDED_KIND and gain is not None and gain["value"] is not None:
        facts.append(f"What the prompt alone brought, both calibrated: {show(Estimate(**gain))}.")
    return facts


def _next(found: Found, card: ProgramCard) -> list[str]:
    """Next steps after reading, a sentence each."""
    name = f"{card.name}@{card.version}"
    if card.labels == "constructed":
        return ["Let experts grade items of your own (judgec labels FILE), and compile on their labels."]
    labels = str(found["source"].get("path") or "")
    file = quote(labels) if Path(labels).is_file() else "FILE"
    steps = [f"Judge with it: judgec judge {file} --judge {card.name if card.promoted else name}."]
    if not card.promoted:
        steps = [f"See what it says of a file: judgec judge {file} --judge {name}."]
    steps += _sentences(found["narrower"]["sentence"])
    steps.append(f"Let experts grade the items that it is least sure of: judgec labels next {file} 50 --judge {name}.")
    steps.append(
        "Read the items below where judge and experts are farthest apart: is the judge wrong, or are the labels?"
    )
    audit = [f"Before others rely on it: judgec audit --judge {name}; what was found is below."]
    return [*steps, *(audit if card.promoted else [])]


def _sentences(*said: str) -> list[str]:
    return [f"{one[0].upper()}{one[1:]}." for one in said if one]


def _charts(found: Found, aspect: str) -> Markup:
    measured = Agreement.from_json(found["test"]["compiled"])
    drawn = found["charts"][aspect]
    drawings, tables = grade_charts(drawn, measured.aspects.get(aspect, measured).bland_altman)
    reliability = charts.reliability_chart(drawn["reliability"]["bins"], words=SURE[drawn["reliability"]["of"]])
    drawings.append((reliability, "Reliability: dots on the dashed line are calibrated; lines are 95 % intervals."))
    if aspect == next(iter(found["charts"])):
        curve = [(point["coverage"], point["agreement"]["value"]) for point in found["abstention"]["curve"]]
        coverage = charts.coverage_chart([(x, y) for x, y in curve if y is not None])
        of = statistic_name(found["abstention"]["of"])
        drawings.append((coverage, f"Leaving the least sure items to a human: {of} of the rest."))
    return charts.figures(drawings, tables)


def _parent(card: ProgramCard, start: Sequence[str] | None, home: Path) -> tuple[str, Sequence[str] | None]:
    """The version that this one is compared with: the champion, or the one before, or the uncompiled prompt."""
    before = card.parent or card.version - 1
    if not before:
        return "the uncompiled prompt", start
    name = f"{card.name}@{before}"
    try:
        return name, prompt_of(load_judge(programs.load(home, name)))
    except JudgecError:
        return f"readable {name}", None


def _data(found: Found, card: ProgramCard) -> list[tuple[str, str]]:
    cost, learned, tried, before = card.cost, found["labels"], found["candidates"], found.get("recorded", {})
    sampling: Found = {k: v for k, v in card.lm.items() if k not in {"model", "api_base"}}
    on = "train and dev" if any("judge" in one for one in tried) else "dev"
    known = [f"{name.replace('_', ' ')} {one}" for name, one in before.items()] if "best_alone" in before else []
    prompted = {
        "model": str(card.lm.get("model", "")) + (f" ({card.engine})" if card.engine else ""),
        "sampling": ", ".join(f"{name} {value}" for name, value in sampling.items() if value is not None),
        "optimizer": f"{card.optimizer}: {plural(len(tried), 'candidate')} on {on}",
    }
    sizes = {name: (found["split"][name], queries) for name, queries in learned["queries"].items()}
    facts = {
        "labels": str(found["source"].get("path") or "").rpartition("/")[2],
        "labels SHA-256": card.data_digest,
        "test split SHA-256": card.split_digest,
        **{name: f"{plural(count(n), 'item')} of {count(queries)} queries" for name, (n, queries) in sizes.items()},
        "annotators": count(len(learned["annotators"])),
        "scale": f"{card.scale.name}: {', '.join(map(str, card.scale.grades))}"
        + ("" if card.scale.accept_at is None else f"; accepted from {card.scale.accept_at}"),
        **({"model": card.engine} if card.engine == NO_MODEL else prompted),
        "judge": found["judge"],
        "objective": objective_name(card.objective),
        "recorded judges": "; ".join(known),
        "calibrator": "; ".join(f"{a}: {c['source']}, {c['model']}" for a, c in found["calibrators"].items()),
        "seed": str(card.seed),
        "use of the test split": str(card.looks),
        "cost": f"{count(cost.lm_calls)} LM calls, {dollars(cost.usd)}, {cost.seconds:.0f} s",
        "made with": ", ".join(f"{name} {version}" for name, version in card.versions.items()),
        **{f"source: {name}": value for name, value in learned["source"].items()},
    }
    return [(name, value) for name, value in facts.items() if value]
