"""Imports a Python function that somebody names as ``python:module:function``."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from judgec.errors import UserError

PYTHON = "python:"


def python_function(reference: str, folder: Path, where: str) -> Callable[..., Any]:  # somebody else's
    """The function that a reference names; nobody knows what it takes and returns.

    Args:
        reference: As typed: ``python:module:function``.
        folder: Looked in for the module beside the installed ones.
        where: Begins the error, for example ``--rerank``.

    Raises:
        UserError: When there is no such function.
    """
    module, _, name = reference.removeprefix(PYTHON).partition(":")
    sys.path.insert(0, str(folder.resolve()))
    try:
        found = getattr(importlib.import_module(module), name, None) if module and name else None
    except Exception as error:
        raise UserError(f"{where} {reference}: {error}; an importable module is needed. Check the name.") from error
    finally:
        sys.path.remove(str(folder.resolve()))
    if not callable(found):
        raise UserError(f"{where} {reference}: no such function; python:module:function is valid. Check the name.")
    function: Callable[..., Any] = found  # likewise
    return function
