"""Says where a family stands: which use of the test queries its next version is, and which version it meets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judgec.labels.split.family import read_family
from judgec.labels.split.memory import Measured, earlier_uses, kind_of, read_memory
from judgec.raters import programs
from judgec.records.label import Item


@dataclass(frozen=True, slots=True)
class FamilyState:
    """State of a family: what the next version is compared with, and at which level.

    Args:
        test_use: Which use of the test queries the next version is, whatever the programs were called that were tested
            with them before; a version whose test use was lost with the process that made it counts all the same.
        champion: The version in use, or None.
    """

    test_use: int
    champion: int | None


def family_state(home: Path, name: str, tested: Sequence[Item], measured: Measured) -> FamilyState:
    """The family as it stands on disk, and how often the home has used these test queries under any name.

    Args:
        home: Folder of ``programs/``.
        name: The family.
        tested: The test items.
        measured: What is measured on them.

    Raises:
        ArtifactError: When a file of a version is damaged.
    """
    uses = earlier_uses(
        tested,
        read_memory(home, name, kind_of(measured.task)),
        [use.version for use in read_family(home, name).looks],
        task=measured.task,
        columns=measured.columns,
    )
    return FamilyState(uses + 1, programs.aliases(home, name).get(programs.CHAMPION))
