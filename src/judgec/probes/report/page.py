"""``report.html``: one self-contained page: rates first, then where and why, then the worst cases in full."""

from collections.abc import Sequence
from html import escape

from judgec.probes.report.summary import Cell, Summary
from judgec.records.estimate import Estimate
from judgec.records.scenario.outcome import Probed
from judgec.records.scenario.schema import Scenario
from judgec.report.page.skeleton import document

STYLE = """
:root{color-scheme:light dark;--ink:light-dark(#1b1f24,#e6e8eb);--quiet:light-dark(#59636e,#9aa4af);
--line:light-dark(#d8dee4,#3a424b);--paper:light-dark(#fff,#14181d);--soft:light-dark(#f5f7f9,#1c2229);
--bad:light-dark(#b3261e,#ff9b8f)}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:1080px;margin:0 auto;padding:1.5rem 1rem 4rem}h1{font-size:1.6rem;margin:0}
h2{font-size:1.2rem;margin:2.2rem 0 .4rem}p{margin:.4rem 0;max-width:46rem}.quiet{color:var(--quiet);font-size:.9rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{font-weight:600;color:var(--quiet)}
td.heat{background:color-mix(in srgb,var(--bad) calc(var(--heat)*.5),var(--paper))}
details{border:1px solid var(--line);border-radius:4px;margin:.35rem 0}
summary{cursor:pointer;padding:.45rem .7rem;overflow-wrap:anywhere}
details[open]>summary{background:var(--soft)}dl{margin:.4rem .7rem .8rem}dt{color:var(--quiet);font-size:.85rem}
dd{margin:0 0 .5rem;white-space:pre-wrap;overflow-wrap:anywhere}ul{font-size:.92rem}
"""


def page(summary: Summary, scenarios: Sequence[Scenario], *, title: str, created: str) -> str:
    """The whole page as HTML: no script, nothing loaded from elsewhere, every text escaped.

    Args:
        summary: What to show.
        scenarios: Those that were asked, for their titles.
        title: Of the page.
        created: When, ISO 8601.
    """
    titles = {scenario.id: scenario.title for scenario in scenarios}
    facts = f"questions by {summary.writer}, judged by {summary.judge} · {created}"
    parts = [
        f"<header><h1>{escape(title)}</h1><p class=quiet>{escape(facts)}</p></header>",
        _notes(summary),
        _rates(summary, titles),
        _outcomes(summary),
        _components(summary),
        _fixes(summary),
        _worst(summary),
    ]
    return document(title, STYLE, parts)


def shown(estimate: Estimate) -> str:
    """``45 % [30, 61]``, or a dash."""
    if estimate.value is None:
        return "–"
    interval = (
        ""
        if estimate.low is None or estimate.high is None
        else f" [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]"
    )
    return f"{100 * estimate.value:.0f} %{interval}"


def _rates(summary: Summary, titles: dict[str, str]) -> str:
    sets = tuple(dict.fromkeys(cell.data_set for cell in summary.cells))
    known = {(cell.scenario, cell.system, cell.data_set): cell for cell in summary.cells}
    tables = []
    for data_set in sets:
        rows = []
        for scenario in summary.scenarios:
            failing, of = summary.systems_failing[scenario]
            cells = [_rate(known.get((scenario, system, data_set))) for system in summary.systems]
            name = f"<td><b>{escape(scenario)}</b> <span class=quiet>{escape(titles.get(scenario, ''))}</span>"
            rows.append(f"<tr>{name}{''.join(cells)}<td>{failing} of {of}")
        heads = "".join(f"<th>{escape(name)}" for name in (data_set, *summary.systems, "systems failing"))
        tables.append(f"<div class=wide><table><tr>{heads}{''.join(rows)}</table></div>")
    said = (
        "Share of judged answers that failed, with a 95 % interval over source documents, and n. An answer passes when "
        "every criterion passes. Errors are counted apart."
    )
    return f"<h2>Failure rates</h2><p class=quiet>{said}</p>{''.join(tables)}"


