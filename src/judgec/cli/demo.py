"""``make demo``: compile a judge on the labels that ship with the project, in a family of its own each time."""

import sys
from pathlib import Path

from judgec.errors import JudgecError, UserError

LABELS = Path("trainsets/sensors/labels.jsonl")
FAMILY = "sensors-demo"


def demo(home: Path) -> str:
    """Compile on ``trainsets/sensors`` and name the next two commands.

    Returns: The name of the family.

    Raises:
        UserError: When it is not run from the project's folder.
    """
    from judgec.cli.judge.compiling import Request, run
    from judgec.store.programs import names

    if not LABELS.is_file():
        raise UserError(f"{LABELS}: not here; the demo runs in the project's folder. Change to it and run make demo.")
    taken = set(names(home))
    family = next(name for k in range(1, len(taken) + 2) if (name := f"{FAMILY}-{k}") not in taken)
    run(Request(labels=str(LABELS), name=family, home=home))
    return family


def main() -> None:
    """Run the demo in the current folder."""
    try:
        demo(Path())
    except JudgecError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("interrupted; what was finished is kept, the same command goes on from there.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
