"""Prompts live in Signatures: only a task's module writes instructions, only the LM layer writes messages."""

import ast
from pathlib import Path

from tests.architecture.sources import MODULES, nodes, relative

PROMPT_ROOMS = ("raters/", "rag/queries/", "rag/agents/", "rag/probes/")
MESSAGE_ROOMS = ("lm/", "raters/export/")  # what is exported asks without the layer
SIGNATURE_MAKERS = {"Signature", "InputField", "OutputField", "with_instructions"}


def outside(rooms: tuple[str, ...]) -> list[Path]:
    return [path for path in MODULES if not relative(path).startswith(rooms)]


def test_signatures_are_made_only_where_prompts_live() -> None:
    used = []
    for path in outside(PROMPT_ROOMS):
        made = [node.func for node in nodes(path) if isinstance(node, ast.Call)]
        made += [base for node in nodes(path) if isinstance(node, ast.ClassDef) for base in node.bases]
        used += [
            f"{relative(path)}:{node.lineno} {node.attr}"
            for node in made
            if isinstance(node, ast.Attribute) and node.attr in SIGNATURE_MAKERS
        ]
    assert not used


def test_chat_messages_are_written_only_by_the_lm_layer() -> None:
    written = [
        f"{relative(path)}:{node.lineno}"
        for path in outside(MESSAGE_ROOMS)
        for node in nodes(path)
        if isinstance(node, ast.Dict)
        and {key.value for key in node.keys if isinstance(key, ast.Constant)} >= {"role", "content"}
    ]
    assert not written
