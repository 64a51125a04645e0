"""Says where a family stands: which look at the test queries its next version is, and which version it meets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judgec.labels.sides.looks import earlier_looks
from judgec.labels.sides.memory import Measured, kind_of, read_memory
from judgec.labels.splits import read_family
from judgec.raters import programs
from judgec.records.label import Item


@dataclass(frozen=True, slots=True)
class FamilyState:
    """Where a family stands: what the next version is compared with, and at which level.

    Args:
        look: Which look at the test queries the next version is, whatever the programs were called that were tested
            with them before; a version whose look was lost with the process that made it counts all the same.
        champion: The version in use, or None.
    """

    look: int
    champion: int | None


def family_state(home: Path, name: str, tested: Sequence[Item], measured: Measured) -> FamilyState:
    """The family as it stands on disk, and how often the home has looked at these test queries under any name.

    Args:
        home: Folder of ``programs/``.
        name: The family.
        tested: The test items.
        measured: What is measured on them.

    Raises:
        ArtifactError: When a file of a version is damaged.
    """
    looks = earlier_looks(
        tested,
        read_memory(home, name, kind_of(measured.task)),
        [look.version for look in read_family(home, name).looks],
        task=measured.task,
        columns=measured.columns,
    )
    return FamilyState(looks + 1, programs.aliases(home, name).get(programs.CHAMPION))
