import unicodedata

from judgec.records.label import Item


def normalized(item: Item) -> str:
    """The text of an item's query, as it is told from others."""
    return " ".join(unicodedata.normalize("NFKC", item.text("query")).casefold().split())
