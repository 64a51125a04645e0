"""Coverage and width of what ``judgec systems`` prints, on simulated tables, beside ppi_py and experts' labels alone.

    python -m benchmarks.systems [--tables 2000] [--write]

Every table has five systems that answer each query, experts' accepts of a share of the rows (or of whole queries), and
a judge with a given kappa. Systems are equal, or lie between .5 and .8, and the judge favours one of them. A cell holds
where the intervals that were given cover at least 94 % of the time, and where equal systems are told apart in at most
6 % of the tables. With ``--write`` the table goes to systems.md; without ppi_py its columns are left out.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.figures import measured_on, table, write
from judgec.records.label import FloatArray
from judgec.stats.systems.compare import compare_systems
from judgec.stats.systems.means import Cells, corrected_means, differences
from judgec.stats.systems.rows import ACCEPT_RATE, SystemRows

TABLES = 2000
COVERS = 0.94
FEW = 100  # intervals, below which their coverage is not told
FALSE = 0.06  # 5 % and one more, for chance
SIZES = ((20, 0.05), (20, 0.2), (20, 0.5), (60, 0.2), (200, 0.05), (200, 0.2))
KAPPAS = (0.2, 0.5, 0.8)
EQUAL, APART = (0.65,) * 5, (0.5, 0.575, 0.65, 0.725, 0.8)
FAVOUR = 0.15  # added to what the judge accepts by chance of the first system
ICC = 0.2  # correlation of two answers to one query
FIRST, MORE, POWER = 40, (100, 120, 150, 180, 220, 260, 320, 380, 460, 560, 680, 820, 1000, 1200), 0.8
SOME = 100  # tables of the second part
ALPHA, EPSILON = 0.05, 1e-9
MeanInterval = Callable[[FloatArray, FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class World:
    """Tables of one kind.

    Args:
        queries: Each answered by all systems.
        labelled: Share of the rows, or of the queries.
        kappa: Of the judge, on a system that it does not favour.
        whole: Queries are labelled as a whole.
        rates: The systems' true accept rates.
    """

    queries: int
    labelled: float
    kappa: float
    whole: bool
    rates: tuple[float, ...]

    def rows(self, rng: np.random.Generator) -> SystemRows:
        """One table. The judge says what experts say with chance kappa, else it accepts at the system's rate."""
        n, k = self.queries, len(self.rates)
        rates = np.array(self.rates)
        share = np.sqrt(ICC)  # of the answers that go with the query
        level = rng.random((n, 1))
        truth = np.where(rng.random((n, k)) < share, level, rng.random((n, k))) < rates
        favoured = rates + FAVOUR * (np.arange(k) == 0) * (self.rates != EQUAL)
        judge = np.where(rng.random((n, k)) < self.kappa, truth, rng.random((n, k)) < favoured)
        known = np.zeros((n, k), dtype=bool)
        if self.whole:
            known[rng.choice(n, round(self.labelled * n), replace=False)] = True
        else:
            known.flat[rng.choice(n * k, round(self.labelled * n * k), replace=False)] = True
        return SystemRows(
            query=np.repeat(np.arange(n), k),
            system=np.tile(np.arange(k), n),
            names=tuple("ABCDEFGH"[:k]),
            judge=judge.ravel().astype(float),
            expert=np.where(known, truth, np.nan).ravel(),
            threshold=1.0,
        )


@dataclass
class Tally:
    """What was found over the tables of one world; lists hold a number a table."""

    given: int = 0
    covered: int = 0
    peer_covered: int = 0
    false: list[bool] = field(default_factory=list)
    together: list[bool] = field(default_factory=list)
    apart: list[float] = field(default_factory=list)
    width: list[FloatArray] = field(default_factory=list)
    alone: list[FloatArray] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)

    def add(self, world: World, rows: SystemRows, peer: MeanInterval | None) -> None:
        """Count one table."""
        graded, systems = rows.measures[ACCEPT_RATE], len(rows.names)
        found = corrected_means(Cells.of(rows.query, rows.system, systems), graded)
        rate, enough = np.array(world.rates), found.enough
        (low, high), (alone_low, alone_high) = found.corrected.limits(), found.experts.limits()
        self.given += int(enough.sum())
        self.covered += int(((low <= rate) & (rate <= high))[enough].sum())
        self.width.append((high - low)[enough])
        self.alone.append((alone_high - alone_low)[enough])
        if peer is not None and enough[0]:
            own, known = rows.system == 0, ~np.isnan(graded.expert)
            ends = peer(graded.expert[own & known], graded.judge[own & known], graded.judge[own & ~known])
            first, last = (float(np.ravel(one)[0]) for one in ends)
            self.peer.append(last - first)
            self.peer_covered += first <= rate[0] <= last
        weights = differences(np.flatnonzero(enough), systems)
        value, low, high, p = found.corrected.tested(weights, np.ones(len(weights), dtype=bool))
        true, shown = weights @ rate, p <= ALPHA
        self.false.append(bool((shown & (value * true <= 0)).any()))
        if len(weights):
            self.together.append(bool(((low <= true + EPSILON) & (true - EPSILON <= high)).all()))
            self.apart.append(float(shown.mean()))


def cell(world: World, tables: int, peer: MeanInterval | None, seed: int = 0) -> Tally:
    """Tables of one world, each with a seed of its own."""
    tally = Tally()
    for number in range(tables):
        tally.add(world, world.rows(np.random.default_rng([seed, number])), peer)
    return tally


