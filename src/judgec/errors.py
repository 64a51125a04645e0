"""Everything judgec raises on purpose, as one tree split by who can mend it.

    JudgecError
    ├── UserError            exit 2: bad input or usage; the user mends it
    │   ├── InputError       one or more faults in a file, each with its place
    │   └── ArtifactError    a saved program, journal or index that does not fit
    ├── GateError            exit 1: the work was done, the gate that was asked for said no
    └── ServiceError         exit 3: the LM or another service failed
        └── BudgetError      the next call would pass ``--budget`` or ``--max-cost``

Every message reads ``<where>: <what was seen>; <what is valid>. <Next step.>``.
"""

from collections.abc import Sequence

MAX_SHOWN = 10  # faults printed before "and N more"


class JudgecError(Exception):
    """Base of every error that judgec raises on purpose.

    Attributes:
        exit_code: What the command line exits with.
    """

    exit_code = 2


class UserError(JudgecError):
    """Bad input or usage that the user can mend."""


class InputError(UserError):
    """Faults found in one file, collected and shown together.

    Args:
        faults: One finished sentence each, with its place (``labels.jsonl:41: ...``).
    """

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        lines = list(self.faults[:MAX_SHOWN])
        if len(self.faults) > MAX_SHOWN:
            lines.append(f"... and {len(self.faults) - MAX_SHOWN} more, {len(self.faults)} in all.")
        super().__init__("\n".join(lines))


class ArtifactError(UserError):
    """A saved program, journal or index that is damaged or belongs to something else."""


class GateError(JudgecError):
    """The work was done and saved, and the gate that was asked for said no."""

    exit_code = 1


class ServiceError(JudgecError):
    """The language model or another service failed and retrying did not help."""

    exit_code = 3


class BudgetError(ServiceError):
    """The next call would pass the budget; what is finished is kept."""
