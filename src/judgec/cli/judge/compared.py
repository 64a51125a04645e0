"""Prints the result of ``judgec compare``."""

from judgec.api.compare import JudgeComparison
from judgec.api.options.compare import CompareOptions
from judgec.cli.output import command, say
from judgec.report.render import paired_table, print_tables
from judgec.stats.agreement.compare import Differing

SHOWN = 5  # differing items on screen
LONGEST = 200  # characters of a rationale on screen


def show_compared(found: JudgeComparison, options: CompareOptions) -> None:
    """Print both judges side by side, the items on which they differ, and the next command."""
    a, b, differing = found.comparison.a, found.comparison.b, found.comparison.differing
    title = f"{found.a} against {found.b}, {a.n + a.unscored} grades, 95 % intervals"
    print_tables(paired_table(title, {found.a: a, found.b: b}, found.comparison.differences))
    if differing:
        print(f"{len(differing)} items on which they differ, the choice mattering most first:\n")
    for each in differing[:SHOWN]:
        print("\n".join(_block(each)) + "\n")
    spent = set()
    for known in (found.report["a"], found.report["b"]):
        assert isinstance(known, dict)  # as compare makes it
        looks, level = known["looks"], known["level_spent"]
        spent.add(f"{known['program']}: {looks} looks at this test split have spent {level:.3f} of .05")
    calls = f"{found.report['lm_calls']} LM calls"
    say(*sorted(spent), calls, *[f"note: {note}" for note in dict.fromkeys(found.notes)])
    if options.out is None and differing:
        given = (("--labels", options.labels), ("--api-base", options.api_base))
        typed = [part for option, value in given if value is not None for part in (option, str(value))]
        judges = (str(options.a), str(options.b))
        say(f"Next: {command('compare', *judges, *typed, '--out', 'items.jsonl', home=options.home)}")


def _block(each: Differing) -> list[str]:
    """An item as lines: the three grades, then both rationales."""
    expert = next(iter(each.expert.values())) if len(each.expert) == 1 else dict(each.expert)
    grades = [row.get("grade", row.get("grades")) for row in (each.a, each.b)]
    lines = [f"{each.item.item_id}: experts {_plain(expert)}, A {_plain(grades[0])}, B {_plain(grades[1])}"]
    for name, row in (("A", each.a), ("B", each.b)):
        reason = " ".join(str(row.get("unscored") or row.get("rationale") or "no reason given").split())
        lines.append(f"  {name}: {reason if len(reason) <= LONGEST else reason[: LONGEST - 1] + '…'}")
    return lines


def _plain(value: object) -> str:
    if value is None:
        return "-"
    return " ".join(map(str, value.values())) if isinstance(value, dict) else str(value)
