"""``judgec journal``: shows, exports and prunes the journal of model calls."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgec.errors import UserError
from judgec.records.counts import plural
from judgec.verbs.cli.help import PlainCommand
from judgec.verbs.cli.shell import HomeOption, JsonOption

if TYPE_CHECKING:
    from judgec.lm.journal.journal import Journal

journal = typer.Typer(
    name="journal",
    help="The journal of LM calls: what is in it, taking it out, making it smaller.\n\nExample: judgec journal stats",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ModelOption = Annotated[str | None, typer.Option("--model", metavar="PROVIDER/NAME", help="Only this model.")]


@journal.command(cls=PlainCommand)
def stats(*, json: JsonOption = False, home: HomeOption = Path()) -> None:
    """Replies, tokens and dollars by model, verdicts and features by judge, batches that are not read yet.

    Example: judgec journal stats
    """
    from dataclasses import asdict
    from datetime import UTC, datetime

    from judgec.lm.journal.upkeep import fact_stats, model_stats, size, unread_batches
    from judgec.verbs.cli.output import print_json, print_table

    with _opened(home) as kept:
        models, facts, batches = model_stats(kept), fact_stats(kept), unread_batches(kept)
    total = size(_path(home))
    if json:
        print_json(
            {
                "path": str(_path(home)),
                "bytes": total,
                "models": [asdict(row) for row in models],
                "facts": [asdict(row) for row in facts],
                "batches": [asdict(row) for row in batches],
            }
        )
        return
    print_table(
        f"{_path(home)}, {total / 1e6:.1f} MB",
        ("model", "replies", "superseded", "tokens in", "tokens out", "US$", "unpriced"),
        [
            (
                m.model,
                *map(str, (m.replies, m.superseded, m.input_tokens, m.output_tokens)),
                f"{m.usd:.4f}",
                str(m.unpriced),
            )
            for m in models
        ],
    )
    if facts:
        rows = [(f"{f.kind}: {f.name}", str(f.facts), f"{f.bytes / 1e6:.1f}") for f in facts]
        print_table("Known of items", ("what", "items", "MB"), rows)
    if batches:
        title = "Batches that are not read yet; the command that sent one reads it when it is run again"
        since = [f"{datetime.fromtimestamp(one.made, UTC):%F %H:%M}" for one in batches]
        print_table(
            title,
            ("batch", "model", "calls", "since (UTC)"),
            [
                (one.batch or "not known yet", one.model, str(one.calls), at)
                for one, at in zip(batches, since, strict=True)
            ],
        )


@journal.command(cls=PlainCommand)
def export(
    *,
    out: Annotated[Path, typer.Option("--out", metavar="OUT.jsonl", help="Where the replies go, one a line.")],
    model: ModelOption = None,
    json: JsonOption = False,
    home: HomeOption = Path(),
) -> None:
    """Write the newest reply of every call as JSON lines.

    Example: judgec journal export --out replies.jsonl
    """
    import orjson

    from judgec.labels.split.family import writing_whole
    from judgec.lm.journal.upkeep import exported
    from judgec.verbs.cli.output import print_json, say

    count = 0
    with _opened(home) as kept, writing_whole(out) as file:
        for row in exported(kept, model=model):
            file.write(orjson.dumps(row) + b"\n")
            count += 1
    if json:
        print_json({"replies": count, "out": str(out)})
    else:
        say(f"{plural(count, 'reply')} in {out}")


@journal.command(cls=PlainCommand)
def prune(
    *,
    days: Annotated[
        float | None, typer.Option("--older-than", min=0, metavar="DAYS", help="Also delete replies older than this.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="PROVIDER/NAME", help="Also delete all replies of this model.")
    ] = None,
    facts: Annotated[
        bool, typer.Option("--facts", help="Also delete verdicts and features; they can be worked out again for free.")
    ] = False,
    json: JsonOption = False,
    home: HomeOption = Path(),
) -> None:
    """Delete replies that newer ones replaced, and what is asked for besides. A deleted reply is paid again.

    Example: judgec journal prune --older-than 90
    """
    from judgec.lm.journal.upkeep import prune as delete
    from judgec.lm.journal.upkeep import size
    from judgec.verbs.cli.output import print_json, say

    before = size(_path(home))
    with _opened(home) as kept:
        gone = delete(kept, days=days, model=model, facts=facts)
    after = size(_path(home))
    if json:
        print_json({"deleted": gone, "bytes_before": before, "bytes_after": after})
    else:
        named = ", ".join(f"{count} {reason}" for reason, count in gone.items())
        say(f"deleted {named}; {before / 1e6:.1f} MB before, {after / 1e6:.1f} MB now")


def _path(home: Path) -> Path:
    return home / ".judgec" / "journal.db"


def _opened(home: Path) -> "Journal":
    """The journal, which must exist: looking at one must not make one.

    Raises:
        UserError: When there is none.
    """
    from judgec.lm.journal.journal import Journal

    path = _path(home)
    if not path.is_file():
        raise UserError(f"{path}: no journal; a folder in which judgec has run is valid. Name it with --home.")
    return Journal(path)
