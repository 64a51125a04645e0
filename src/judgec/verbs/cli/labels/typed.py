"""The options of ``judgec labels`` as somebody types them, for the next command."""

from judgec.labels.project import find_project
from judgec.verbs.options.labels import LabelsOptions


def as_typed(options: LabelsOptions) -> list[str]:
    """The options that say how the file is read, as they are typed; without those that ``judgec.toml`` has."""
    found = find_project(options.file)
    told = found if found is not None and found.applies_to(options.file) else None
    columns = {} if told is None else told.columns
    maps = [("--map", f"{theirs}={ours}") for theirs, ours in options.columns.items() if columns.get(theirs) != ours]
    known = {} if told is None else told.winner_words
    words = {word: side for word, side in options.winner_words.items() if known.get(word) != side}
    annotators = () if told is not None and tuple(told.annotators) == tuple(options.annotators) else options.annotators
    single = (
        ("--task", None if told is not None and told.task == options.task else options.task),
        *maps,
        ("--annotators", ",".join(annotators) or None),
        ("--accept-at", options.accept_at),
        ("--round", None if told is not None and told.round == options.round else options.round),
        ("--repeats", None if told is not None and told.repeats == options.repeats else options.repeats),
        ("--missing", ",".join(word for word in options.missing if told is None or word not in told.missing) or None),
        ("--winner-words", ",".join(f"{word}={side}" for word, side in words.items()) or None),
    )
    return [part for option, value in single if value is not None for part in (option, value)]
