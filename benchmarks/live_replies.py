"""How many recorded replies ``judge`` would have read, had it asked their prompts, as whoever recorded them did.

    python -m benchmarks.live_replies --data DIR

DIR holds sets as ``benchmarks.real_judges`` reads them. A row a judge: replies that give the same grade, another one,
none where there was one (``lost``), and one where there was none (``found``).
"""

import argparse
import math
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

from judgec.labels.reading import read_datasheet
from judgec.raters.replies import UnreadableReplyError, stated


def main() -> None:
    """Print the table of each set with replies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    folder: Path = parser.parse_args().data
    for file in sorted(folder.glob("*.verdicts.parquet")):
        scale = read_datasheet(str(folder / f"{file.name.partition('.')[0]}.jsonl")).scale
        table = pq.read_table(file)
        if scale is None or not {"reply", "grade"} <= set(table.column_names):
            continue
        counts: dict[str, Counter[str]] = {}
        aspects = table["aspect"].to_pylist() if "aspect" in table.column_names else [""] * len(table)
        columns = [table[name].to_pylist() for name in ("judge", "grade", "reply")]
        for judge, grade, reply, aspect in zip(*columns, aspects, strict=True):
            if reply is None:
                continue
            known = grade is not None and not math.isnan(grade)
            try:
                read: float | None = float(str(stated(str(reply), scale, names=(aspect,))))
            except (UnreadableReplyError, ValueError):
                read = None
            kind = ("lost" if known else "none") if read is None else "found" if not known else "same"
            counts.setdefault(judge, Counter())["differs" if kind == "same" and read != grade else kind] += 1
        print(file.name)
        for judge, count in sorted(counts.items()):
            total = sum(count.values())
            print(f"  {judge:34} {total:6}  same {count['same'] / total:6.1%}  {dict(count)}")


if __name__ == "__main__":
    main()
