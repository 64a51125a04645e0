"""``make demo``: compile a judge on the labels that ship with the project, in a family of its own each time."""

from pathlib import Path

from judgec.cli.output import exit_with_code
from judgec.errors import UserError

LABELS = Path("trainsets/sensors/labels.jsonl")
FAMILY = "sensors-demo"


def require_here(path: Path, target: str) -> None:
    """Refuse to run elsewhere than in the project's folder.

    Raises:
        UserError: When what a demo reads is not there.
    """
    if not path.exists():
        raise UserError(f"{path}: not here; the demo runs in the project's folder. Change to it and run {target}.")


def demo(home: Path) -> str:
    """Compile on ``trainsets/sensors`` and name the next two commands.

    Returns: The name of the family.

    Raises:
        UserError: When it is not run from the project's folder.
    """
    from judgec.cli.judge.compile_judge import Request
    from judgec.cli.judge.compiling import run
    from judgec.store.programs import names

    require_here(LABELS, "make demo")
    taken = set(names(home))
    family = next(name for k in range(1, len(taken) + 2) if (name := f"{FAMILY}-{k}") not in taken)
    run(Request(labels=str(LABELS), name=family, home=home))
    return family


if __name__ == "__main__":
    exit_with_code(lambda: demo(Path()))
