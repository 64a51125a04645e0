"""The columns of every table of judges: what is said of an agreement, on screens and on pages."""

from collections.abc import Callable, Mapping, Sequence

from judgec.records.agreement import Agreement
from judgec.report.columns import Column
from judgec.report.kit import shown
from judgec.report.numbers import brackets, number, show, signed, statistic_name
from judgec.stats.agreement.registry import KNOWN

AgreementColumn = Column[Agreement]


def statistic(name: str, *, interval: bool = True) -> AgreementColumn:
    """A statistic, with its interval or without."""

    def text(one: Agreement) -> str:
        found = one.estimates.get(name)
        return show(found) if interval else number(None if found is None else found.value)

    cell: Callable[[Agreement], str] | None = None
    if interval:
        cell = lambda one: shown(one.estimates.get(name))  # noqa: E731 -- beside the text it goes with
    return Column(statistic_name(name), text, cell=cell)


def statistics(judges: Mapping[str, Agreement], *, but: str = "") -> list[str]:
    """The statistics that any of these judges has, in the order of ``STATISTICS``, others after them."""
    names = dict.fromkeys([*KNOWN, *(name for one in judges.values() for name in one.estimates)])
    return [name for name in names if name != but and any(_has(one, name) for one in judges.values())]


BIAS: AgreementColumn = Column(
    "bias [limits of agreement]",
    lambda one: f"{signed(one.bland_altman.bias)} {brackets(one.bland_altman.low, one.bland_altman.high)}".rstrip(),
)
BIAS_ALONE: AgreementColumn = Column("bias", lambda one: signed(one.bland_altman.bias))
REJECTS: Sequence[AgreementColumn] = (
    Column("reject rate, experts", lambda one: number(one.expert_reject_rate)),
    Column("reject rate, judge", lambda one: number(one.judge_reject_rate)),
)
SIZE: AgreementColumn = Column("items (queries)", lambda one: f"{one.n} ({one.n_clusters})")
UNSCORED: AgreementColumn = Column("unscored", lambda one: str(one.unscored))
FACTS: Sequence[AgreementColumn] = (BIAS, *REJECTS, SIZE, UNSCORED)


def _has(agreement: Agreement, name: str) -> bool:
    estimate = agreement.estimates.get(name)
    return estimate is not None and estimate.value is not None