def _rate(cell: Cell | None) -> str:
    if cell is None:
        return "<td>–"
    heat = 100 * (cell.failure_rate.value or 0.0)
    extra = [f"n = {cell.n}", *([f"{cell.errors} errors"] if cell.errors else [])]
    extra += [f"{cell.unscored} unscored"] if cell.unscored else []
    return (
        f"<td class=heat style='--heat:{heat:.0f}%'>{shown(cell.failure_rate)}"
        f"<br><span class=quiet>{', '.join(extra)}</span>"
    )


def _outcomes(summary: Summary) -> str:
    cells = [cell for cell in summary.cells if cell.rejection]
    if not cells:
        return ""
    names = tuple(cells[0].rejection)
    rows = "".join(
        f"<tr><td>{escape(cell.system)}<td>{escape(cell.data_set)}"
        + "".join(f"<td>{cell.rejection[name]}" for name in names)
        for cell in cells
    )
    heads = "".join(f"<th>{name.replace('_', ' ')}" for name in names)
    said = "Of questions that nothing in the index answers. Refused passes, and described without an answer."
    table = f"<div class=wide><table><tr><th>system<th>data set{heads}{rows}</table></div>"
    return f"<h2>What systems did with unanswerable questions</h2><p class=quiet>{said}</p>{table}"


def _components(summary: Summary) -> str:
    names = ("retrieval", "generator", "corpus", "not tested")
    rows = "".join(
        f"<tr><td>{escape(cell.scenario)}<td>{escape(cell.system)}<td>{escape(cell.data_set)}<td>{cell.failures}"
        + "".join(f"<td>{cell.components.get(name, 0) or ''}" for name in names)
        + f"<td>{escape(', '.join(f'{name} {count}' for name, count in cell.criteria.items()))}"
        for cell in summary.cells
        if cell.failures
    )
    if not rows:
        return "<h2>Where it was lost</h2><p>No answer failed."
    said = (
        "Retrieval: no retrieved passage holds what was needed. Generator: one does, and the answer does not use it. "
        "Corpus: no passage of the index does. Not tested: the system does not say what it retrieved."
    )
    heads = "".join(f"<th>{name}" for name in ("scenario", "system", "data set", "failures", *names, "failed criteria"))
    table = f"<div class=wide><table><tr>{heads}{rows}</table></div>"
    return f"<h2>Where it was lost</h2><p class=quiet>{said}</p>{table}"


def _fixes(summary: Summary) -> str:
    rows = "".join(
        f"<tr><td>{escape(name)}<td>{escape(fix.component)}<td>{escape(fix.fix)}<td>{escape(fix.reason)}"
        for name, fix in summary.fixes.items()
    )
    if not rows:
        return ""
    return f"<h2>What to do</h2><div class=wide><table><tr><th>scenario<th>part<th>fix<th>because{rows}</table></div>"


def _worst(summary: Summary) -> str:
    if not summary.worst:
        return ""
    said = "One case a question, those that most systems fail first."
    return f"<h2>Worst cases</h2><p class=quiet>{said}</p>{''.join(map(_case, summary.worst))}"


def _case(one: Probed) -> str:
    question, reply, verdict = one.question, one.reply, one.verdict
    fields = {
        "conversation before it": "\n".join(f"{turn.role}: {turn.content}" for turn in question.history),
        "question": question.query,
        "reference": question.reference or ("a refusal" if question.must_refuse else "none"),
        "answer": reply.answer or f"none: {reply.error}",
        "why it failed": verdict.reason,
        "what the system did": (verdict.rejection or "").replace("_", " "),
        "where it was lost": f"{verdict.component}: {verdict.why}" if verdict.component else "",
        "retrieved": "\n---\n".join(reply.contexts or ()),
        "made from": "\n---\n".join(question.passages),
    }
    body = "".join(f"<dt>{name}<dd>{escape(text)}" for name, text in fields.items() if text)
    head = f"{verdict.scenario} · {verdict.system} · {question.query}"
    return f"<details><summary>{escape(head[:220])}</summary><dl>{body}</dl></details>"


def _notes(summary: Summary) -> str:
    return f"<ul>{''.join(f'<li>{escape(note)}' for note in summary.notes)}</ul>" if summary.notes else ""
