"""Prompts live in Signatures: only a task's module writes instructions, only the LM layer writes messages."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "judgec"
PROMPT_ROOMS = ("judges/", "queries/", "agents/", "probes/")
MESSAGE_ROOMS = ("lm/", "judges/export/")  # what is exported asks without the layer
SIGNATURE_MAKERS = {"Signature", "InputField", "OutputField", "with_instructions"}
MODULES = sorted(SOURCE.rglob("*.py"))


def relative(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


@pytest.mark.parametrize("path", [p for p in MODULES if not relative(p).startswith(PROMPT_ROOMS)], ids=relative)
def test_signatures_are_made_only_where_prompts_live(path: Path) -> None:
    made = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    made += [
        base for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef) for base in node.bases
    ]
    used = [
        f"{relative(path)}:{node.lineno} {node.attr}"
        for node in made
        if isinstance(node, ast.Attribute) and node.attr in SIGNATURE_MAKERS
    ]
    assert not used


@pytest.mark.parametrize("path", [p for p in MODULES if not relative(p).startswith(MESSAGE_ROOMS)], ids=relative)
def test_chat_messages_are_written_only_by_the_lm_layer(path: Path) -> None:
    written = [
        f"{relative(path)}:{node.lineno}"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Dict)
        and {key.value for key in node.keys if isinstance(key, ast.Constant)} >= {"role", "content"}
    ]
    assert not written
