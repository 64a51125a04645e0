"""The options of ``judgec labels`` as somebody types them, for the next command."""

from judgec.api.options.labels import LabelsOptions


def as_typed(options: LabelsOptions) -> list[str]:
    """The options that say how the file is read, as they are typed."""
    maps = [("--map", f"{theirs}={ours}") for theirs, ours in options.columns.items()]
    single = (
        ("--task", options.task),
        *maps,
        ("--annotators", ",".join(options.annotators) or None),
        ("--accept-at", options.accept_at),
    )
    return [part for option, value in single if value is not None for part in (option, value)]
