from collections.abc import Callable

from judgec.compile.finished import SavedJudge, finished
from judgec.compile.measured import Compiled
from judgec.compile.release import cost_of, release
from judgec.compile.settings import CompileSettings
from judgec.lm.usage import Spent


def save(
    compiled: Compiled,
    settings: CompileSettings,
    spent: Spent,
    *,
    created: str,
    seconds: float,
    track: Callable[[SavedJudge], None] | None = None,
) -> SavedJudge:
    return release(finished(compiled, settings, cost_of(spent, seconds), created), track)
