"""``make demo-probe``: the scenarios that ship, on the documents that ship, against six agents and a broken system."""

from pathlib import Path

from judgec.errors import GateError
from judgec.verbs.cli.output import exit_with_code, print_report, say

CATALOGUE = Path("trainsets/sensors/catalogue")
INDEX = Path("demo-out/sensors-index")
OUT = Path("demo-out/probe")
AGENTS = tuple(f"{kind}-{retriever}" for kind in ("rag", "rag-fusion") for retriever in ("bm25", "knn", "hybrid"))
QUESTIONS = 8  # of each scenario
LEAST = 0.5  # of its answers must fail for the broken system to count as found


def demo(home: Path) -> None:
    """Index the catalogue, probe, and check that every scenario finds the broken system.

    Raises:
        GateError: When a scenario does not find the fault that was planted for it.
    """
    from judgec.rag.probes.broken import BROKEN
    from judgec.rag.retrieval.build import build_index
    from judgec.report.progress import Bar
    from judgec.verbs.options.probe import ProbeOptions
    from judgec.verbs.probe import probe, probe_report

    build_index([str(CATALOGUE)], home / INDEX, seed=0)
    options = ProbeOptions(
        scenarios=("all",),
        index=(str(home / INDEX),),
        system=(*AGENTS, BROKEN),
        n=QUESTIONS,
        out=home / OUT,
        home=home,
    )
    bar = Bar(shown=True)
    found = probe.run(options, bar)
    bar.close()
    print_report(probe_report(found))
    rates = {cell.scenario: cell.failure_rate.value for cell in found.summary.cells if cell.system == BROKEN}
    missed = [scenario for scenario, rate in rates.items() if rate is None or rate < LEAST]
    if missed:
        raise GateError(f"{home / OUT}: {', '.join(missed)} did not find the fault planted in {BROKEN}.")
    say(f"Every scenario found the fault that was planted for it in the system '{BROKEN}'.")


if __name__ == "__main__":
    exit_with_code(lambda: demo(Path()))
