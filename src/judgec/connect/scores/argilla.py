"""Reads Argilla: records with responses of people and suggestions of models, nested, flat, and of version 1.

Source: argilla 2.8 ``records.to_list(flatten=...)``; ``FeedbackDataset`` of 1.x as the Hub has it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from judgec.connect.scores.records import ExportRecord, Origin, Score, ScoreExport
from judgec.table.rows.cells import as_id, as_text, is_missing
from judgec.table.table import Row
from judgec.table.traces.texts import flat, inputs_of, parsed

RESPONSES, SUGGESTION, OLD_SUGGESTION = ".responses", ".suggestion", "-suggestion"
LONGEST = 100  # characters of a label; a question that somebody answered with more asks for a text
NESTED = {"responses", "suggestions", "fields", "metadata", "vectors", "id"}
NOT_ONE = "several values at once, spans or a ranking: not one grade"


def read_argilla(records: Sequence[ExportRecord], rename: Mapping[str, str]) -> ScoreExport:
    """Submitted responses are labels, suggestions a model's verdicts; drafts and discarded responses are left out."""
    del rename
    items: dict[str, Row] = {}
    scores: list[Score] = []
    skipped: Counter[str] = Counter()
    stateless = 0
    if not any(_is_record(record.fields) for record in records):
        return ScoreExport({}, ())
    for number, record in enumerate(records, 1):
        fields: Row = {name: parsed(value) for name, value in record.fields.items() if not is_missing(value)}
        item = as_id(fields.get("id", fields.get("external_id", f"record-{number}")))
        responses, suggestions = fields.get("responses"), fields.get("suggestions")
        if isinstance(responses, Mapping) or isinstance(suggestions, Mapping):
            given = [*_nested(item, responses), *_suggested(item, suggestions)]
            stateless += sum(score.origin == "human" for score in given)
            rest = {name: value for name, value in fields.items() if name not in NESTED}
            shown = {**_columns(fields.get("fields")), **_columns(fields.get("metadata"))}
        else:
            given = list(_flat(item, fields, skipped))
            names = {score.name for score in given} | {
                n.removesuffix(RESPONSES) for n in fields if n.endswith(RESPONSES)
            }
            rest = {}
            shown = {n: v for n, v in fields.items() if n != "id" and not _of_question(n, names)}
        items[item] = {**flat(rest), **shown, **inputs_of(shown)}
        for score in given:
            if isinstance(score.value, dict | list):
                skipped[NOT_ONE] += 1
            elif not is_missing(score.value):
                scores.append(score)
            else:
                skipped["without a value"] += 1
    form = f"This form of export does not tell drafts from submitted responses: all {stateless} are taken. Export flat."
    texts = {score.name for score in scores if isinstance(score.value, str) and _is_prose(score.value)}
    scores = [replace(score, kind="text") if score.name in texts else score for score in scores]
    return ScoreExport(items, scores, skipped, (form,) if stateless else ())


def _is_prose(answer: str) -> bool:
    return len(answer) > LONGEST or "\n" in answer.strip()


def _is_record(fields: Row) -> bool:
    """True if anything in it is Argilla's own: responses, suggestions, its id."""
    if "_server_id" in fields or isinstance(parsed(fields.get("responses")), Mapping):
        return True
    return isinstance(parsed(fields.get("suggestions")), Mapping) or any(
        name.endswith((RESPONSES, SUGGESTION, OLD_SUGGESTION)) or _is_responses(parsed(value))
        for name, value in fields.items()
    )


def _is_responses(value: object) -> bool:
    """A column of version 1: what each person said."""
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) and "user_id" in v for v in value)


def _columns(value: object) -> Row:
    return dict(value) if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    value = parsed(value)
    return value if isinstance(value, list) else [] if value is None else [value]


def _nested(item: str, responses: object) -> Iterator[Score]:
    for name, given in _columns(responses).items():
        for one in _list(given):
            if isinstance(one, Mapping):
                yield _response(item, str(name), one.get("value"), one.get("user_id"))


def _suggested(item: str, suggestions: object) -> Iterator[Score]:
    for name, one in _columns(suggestions).items():
        if isinstance(one, Mapping) and not is_missing(one.get("value")):
            yield _suggestion(item, str(name), one["value"], one)


def _flat(item: str, fields: Row, skipped: Counter[str]) -> Iterator[Score]:
    for name, value in fields.items():
        if name.endswith(RESPONSES):
            users, states = _list(fields.get(f"{name}.users")), _list(fields.get(f"{name}.status"))
            for at, one in enumerate(_list(value)):
                state = states[at] if at < len(states) else None
                if state == "submitted":
                    yield _response(item, name.removesuffix(RESPONSES), one, users[at] if at < len(users) else None)
                else:
                    skipped[f"responses not submitted ({state or 'without a status'})"] += 1
        elif name.endswith(SUGGESTION):
            about = {part: fields.get(f"{name}.{part}") for part in ("score", "agent")}
            yield _suggestion(item, name.removesuffix(SUGGESTION), value, about)
        elif name.endswith(OLD_SUGGESTION):
            about = _columns(fields.get(f"{name}-metadata"))
            yield _suggestion(item, name.removesuffix(OLD_SUGGESTION), value, about)
        elif isinstance(value, list) and _is_responses(value):
            for one in value:
                if one.get("status") == "submitted":
                    yield _response(item, name, one.get("value"), one.get("user_id"))
                else:
                    skipped[f"responses not submitted ({one.get('status') or 'without a status'})"] += 1


def _response(item: str, name: str, value: object, user: object) -> Score:
    person = "" if user is None else as_id(user)
    return Score(item, name, _single(value), "human", annotator=person, marked="a response")


def _suggestion(item: str, name: str, value: object, about: Mapping[str, object]) -> Score:
    origin: Origin = "human" if about.get("type") == "human" else "machine"
    more = {"score": about["score"]} if about.get("score") is not None else {}
    agent = as_text(about.get("agent") or "")
    return Score(item, name, _single(value), origin, judge=agent, more=more, marked="a suggestion")


def _single(value: object) -> object:
    return value[0] if isinstance(value, list) and len(value) == 1 and not isinstance(value[0], Mapping) else value


def _of_question(column: str, questions: set[str]) -> bool:
    return any(column == name or column.startswith((f"{name}.", f"{name}{OLD_SUGGESTION}")) for name in questions)
