"""Proposes what the columns of a table are by a language model, in any language; a person confirms it."""

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping

import dspy

from judgec.labels.roles import ProposedRoles
from judgec.lm.executor import Ask
from judgec.rag.queries.asking import ask_fields
from judgec.raters.fencing import fence
from judgec.raters.signatures import QUOTED

_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


class ProposeRoles(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Say which columns of a table of graded answers hold which role, whatever the language of the table.

    Name a column only where its head and its cells make the role clear, each role at most once. Columns of grades have
    none, and neither have columns that no role describes.
    """

    roles: str = dspy.InputField(desc="the roles that there are")
    columns: str = dspy.InputField(desc=f"head, kind of values and first cells of each column, numbered ({QUOTED})")
    proposed: str = dspy.OutputField(
        desc='a JSON object of heads, exactly as they stand, and roles: {"Frage": "query"}'
    )


def propose_roles(model: str, columns: Mapping[str, str], roles: Collection[str], ask: Ask) -> ProposedRoles:
    """Ask a model what the columns are.

    Args:
        model: Its name.
        columns: By head, what is seen of a column.
        roles: Those that there are.
        ask: Sends requests to it.
    """
    inputs = {"roles": ", ".join(sorted(roles)), "columns": fence("columns", tuple(columns.values()))}
    (reply,) = ask_fields(dspy.Predict(ProposeRoles), [inputs], ask)
    if isinstance(reply, str):
        return ProposedRoles(model, {}, (f"{model} proposes nothing: {reply}.",))
    found = _OBJECT.search(reply["proposed"])
    try:
        said = json.loads(found[0]) if found else None
    except json.JSONDecodeError:
        said = None
    if not isinstance(said, dict):
        return ProposedRoles(model, {}, (f"{model} proposes nothing: its reply holds no JSON object of heads.",))
    times = Counter(role for name, role in said.items() if name in columns and isinstance(role, str))
    faults = {
        name: "no such column"
        if name not in columns
        else "no such role"
        if not isinstance(role, str) or role not in roles
        else f"it is proposed for {times[role]} columns"
        if times[role] > 1
        else ""
        for name, role in said.items()
    }
    ignored = tuple(
        f"{model} proposes {name!r} as {said[name]!r}: {why}, ignored." for name, why in faults.items() if why
    )
    return ProposedRoles(model, {name: said[name] for name, why in faults.items() if not why}, ignored)
