"""TOML files as text and as what they say."""

import re
import tomllib
from pathlib import Path

from judgec.errors import InputError
from judgec.table.regular import regular


def read_toml(path: Path) -> tuple[str, dict[str, object]]:
    """A TOML file as text and as what it says.

    Raises:
        InputError: When it is none, with the line.
    """
    try:
        text = regular(path).read_bytes().decode("utf-8-sig")
        return text, tomllib.loads(text)
    except OSError as error:
        raise InputError([f"{path}: {error.strerror}; a TOML file is needed. Check the path."]) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError([f"{path}:{line}: not UTF-8; the whole file must be. Save it as UTF-8."]) from error
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        line = int(at[1]) if at else text.count("\n") + 1
        raise InputError(
            [f"{path}:{line}: not TOML ({error}); a value is quoted text, a number or [...]. Fix it."]
        ) from error


def line_of(sheet: Path, text: str, key: str) -> str:
    """The place of a key or table header in a TOML file."""
    found = re.search(rf"^\s*\[?\s*{re.escape(key)}\b", text, re.MULTILINE)
    line = text.count("\n", 0, found.end()) + 1 if found else 1
    return f"{sheet}:{line}"
