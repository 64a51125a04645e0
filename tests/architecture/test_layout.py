"""The layout holds itself: imports point one way, third parties come in by their clients."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.sources import MODULES, SOURCE, nodes, relative

# The rooms of docs/design/layout.md. One imports only those that stand below it here; rooms of one line are strangers.
LAYERS = (
    ("api", "tasks"),  # names that files of others hold
    ("mlflow_align",),
    ("verbs",),
    ("trust",),
    ("compile",),
    ("rag", "tournament"),
    ("report", "connect"),
    ("raters",),
    ("lm",),
    ("labels", "evidence"),
    ("stats", "table"),
    ("records",),
    ("errors", "private"),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

# Third-party packages and the only places (prefixes below src/judgec) that may import them.
DOORS = {
    "mlflow": ("connect/tracking/", "mlflow_align.py", "api/mlflow_model.py", "verbs/mlflow_scorer.py"),
    "typer": ("verbs/cli/",),
    "rich": ("verbs/cli/", "report/", "render.py"),
    "dspy": ("lm/", "raters/", "rag/queries/", "rag/agents/", "compile/", "rag/retrieval/embed.py"),
    "gepa": ("compile/",),
    "jinja2": ("report/kit.py",),
    "optuna": ("compile/",),
    "aiohttp": ("lm/endpoint/",),
    "ray": ("lm/cluster/ray.py",),
    "openai": ("lm/batch/openai_batches.py",),
    "anthropic": ("lm/batch/anthropic_batches.py",),
    "lancedb": ("rag/retrieval/",),
    "xlsxwriter": ("table/xlsx.py",),
    "ir_measures": ("tournament/",),
    "sklearn": ("compile/calibrate.py", "rag/retrieval/embed.py"),
    "pandas": ("api/", "verbs/", "table/", "labels/", "connect/"),
    "datasets": ("table/",),
}


def may_print(path: Path) -> bool:
    return relative(path).startswith("verbs/cli/") or path.name == "render.py"


def imported(path: Path) -> Iterator[tuple[str, int]]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node.lineno


def package_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_imports_of_judgec_point_one_way() -> None:
    faults = []
    for path in MODULES:
        own = relative(path).split("/")[0].removesuffix(".py")
        for module, line in imported(path):
            target = package_of(module) if module.startswith("judgec.") else own
            if target != own and own in RANK and RANK[target] <= RANK[own]:
                faults.append(f"{relative(path)}:{line} imports judgec.{target}")
    assert not faults


INSIDE = {  # a part of a room, and the parts of it that it must not import
    "rag/retrieval/": ("judgec.rag.queries", "judgec.rag.agents", "judgec.rag.probes"),
    "rag/queries/": ("judgec.rag.agents", "judgec.rag.probes"),
    "rag/agents/": ("judgec.rag.queries", "judgec.rag.probes"),
    "verbs/": ("judgec.verbs.cli",),
}


def test_imports_inside_a_room_point_one_way() -> None:
    faults = [
        f"{relative(path)}:{line} imports {module}"
        for path in MODULES
        for part, above in INSIDE.items()
        if relative(path).startswith(part) and not relative(path).startswith("verbs/cli/")
        for module, line in imported(path)
        if module.startswith(above)
    ]
    assert not faults


def test_every_folder_is_a_room_of_the_layout_page() -> None:
    page = (SOURCE.parents[1] / "docs" / "design" / "layout.md").read_text(encoding="utf-8")
    folders = {relative(path).split("/")[0] for path in MODULES if "/" in relative(path)}
    others = {"api", "tasks"}
    assert set(re.findall(r"(?m)^\| `(\w+)/` \|", page)) == folders - others
    assert len(folders - others) < 15
    assert folders <= RANK.keys()


def test_third_parties_come_in_by_their_doors() -> None:
    faults = []
    for path in MODULES:
        for module, line in imported(path):
            clients = DOORS.get(module.split(".")[0])
            if clients and not any(relative(path).startswith(client) or path.name == client for client in clients):
                faults.append(f"{relative(path)}:{line} imports {module}; its clients are {', '.join(clients)}")
    assert not faults


def test_no_file_is_named_after_leftovers() -> None:
    leftovers = {"utils", "util", "helpers", "helper", "common", "core", "base", "misc"}
    assert not [relative(path) for path in MODULES if path.stem in leftovers]


def test_only_cli_and_renderers_print() -> None:
    calls = [
        f"{relative(path)}:{node.lineno}"
        for path in MODULES
        if not may_print(path)
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not calls


def test_no_pickle_and_no_global_dspy_settings() -> None:
    assert not [relative(path) for path in MODULES if "dspy.configure" in path.read_text(encoding="utf-8")]
    assert not [
        f"{relative(path)}:{line} imports {name}"
        for path in MODULES
        for name, line in imported(path)
        if name.split(".")[0] in _PICKLERS
    ]


_PICKLERS = {"pickle", "cloudpickle", "joblib", "dill", "shelve", "marshal"}


def test_only_one_function_makes_sessions_of_options() -> None:
    """Beside ``session_for`` only a ``Workspace`` opens one, for whoever writes Python, with caps of their own."""
    made = {
        relative(path)
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Session"
    }
    assert made == {"verbs/spending.py", "verbs/workspace.py"}
