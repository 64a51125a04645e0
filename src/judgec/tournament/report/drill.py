"""The page's drill-down: a query with all its answers, their contexts, the judge's reasons, and the games."""

from collections.abc import Mapping
from itertools import compress

from judgec.records.label import Item
from judgec.report.cases import BrowsedCase, CaseNote, CaseSide
from judgec.report.columns import NO_NUMBER
from judgec.report.items import WORDS
from judgec.report.numbers import number, short
from judgec.tournament.play import Cell, Played
from judgec.tournament.report.evaluation import Evaluation

MOST_CONTEXTS = 5  # of one answer on the page and in the file: the best
MOST_NAMED, NAMED = 40, 10  # agents in the line of a query: all, or of more than these the best
TERMS = WORDS | {
    "intro": "The queries most worth reading: those with a verdict that changed with the order of the answers, "
    "then those where agents are farthest apart.",
    "differ": "verdict changed with the order",
    "unscored": "with unscored games",
    "rater": "Agent",
}
HEAD = ("query", "points")


def drilled(found: Evaluation) -> tuple[BrowsedCase, ...]:
    """The queries that were played, in the order of their file."""
    games: dict[str, list[Played]] = {}
    for one in found.played:
        games.setdefault(one.game.query_id, []).append(one)
    return tuple(_query(found, query, games[query]) for query in found.entries.queries if query in games)


def _query(found: Evaluation, query: str, games: list[Played]) -> BrowsedCase:
    agents = sorted({agent for one in games for agent in (one.game.agent_a, one.game.agent_b)})
    points = dict.fromkeys(agents, 0.0)
    for one in games:
        half = 0.5 if one.game.winner == "tie" else 0.0
        points[one.game.agent_a] += half + (one.game.winner == "a")
        points[one.game.agent_b] += half + (one.game.winner == "b")
    best = sorted(agents, key=lambda agent: (-points[agent], agent))
    named = len(best) if len(best) <= MOST_NAMED else NAMED
    more = f" and {len(best) - named} more" if len(best) > named else ""
    reference = found.entries.references.get(query, "")
    return BrowsedCase(
        item_id=query,
        head=", ".join(f"{agent} {short(points[agent])}" for agent in best[:named]) + more,
        title=found.entries.queries[query],
        group=None,
        differs=any(one.flipped for one in games),
        unscored=next((one.game.unscored for one in games if one.game.winner is None), None),
        distance=points[best[0]] - points[best[-1]],
        sides=[_answer(found, query, agent, agents) for agent in best],
        notes=[_game(one, _renumbered(found, one, agents)) for one in games],
        texts={"query": (found.entries.queries[query],), **({"reference": (reference,)} if reference else {})},
    )


def _renumbered(found: Evaluation, one: Played, agents: list[str]) -> str:
    """Documents that had other names before the judge of a game than on the page, where all agents' stand."""
    if found.showing is None or len(agents) == 2:
        return ""
    query, pair = one.game.query_id, (one.game.agent_a, one.game.agent_b)
    here = {doc_id: n for n, doc_id in enumerate(found.showing.documents(query, agents), 1)}
    seen = {doc_id: n for n, doc_id in enumerate(found.showing.documents(query, pair), 1)}
    moved = [f"[P{here[doc_id]}] as [P{n}]" for doc_id, n in seen.items() if here.get(doc_id, n) != n]
    return f"The judge saw {', '.join(moved)}." if moved else ""


def _answer(found: Evaluation, query: str, agent: str, agents: list[str]) -> CaseSide:
    entries, mark = found.entries, found.marks.get((query, agent))
    grade, reason = "", ""
    if mark is not None:
        aspects = ", ".join(f"{name} {number(value)}" for name, value in mark.aspects.items())
        parts = f" ({aspects})" if len(mark.aspects) > 1 else ""
        grade = f"unscored, {mark.unscored}" if mark.score is None else f"{number(mark.score)}{parts}"
        if mark.votes:
            votes = {name: NO_NUMBER if one is None else number(one) for name, one in mark.votes.items()}
            grade = f"{grade}; {', '.join(map(' '.join, votes.items()))}"
        reason = mark.reason
    item = (None if mark is None else mark.item) or entries.item(query, agent)
    contexts = _named(item) or item.texts("contexts")
    if found.showing is not None:  # with the names that its judge saw
        item, own = found.showing.pooled(item, {"answer": agent}, agents), {*entries.ranking(query, agent)}
        contexts = tuple(compress(_named(item), (one in own for one in found.showing.documents(query, agents))))
    answer = ({} if item.pool is None else item.pool.answers).get("answer", item.text("answer"))
    contexts = contexts[:MOST_CONTEXTS]
    consensus, said = _experts(found, (query, agent))
    grade = "; ".join(filter(None, (grade, f"experts {consensus}" if consensus else "")))
    texts = {"answer": (answer,), **({"contexts": contexts} if contexts else {})}
    return CaseSide(agent, grade, texts | ({"experts": said} if said else {}), reason)


def _named(item: Item) -> tuple[str, ...]:
    """Pooled documents below their names, with their grades and reasons."""
    if item.pool is None:
        return ()
    notes = (": ".join(filter(None, both)) for both in zip(item.pool.grades, item.pool.reasons, strict=True))
    texts = zip(notes, item.texts("contexts"), strict=True)
    return tuple("\n".join(filter(None, (f"[P{n}] {note}".strip(), text))) for n, (note, text) in enumerate(texts, 1))


def _experts(found: Evaluation, cell: Cell) -> tuple[str, tuple[str, ...]]:
    """Mean of what the experts gave an answer, and a line for each of them; empty where nobody graded it."""
    if found.graded is None:
        return "", ()
    lines = []
    for label in found.graded.labels.get(cell, ()):
        grades = {name: str(found.graded.scale.grades[at]) for name, at in label.grades.items()}
        accept = [] if label.accept is None else ["accept" if label.accept else "reject"]
        said = ", ".join(filter(None, [_in_words(grades), *accept])) or NO_NUMBER
        lines.append(f"{label.annotator}: {said}{f' – {label.rationale}' if label.rationale else ''}")
    consensus = {name: short(round(value, 2)) for name, value in found.graded.scores.get(cell, {}).items()}
    return _in_words(consensus), tuple(lines)


def _in_words(grades: Mapping[str, str]) -> str:
    return next(iter(grades.values())) if len(grades) == 1 else ", ".join(map(" ".join, grades.items()))


def _game(one: Played, renumbered: str) -> CaseNote:
    game = one.game
    results = {"a": f"{game.agent_a} wins", "b": f"{game.agent_b} wins", "tie": "tie"}
    result = results.get(game.winner or "", f"unscored: {game.unscored}")
    turned = ". The verdict changed with the order." if one.flipped else ""
    scores = "" if one.score_a is None or one.score_b is None else f" ({number(one.score_a)} : {number(one.score_b)})"
    said = ", ".join(f"{name} {results.get(vote or '', NO_NUMBER)}" for name, vote in one.votes.items())
    votes = f". The jury: {said}" if said else ""
    bare = ". Judged without documents." if one.without_contexts and not turned else ""
    bare = " Judged without documents." if one.without_contexts and turned else bare
    said = f"{result}{scores}{votes}{turned}{bare}"
    if renumbered:
        said = f"{said}{'' if turned or bare else '.'} {renumbered}"
    return CaseNote(f"{game.agent_a} – {game.agent_b}", said, one.reason)
