"""A judge as an assertion of promptfoo: the folder of Python, what promptfoo calls, and a configuration.

Source: promptfoo's documentation of Python assertions: ``get_assert(output, context)`` returns ``pass``, ``score``,
``reason`` and ``namedScores``; variables that are lists are spread over tests unless ``disableVarExpansion`` is set.
"""

import json

from judgec.errors import UserError
from judgec.raters.export.python import python_files
from judgec.raters.judge import JudgeTree
from judgec.raters.programs import Program
from judgec.records.tasks.registry import SYNONYMS, TASKS, compares, require_better_above

ASSERTION = "assert_judge.py"
CONFIG = "promptfooconfig.yaml"
FACE = '''"""The judge {name} as an assertion of promptfoo: ``type: python``, ``value: file://{assertion}``.

``config`` of the assertion names a test's variables where they are called otherwise: {{query: customer_request}}.
"""

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from judge import JUDGE, grade  # noqa: E402  # found by the line above

FIELDS: Mapping[str, tuple[str, ...]] = {fields}
GRADED = {graded!r}  # what the system under test says
MODEL: str | None = {model!r}  # None: no language model is asked
SETTINGS: Mapping[str, object] = {settings!r}
SECONDS = 120


def get_assert(output: object, context: Mapping[str, object]) -> dict[str, object]:
    """What promptfoo shows: accepted or not, the score from 0 to 1, the judge's reason.

    Raises:
        ValueError: A variable that ``config`` names is missing.
        RuntimeError: The judge has no verdict: an error of the test, and no grade.
    """
    found = grade(item_of(output, context), None if MODEL is None else complete)
    if found["unscored"] is not None:
        raise RuntimeError(f"no verdict: {{found['unscored']}}")
    scores = found["scores"] if "scores" in found else {{"": found["score"]}}
    accepts = found["accepts"] if "accepts" in found else {{"": found["accept"]}}
    assert isinstance(scores, dict) and isinstance(accepts, dict)
    shares = {{aspect: share(score) for aspect, score in scores.items()}}
    known = [accept for accept in accepts.values() if accept is not None]
    return {{
        "pass": all(known),
        "score": sum(shares.values()) / len(shares),
        "reason": str(found["rationale"]) or f"grade {{found.get('grade', found.get('grades'))}}",
        "namedScores": {{aspect: value for aspect, value in shares.items() if aspect}},
    }}


def share(score: float) -> float:
    """A score as a part of the judge's scale: 0 is its worst grade, 1 its best."""
    values = JUDGE.scale.values
    return (score - values[0]) / (values[-1] - values[0])


def item_of(output: object, context: Mapping[str, object]) -> dict[str, object]:
    """What the judge reads: the output, and the test's variables."""
    given, names = context.get("vars") or {{}}, context.get("config") or {{}}
    assert isinstance(given, Mapping) and isinstance(names, Mapping)
    item: dict[str, object] = {{}}
    for field, usual in FIELDS.items():
        if field in names:
            if names[field] not in given:
                have = ", ".join(map(str, given))
                raise ValueError(f"config {{field}}: no variable {{names[field]!r}}; the test has {{have}}. Name one.")
            item[field] = given[names[field]]
        elif (name := next((name for name in usual if name in given), None)) is not None:
            item[field] = given[name]
    item.setdefault("query", context.get("prompt"))
    item[GRADED] = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return item


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Prompts and keys go to the host that was named, and to no other."""

    def redirect_request(self, *_: object) -> None:
        return None


def complete(messages: list[dict[str, str]]) -> str:
    """Ask the judge's model at an OpenAI-compatible endpoint: OPENAI_BASE_URL and OPENAI_API_KEY."""
    named = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    base = (named or "https://api.openai.com/v1").rstrip("/")
    request = urllib.request.Request(
        f"{{base}}/chat/completions",
        json.dumps({{"model": MODEL, "messages": messages, **SETTINGS}}).encode(),
        {{"Content-Type": "application/json", "Authorization": f"Bearer {{os.environ.get('OPENAI_API_KEY', '')}}"}},
    )
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=SECONDS) as reply:
            said = json.loads(reply.read())
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{{base}}: HTTP {{error.code}}; set OPENAI_BASE_URL and OPENAI_API_KEY") from None
    return str(said["choices"][0]["message"].get("content") or "")  # null beside reasoning or a refusal
'''
EXAMPLE = """\
# promptfoo eval -c {config}
# The judge {name} grades what your providers answer.
# It needs Python 3.11 or later with numpy; PROMPTFOO_PYTHON names the one to take.
prompts:
  - '{{{{query}}}}'
providers:
  - echo  # your system here
defaultTest:
  options:
    disableVarExpansion: true  # contexts are a list; without this each would be a test of its own
  assert:
    - type: python
      value: file://{assertion}
      metric: {metric}
      # config: {{query: customer_request}}  # where the variables of your tests are called otherwise
tests:
  - vars:
{variables}
"""


def promptfoo_files(program: Program, judge: JudgeTree) -> dict[str, str]:
    """Text by path below the folder.

    Raises:
        UserError: The judge compares two answers or finds failure modes, or cannot be exported as Python.
    """
    card = program.card
    name = f"{card.name}@{card.version}"
    if compares(card.task):
        raise UserError(
            f"export {name}: it compares two answers, and an assertion of promptfoo sees one; a judge of single "
            "answers is needed. Export it with --to python."
        )
    require_better_above(card.task, f"export {name}")
    files = python_files(program, judge)
    spec = TASKS[card.task]
    graded = spec.graded[0]
    fields = {one: (one, *SYNONYMS.get(one, ())) for one in spec.inputs if one != graded}
    asked = judge.asks_lm
    known = {key: card.lm.get(key) for key in ("temperature", "max_tokens", "max_completion_tokens")}
    settings = {key: value for key, value in known.items() if asked and isinstance(value, int | float)}
    face = FACE.format(
        name=name,
        assertion=ASSERTION,
        fields="{\n" + "".join(f"    {one!r}: {names!r},\n" for one, names in fields.items()) + "}",
        graded=graded,
        model=str(card.lm["model"]).partition("/")[2] or str(card.lm["model"]) if asked else None,
        settings=settings,
    )
    examples = {one: ["..."] if one in spec.lists else "..." for one in (*spec.required, *spec.optional)}
    shown = {one: examples[one] for one in ("query", "contexts", "reference") if one in examples and one in card.fields}
    variables = "\n".join(f"      {one}: {json.dumps(value)}" for one, value in shown.items())
    config = EXAMPLE.format(
        name=name, config=CONFIG, assertion=ASSERTION, metric=json.dumps(card.name), variables=variables
    )
    return {**files, ASSERTION: face, CONFIG: config}
