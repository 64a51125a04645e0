"""Finds the newest page of a name: a version's, or that of a folder which a tournament or probe has written."""

from pathlib import Path

from judgec.errors import UserError
from judgec.raters import programs
from judgec.table import seal

PAGE = "report.html"


def newest_page(home: Path, name: str) -> Path:
    """The page of a judge or agent (``NAME``: the newest version that has one; ``NAME@VERSION``), or of a folder.

    A folder is looked for from here and in the home; where a judge and a folder share a name, the newer page wins.

    Raises:
        UserError: When nothing of this name has a page; it names what does.
    """
    folders = {Path(name) / PAGE, home / name / PAGE}
    found = [*(path for path in folders if path.is_file()), *_of_versions(home, name)[-1:]]
    if not found:
        known = known_pages(home)
        there = f"there are {', '.join(known)}. Name one of these." if known else "there is none yet. Run judgec demo."
        raise UserError(f"{name}: no page of this name in {home.resolve()}; {there}")
    return max(found, key=lambda path: path.stat().st_mtime)


def known_pages(home: Path) -> tuple[str, ...]:
    """Names that have a page: judges and agents, then folders of the home, each sorted."""
    judges = [name for name in programs.names(home) if _of_versions(home, name)]
    return (*judges, *sorted(path.parent.name for path in home.glob(f"*/{PAGE}")))


def _of_versions(home: Path, reference: str) -> list[Path]:
    """The pages of a family, oldest first, or of the one version that is named."""
    name, _, wanted = reference.partition("@")
    if name not in programs.names(home):
        return []
    if wanted:
        with seal.reading(allow_modified=True):  # nothing is judged
            numbers: tuple[int, ...] = (programs.load(home, reference).card.version,)
    else:
        numbers = programs.versions(home, name)
    pages = [home / "programs" / name / f"{number:04d}" / PAGE for number in numbers]
    return [path for path in pages if path.is_file()]
