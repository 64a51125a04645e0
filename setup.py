"""Puts the labels that ship, and their notebook, into the wheel; everything else about the build is in pyproject.toml.

They live in ``trainsets`` and ``docs``, outside the package. A wheel gets a copy when it is built, so the tree
holds one; in a checkout, also an editable install, the program reads that one.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
SHIPPED = (
    *(Path("trainsets/sensors") / name for name in ("labels.jsonl", "datasheet.toml", "README.md")),
    *(path.relative_to(ROOT) for path in sorted((ROOT / "trainsets/hanna").iterdir()) if path.is_file()),
    Path("docs/notebooks/compile.ipynb"),
)


class BuildWithLabels(build_py):
    """``build_py`` that also copies what ships into it."""

    def run(self) -> None:
        """Build the package, then copy."""
        super().run()
        if not self.editable_mode:
            for source, target in zip(SHIPPED, self._copies(), strict=True):
                self.mkpath(str(target.parent))
                self.copy_file(str(ROOT / source), str(target), preserve_mode=False)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Everything that is built, the copies too."""
        copies = [] if self.editable_mode else [str(path) for path in self._copies()]
        return [*super().get_outputs(include_bytecode), *copies]

    def _copies(self) -> list[Path]:
        return [Path(self.build_lib) / "judgec" / source for source in SHIPPED]


setup(cmdclass={"build_py": BuildWithLabels})
