"""Commands as somebody types them: what a report says to do next."""

import shlex
import shutil
import sys
import sysconfig
from pathlib import Path


def command(*arguments: str, home: Path) -> str:
    """A judgec command to type next, with ``--home`` where the user gave one."""
    given = [] if home == Path() else ["--home", str(home)]
    return f"{judgec_here()} {shlex.join([*arguments, *given])}"


def judgec_here() -> str:
    """How this judgec is called from here, quoted for a shell.

    Returns: ``judgec`` where the PATH leads to this one, else its path; ``python -m judgec`` where it has no command.
    """
    called = sys.argv[0]
    by_name = Path(called).stem == "judgec" and Path(called).is_file()
    own = called if by_name else shutil.which("judgec", path=sysconfig.get_path("scripts"))
    if own is None:
        return shlex.join([nearest(Path(sys.executable)), "-m", "judgec"])
    found = shutil.which("judgec")
    if found is not None and Path(found).samefile(own):
        return "judgec"
    return shlex.quote(nearest(Path(own)))


def nearest(path: Path) -> str:
    """The path as it is typed from here: relative below the current folder, else absolute."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
