"""Reads promptfoo: results of an evaluation as JSON (versions 1 to 3), with people's ratings from its viewer.

Source: promptfoo/promptfoo, src/app/src/pages/eval/components/ResultsTable.tsx, test/__fixtures__/sample-export.json.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from judgec.connect.scores.records import JUDGE_ERROR, SYSTEM_ERROR, ExportRecord, Score, ScoreExport
from judgec.errors import InputError
from judgec.table.rows.cells import as_id, as_text, is_missing
from judgec.table.table import Row
from judgec.table.traces.texts import answer_in, flat, inputs_of, parsed, question_in

TYPED = "Manual result"  # begins the reason of a score that a person typed, which leaves no other trace
ERROR = 2  # failureReason of a result without an answer; 1 is an assertion that failed
NO_GRADE = ("API error", "API call error", "Could not extract JSON", "No output", "Error:", "Request timed out")
NONE = "No assertions"
OF_MODELS = ("llm-rubric", "model-graded", "g-eval", "answer-relevance", "context-", "factuality", "select-best")
KNOWN = {"vars", "response", "prompt", "gradingResult", "testCase", "namedScores", "provider", "id", "success", "score"}


def read_promptfoo(records: Sequence[ExportRecord], rename: Mapping[str, str]) -> ScoreExport:
    """A thumb in the viewer is a label; each assertion is a verdict of a program or of a model."""
    del rename
    items: dict[str, Row] = {}
    scores: list[Score] = []
    skipped: Counter[str] = Counter()
    by_prompt = 0
    for record in records:
        if record.flat:
            raise InputError(
                [
                    (
                        f"{record.where}: a CSV of promptfoo has verdict, output and reason in one cell, and no "
                        "mark of people; JSON is valid. Run promptfoo export eval ID -o results.json."
                    )
                ]
            )
        when, results = _results(record.fields)
        if not results:
            skipped["no result of an evaluation"] += 1
        for result in results:
            if _failed(result):
                skipped[SYSTEM_ERROR] += 1
                continue
            item = as_id(result.get("id", f"result-{len(items) + 1}"))
            items[item], guessed = _item(result)
            by_prompt += not guessed
            scores += _scores(item, result, when, skipped)
    note = f"{by_prompt} results have no variable that is called like a question: query is the prompt; --map names one."
    return ScoreExport(items, scores, skipped, (note,) if by_prompt else ())


def _results(fields: Row) -> tuple[str, list[Row]]:
    held = fields.get("results")
    when = as_text(held.get("timestamp", "")) if isinstance(held, Mapping) else ""
    listed = held.get("results") if isinstance(held, Mapping) else held
    if isinstance(listed, list):
        return when, [dict(one) for one in listed if isinstance(one, Mapping)]
    return when, [fields] if "vars" in fields and ("response" in fields or "success" in fields) else []


def _failed(result: Row) -> bool:
    """True if the system gave no answer; ``error`` alone may also repeat why an assertion failed."""
    response = result.get("response")
    said = response.get("output") if isinstance(response, Mapping) else None
    told = not is_missing(response.get("error")) if isinstance(response, Mapping) else False
    return result.get("failureReason") == ERROR or (is_missing(said) and (told or not is_missing(result.get("error"))))


def _item(result: Row) -> tuple[Row, bool]:
    """The item, and whether a variable is called like a question."""
    given = parsed(result.get("vars"))
    variables: Row = {f"vars.{name}": value for name, value in given.items()} if isinstance(given, Mapping) else {}
    found = {name: value for name, value in inputs_of(variables).items() if name != "answer"}
    prompt, response, provider = (result.get(name) for name in ("prompt", "response", "provider"))
    said = response.get("output") if isinstance(response, Mapping) else None
    rest = flat({name: value for name, value in result.items() if name not in KNOWN})
    row: Row = {**variables, **rest, **found, "answer": answer_in(said)}
    if "query" not in found:
        raw = prompt.get("raw") if isinstance(prompt, Mapping) else prompt
        row["query"] = question_in(raw)
    agent = as_id(provider.get("id", "") if isinstance(provider, Mapping) else provider or "")
    if agent:
        index = result.get("promptIdx")
        row["agent"] = agent if index is None else f"{agent}#{index}"
    return row, "query" in found


def _scores(item: str, result: Row, when: str, skipped: Counter[str]) -> Iterator[Score]:
    held = result.get("gradingResult")
    grading: Row = dict(held) if isinstance(held, Mapping) else {}
    parts = grading.get("componentResults")
    components = [dict(one) for one in parts if isinstance(one, Mapping)] if isinstance(parts, list) else []
    reason = as_text(grading.get("reason") or "")
    by_hand = reason.startswith(TYPED) and not any(_type(one) == "human" for one in components)
    for one in components:
        kind, human = _type(one), _type(one) == "human"
        about = one.get("assertion")
        if not human and _judge_failed(one):
            skipped[JUDGE_ERROR] += 1
            continue
        named = as_text(about.get("metric") or "") if isinstance(about, Mapping) else ""
        asked = as_text(about.get("value") or "") if isinstance(about, Mapping) else ""
        yield Score(
            item=item,
            name="rating" if human else named or kind,
            value=_verdict(one, "" if human else kind),
            origin="human" if human else "machine",
            judge="" if human else named or (f"{kind}: {asked}" if asked else kind),
            comment=as_text((one.get("comment") or one.get("reason") or "") if human else one.get("reason") or ""),
            time=when,
            more={} if human or not asked else {"assertion": asked},
            marked=f"assertion {kind}",
        )
    if components and not by_hand:
        return
    comment = as_text(grading.get("comment") or reason)
    if by_hand:
        yield Score(item, "rating", _verdict(grading, ""), "human", comment=comment, time=when, marked=TYPED)
    elif reason == NONE:
        skipped["results without an assertion: nobody graded them"] += 1
    elif not is_missing(result.get("success")):
        value = _verdict({**result, **grading, "pass": grading.get("pass", result["success"])}, "")
        yield Score(item, "success", value, "unmarked", comment=comment, time=when, marked="success without assertions")
    else:
        skipped["results without a verdict"] += 1


def _judge_failed(component: Row) -> bool:
    """True if the model that was to grade gave no grade: promptfoo then writes score 0."""
    about = component.get("metadata")
    marked = not is_missing(component.get("error")) or (isinstance(about, Mapping) and bool(about.get("graderError")))
    return marked or (
        _type(component).removeprefix("not-").startswith(OF_MODELS)
        and component.get("score") in (None, 0)
        and as_text(component.get("reason") or "").startswith(NO_GRADE)
    )


def _type(component: Row) -> str:
    assertion = component.get("assertion")
    return as_text(assertion.get("type") or "assertion") if isinstance(assertion, Mapping) else "assertion"


def _verdict(graded: Row, kind: str) -> object:
    """True or false; a score between them as the number; of an assertion without a model its pass alone."""
    score = graded.get("score")
    if kind and not kind.removeprefix("not-").startswith(OF_MODELS):
        return graded.get("pass")
    return graded.get("pass") if score in (None, 0, 1) else score  # a list in it has no hash