def holds(tally: Tally) -> bool:
    """Intervals cover, and no pair is wrongly told apart too often."""
    return (tally.given < FEW or tally.covered >= COVERS * tally.given) and float(np.mean(tally.false)) <= FALSE


def lines(tables: int, peer: MeanInterval | None) -> Iterator[tuple[bool, list[str]]]:
    """Rows of the table, and whether each holds."""
    worlds = product(SIZES, KAPPAS, (False, True), (EQUAL, APART))
    for seed, ((queries, share), kappa, whole, rates) in enumerate(worlds):
        one = cell(World(queries, share, kappa, whole, rates), tables, peer, seed)
        row = [
            f"{queries}, {share:.0%}, {kappa}, {'queries' if whole else 'rows'}, "
            + ("equal" if rates == EQUAL else "apart"),
            f"{one.given / (tables * len(rates)):.2f}",
            f"{one.covered / one.given:.3f}" if one.given >= FEW else "-",
            f"{np.mean(one.false):.3f}",
            f"{np.mean(one.together):.3f}" if one.together else "-",
            f"{np.mean(one.apart):.2f}" if one.apart else "-",
            *_widths(one, peer is not None),
            "yes" if holds(one) else "NO",
        ]
        print(*row, sep=" | ", file=sys.stderr, flush=True)
        yield holds(one), row


def _widths(one: Tally, peer: bool) -> list[str]:
    if one.given < FEW:
        return ["-"] * (4 if peer else 2)
    alone = float(np.median(np.concatenate(one.alone)))
    own = [f"{alone:.2f}", f"{np.median(np.concatenate(one.width)) / alone:.2f}"]
    if peer:
        own += [f"{np.nanmedian(one.peer) / alone:.2f}", f"{one.peer_covered / len(one.peer):.3f}"]
    return own


def draws(tables: int) -> Iterator[list[str]]:
    """Further labels until four of five tables tell the best from the second: drawn from all, or from the undecided."""
    for systems in (4, 8):
        rates = (0.8, 0.65, *(0.2,) * (systems - 2))
        shares = {}
        for undecided, more in product((False, True), MORE):
            told = (_told_after(rates, more, undecided, number) for number in range(tables))
            shares[undecided, more] = float(np.mean(list(told)))
        every, open_ = (next((more for more in MORE if shares[which, more] >= POWER), None) for which in (False, True))
        times = "-" if every is None or open_ is None else f"{every / open_:.1f}"
        yield [str(systems), *("more" if one is None else str(one) for one in (every, open_)), times]


def _told_after(rates: tuple[float, ...], more: int, undecided: bool, number: int) -> bool:
    rng = np.random.default_rng([len(rates), number])
    rows = World(600, 1.0, 0.6, whole=False, rates=rates).rows(rng)
    first = np.isin(rows.query, rng.choice(600, FIRST, replace=False))
    before = compare_systems(replace(rows, expert=np.where(first, rows.expert, np.nan)))
    best = next(iter(before.systems))
    open_ = [best, *(one.b for one in before.pairs if one.a == best and not one.shown)] if undecided else rows.names
    among = np.isin(rows.system, [rows.names.index(name) for name in open_ if name])
    order = rng.permutation(np.unique(rows.query[~first]))  # whole queries, within these systems
    drawn = np.isin(rows.query, order[: more // max(len(open_), 1)]) & among
    after = compare_systems(replace(rows, expert=np.where(first | drawn, rows.expert, np.nan)))
    return any(one.shown and {one.a, one.b} == set("AB") for one in after.pairs)


def _peer() -> MeanInterval | None:
    try:
        from ppi_py import ppi_mean_ci
    except ImportError:
        print("ppi_py is not installed: its columns are left out.", file=sys.stderr)
        return None

    def interval(expert: FloatArray, judge: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
        low, high = ppi_mean_ci(expert, judge, rest, alpha=0.05)
        return low, high

    return interval


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", type=int, default=TABLES, help="a cell")
    parser.add_argument("--write", action="store_true", help="into systems.md")
    options = parser.parse_args()
    tables = options.tables
    load, begin, peer = os.getloadavg()[0], time.process_time(), _peer()
    head = [
        "queries, labelled, kappa, labelled by, systems",
        "given",
        "covers",
        "false pair",
        "all pairs",
        "told apart",
    ]
    head += [
        "labels alone: width",
        "corrected / alone",
        *(["ppi_py / alone", "ppi_py covers"] if peer else []),
        "holds",
    ]
    every = list(lines(tables, peer))
    text = [
        f"{tables:,} tables a cell; {time.process_time() - begin:,.0f} CPU seconds. {measured_on(load)}",
        "",
    ]
    text += table(head, [row for _, row in every])
    text += [
        "",
        f"Further labels that tell the best of systems (.8, .65, others .2; kappa .6, {FIRST} queries labelled) from ",
    ]
    text[-1] += f"the second in {POWER:.0%} of tables, whole queries at random:"
    text += ["", *table(["systems", "of all", "of the undecided", "times as few"], list(draws(min(tables, SOME))))]
    print("\n".join(text))
    if options.write:
        write("systems", "\n".join(text), Path(__file__).with_name("systems.md"))
    if not all(held for held, _ in every):
        sys.exit("Not every cell holds.")


if __name__ == "__main__":
    main()
