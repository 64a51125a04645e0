"""``report.html``: one self-contained page that says what a compiled judge is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from judgec.records.agreement import STATISTICS, Agreement
from judgec.records.audit import Finding
from judgec.records.card import ProgramCard
from judgec.records.estimate import Estimate
from judgec.report.page import charts, style
from judgec.report.page.audits import audits_section
from judgec.report.page.prompt import prompt_section
from judgec.report.page.skeleton import document, interval_bar, more, notes, section, shown, table
from judgec.report.page.verdict import JudgeVerdict
from judgec.report.page.worst import Disagreement, worst_cards
from judgec.report.render import NAMES, number

STYLE = (
    style.STYLE
    + charts.STYLE
    + """
.verdict{font-size:1.25rem;line-height:1.4;border-left:5px solid var(--hue);padding-left:.8rem;max-width:50rem}
.verdict.better,.verdict.well{border-color:var(--good)}.verdict.less,.verdict.none,.verdict.below{border-color:var(--alarm)}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:1rem 0;font-size:.92rem}
.judges td:nth-child(3){min-width:8rem}.judges tr:nth-child(5){background:var(--soft)}
.judges td:first-child{white-space:normal;min-width:clamp(8rem,20vw,12.5rem);line-height:1.25}
.judges th{white-space:normal;vertical-align:bottom}.judges th,.judges td{padding-inline:.35rem}
table .pass{color:var(--good)}.not-shown,.fail{color:var(--alarm);font-weight:600}
.audits td:last-child,.audits th:last-child{white-space:normal;text-align:left;min-width:16rem}
@media(max-width:40rem){.audits thead{display:none}.audits tr{display:grid;grid-template-columns:1fr auto auto;
border-bottom:1px solid var(--line)}.audits td{border:0}.audits td:nth-child(4){display:none}
.audits td:last-child{grid-column:1/-1}}
.facts td{white-space:normal;text-align:left;overflow-wrap:anywhere}.facts td:first-child{white-space:nowrap}
.code,code{font-family:ui-monospace,monospace;font-size:.85rem}code{overflow-wrap:anywhere}
.code{max-height:32rem}ins{color:var(--good);text-decoration:none}del{color:var(--alarm);text-decoration:none}
.groups td:nth-child(3){min-width:9rem}
"""
)
JUDGES = {
    "majority": "always the most frequent grade",
    "evidence_only": "the evidence alone, no prompt",
    "uncompiled": "the prompt as it was",
    "compiled_prompt": "the compiled prompt alone",
    "compiled": "the judge that you get",
    "compiled_loo": "the same, against all experts but one",
    "ceiling": "each expert, against all others",
}
SECTIONS = {
    "judges": "Judges",
    "charts": "Charts",
    "groups": "Groups",
    "worst": "Disagreements",
    "audits": "Audits",
    "prompt": "Prompt",
    "data": "Data and cost",
    "cite": "Cite",
}
MOST_GROUPS = 30


@dataclass(frozen=True, slots=True)
class JudgePage:
    """What the page of a judge shows.

    Args:
        card: The judge's, with its version.
        verdict: In words.
        agreements: By judge, in the order of the table.
        facts: Sentences on why it was promoted or not.
        charts: Finished figures by aspect.
        groups: Agreement in each group of items, largest first.
        worst: The worst disagreements.
        unscored: How many test items have no grade, by reason.
        prompt: Lines of the prompt.
        before: Lines of the parent's, or None.
        parent: What the parent is called.
        data: Rows of the table of data and cost.
        notes: What the reader has to know.
        audits: Of the judge.
    """

    card: ProgramCard
    verdict: JudgeVerdict
    agreements: Mapping[str, Agreement]
    facts: Sequence[str]
    charts: Mapping[str, str]
    groups: Mapping[str, Agreement]
    worst: Sequence[Disagreement]
    unscored: Mapping[str, int]
    prompt: Sequence[str]
    before: Sequence[str] | None
    parent: str
    data: Sequence[tuple[str, str]]
    notes: Sequence[str] = ()
    audits: Sequence[Finding] = field(default_factory=tuple)


def judge_page(page: JudgePage) -> str:
    """The page as HTML: no script, nothing loaded from elsewhere, every text of users escaped."""
    card = page.card
    name = f"{card.name}@{card.version}"
    parts = {
        "judges": _judges(page),
        "charts": _charts(page.charts),
        "groups": _groups(page),
        "worst": _worst(page),
        "audits": audits_section(page.audits, name),
        "prompt": section("prompt", "Prompt", prompt_section(page.prompt, page.before, page.parent)),
        "data": section("data", "Data and cost", _facts(page.data), notes(page.notes)),
        "cite": section("cite", "How to cite", _citation(page)),
    }
    links = "".join(f"<a href='#{anchor}'>{SECTIONS[anchor]}</a>" for anchor, part in parts.items() if part)
    header = f"<header>{_header(page, name)}</header><nav aria-label='Sections'>{links}</nav>"
    return document(f"{name}: what this judge is worth", STYLE, [header, *parts.values()])


def _header(page: JudgePage, name: str) -> str:
    card, verdict = page.card, page.verdict
    stamps = []
    if card.labels == "constructed":
        stamps.append("CONSTRUCTED LABELS. No expert gave them: agreement with them says nothing about experts.")
    if not card.promoted:
        stamps.append(f"NOT PROMOTED. {_why_not(card.reason)}")
    what = " · ".join([card.task, card.engine or str(card.lm.get("model", "")), card.created])
    css = verdict.standing.rpartition(" ")[2]
    return (
        f"<h1>{escape(name)}</h1><p class=quiet>{escape(what)}</p>"
        f"{''.join(f'<p class=stamp>{escape(stamp)}</p>' for stamp in stamps)}"
        f"<p class='verdict {css}'>{escape(verdict.sentence)}</p>"
        f"{f'<p>{escape(verdict.detail)}</p>' if verdict.detail else ''}"
        f"{''.join(f'<p>{escape(fact)}</p>' for fact in page.facts)}"
    )


def _why_not(reason: str) -> str:
    """Why a version was not promoted, in a sentence; a refusal says nothing about how good the judge is."""
    if reason.startswith("not shown"):
        return "This version was not shown to be better than what there was."
    return f"{reason[:1].upper()}{reason[1:].rstrip('.')}."


def _judges(page: JudgePage) -> str:
    head = page.verdict.statistic
    found = [one.estimates.get(head) for one in page.agreements.values()]
    low, high = axis([one for one in found if one is not None])
    ceiling = page.agreements["ceiling"].estimates.get(head)
    others = [
        name
        for name in _all_statistics(page.agreements)
        if name != head and any(_known(one, name) for one in page.agreements.values())
    ]
    rows, full = [], []
    for judge, agreement in page.agreements.items():
        label = f"{escape(judge.replace('_', ' '))}<br><span class=quiet>{JUDGES.get(judge, '')}</span>"
        estimate = agreement.estimates.get(head)
        bar = interval_bar(estimate, low, high, None if ceiling is None else ceiling.value)
        plain = [_plain(agreement.estimates.get(name)) for name in others]
        size = f"{agreement.n} ({agreement.n_clusters})"
        rows.append([label, shown(estimate), bar, *plain, size, str(agreement.unscored)])
        limits = agreement.bland_altman
        bias = "–" if limits.bias is None else f"{limits.bias:+.2f} [{number(limits.low)}, {number(limits.high)}]"
        rates = [_rate(rate) for rate in (agreement.expert_reject_rate, agreement.judge_reject_rate)]
        full.append([label, *(shown(agreement.estimates.get(name)) for name in others), bias, *rates])
    names = [escape(NAMES.get(name, name.replace("_", " "))) for name in others]
    columns = ["", escape(NAMES.get(head, head)), f"{low:g} to {high:g}", *names, "items (queries)", "unscored"]
    explained = (
        "<p class=quiet>95 % intervals over queries; the line is the ceiling. Compare <i>compiled loo</i> with "
        "<i>ceiling</i>, and the first five with each other. Items without a grade are in no column and count against "
        "the judge in every comparison.</p>"
    )
    body = table(columns, rows, "judges", label="Judges on the test items")
    more_columns = ["", *names, "bias [limits of agreement]", "experts reject", "judge rejects"]
    everything = more("All intervals, bias and reject rates", table(more_columns, full, label="All intervals"))
    return section("judges", "The judges on the test items", explained, body, everything, _aspects(page))


def _plain(estimate: Estimate | None) -> str:
    return "–" if estimate is None else number(estimate.value).replace("-", "–" if estimate.value is None else "-")


def _rate(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.0%}"


def _aspects(page: JudgePage) -> str:
    aspects = page.agreements["compiled"].aspects
    if not aspects:
        return ""
    names = [name for name in STATISTICS if any(_known(one, name) for one in aspects.values())]
    rows = [[escape(aspect), *(shown(one.estimates.get(name)) for name in names)] for aspect, one in aspects.items()]
    head = ["aspect", *(NAMES[name] for name in names)]
    return "<h3>The compiled judge by aspect</h3>" + table(head, rows, label="The compiled judge by aspect")


def _charts(by_aspect: Mapping[str, str]) -> str:
    if len(by_aspect) == 1:
        return section("charts", "The judge beside the experts", *by_aspect.values())
    blocks = [more(escape(aspect), drawn, opened=not i) for i, (aspect, drawn) in enumerate(by_aspect.items())]
    return section("charts", "The judge beside the experts, by aspect", *blocks)


def _groups(page: JudgePage) -> str:
    if len(page.groups) < 2:
        return ""
    head = page.verdict.statistic
    known = [one.estimates[head] for one in page.groups.values()]
    whole = page.agreements["compiled"].estimates[head]
    low, high = axis([*known, whole])
    rows = [
        [
            escape(group),
            shown(one.estimates[head]),
            interval_bar(one.estimates[head], low, high, whole.value),
            shown(one.estimates["accept_agreement"]),
            "–" if one.bland_altman.bias is None else f"{one.bland_altman.bias:+.2f}",
            f"{one.n} ({one.n_clusters})",
            str(one.unscored),
        ]
        for group, one in list(page.groups.items())[:MOST_GROUPS]
    ]
    columns = ["group", escape(NAMES.get(head, head)), f"{low:g} to {high:g}", "accept agreement", "bias"]
    said = f"<p class=quiet>The line is all groups together. The largest {MOST_GROUPS} groups at most are shown.</p>"
    body = table([*columns, "items (queries)", "unscored"], rows, "groups", label="Agreement by group")
    return section("groups", "By group", said, body)


def _worst(page: JudgePage) -> str:
    reasons = [f"{count} unscored: {reason}" for reason, count in page.unscored.items()]
    if not page.worst:
        body = "<p>The judge gave every test item the experts' grade.</p>"
    else:
        body = (
            f"<p class=quiet>The {len(page.worst)} test items on which judge and experts are farthest apart. Read them "
            "to learn what the judge misses; a prompt that is tuned on them has seen the test set.</p>"
            f"{worst_cards(page.worst, page.card.scale)}"
        )
    return section("worst", "Worst disagreements", body, notes(reasons))


def _facts(rows: Sequence[tuple[str, str]]) -> str:
    cells = [[escape(name), escape(value)] for name, value in rows]
    return table(["", ""], cells, "facts", label="Data and cost") if cells else ""


def _citation(page: JudgePage) -> str:
    card = page.card
    year = card.created[:4]
    numbers = card.test.get(page.verdict.statistic)
    test = ""
    if numbers is not None and numbers.value is not None:
        interval = "" if numbers.low is None else f" [{number(numbers.low)}, {number(numbers.high)}]"
        test = (
            f", {NAMES.get(page.verdict.statistic, page.verdict.statistic)} {number(numbers.value)}{interval} on "
            f"{numbers.n} test items of {numbers.n_clusters} queries"
        )
    model = card.engine or str(card.lm.get("model", ""))
    said = (
        f"{card.name} version {card.version} ({year}). LLM judge compiled with judgec "
        f"{card.versions.get('judgec', '')} on {model}{test}. Labels SHA-256 {card.data_digest[:16]}, "
        f"test split SHA-256 {card.split_digest[:16]}."
    )
    return f"<p class=code>{escape(said)}</p>"


def axis(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """Ends of the axis that holds all values and intervals, in steps of .2; from 0 where none is negative."""
    known = [x for one in estimates for x in (one.value, one.low, one.high) if x is not None]
    low, high = min([0.0, *known]), max([0.2, *known])
    return -0.2 * -(low // 0.2) if low < 0 else 0.0, min(0.2 * -(-high // 0.2), max(1.0, high))


def _all_statistics(agreements: Mapping[str, Agreement]) -> list[str]:
    return list(dict.fromkeys([*STATISTICS, *(name for one in agreements.values() for name in one.estimates)]))


def _known(agreement: Agreement, name: str) -> bool:
    estimate = agreement.estimates.get(name)
    return estimate is not None and estimate.value is not None
