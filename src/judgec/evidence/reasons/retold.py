"""Says phrases in another language: what each speaks for stays as the English one has it, its text is made anew."""

from collections.abc import Sequence

from judgec.evidence.reasons.findings import AgainstContexts, AgainstReference, Findings, Share, Worst
from judgec.evidence.reasons.phrases import FEW, LISTED, MOST, Phrases
from judgec.evidence.reasons.templates import ReasonTemplate


class Retold:
    """Phrases in one language.

    Args:
        telling: Its sentences.
    """

    def __init__(self, telling: ReasonTemplate) -> None:
        self._telling = telling

    def answer(self, phrases: Phrases, found: Findings, asked_for: tuple[str, float] | None) -> Phrases:
        """The phrases of one answer; arguments as ``answer_phrases`` had them."""
        say, said = self._say, {"texts": self._say("empty answer"), "form": self._say("length", found.words)}
        said["refusal"] = self._refusal(found)
        said["question"] = self._counted("question", found.question)
        if phrases.get("question", (0, ""))[1].startswith("the answer is about something else"):
            said["question"] = say("elsewhere", said["question"])
        if asked_for is not None:
            thing, given = asked_for
            said["given"] = say("given" if given > 0 else "not given", self._telling.asks[thing])
        if found.reference is not None:
            said |= self._reference(found.reference)
        if found.contexts is not None:
            said |= self._contexts(found.contexts)
        return _with(phrases, said)

    def pair(self, phrases: Phrases, a: Findings, b: Findings) -> Phrases:
        """The phrases of two answers."""
        say, said = self._say, {"form": self._say("pair length", a.words, b.words)}
        said["texts"] = say("both empty") if not a.words and not b.words else say("one empty", "b" if a.words else "a")
        said["question"] = self._both("pair question", a.question, b.question)
        for name, one, other in (("a", a, b), ("b", b, a)):
            alone = [word for key, word in one.content.items() if key not in other.content]
            said[f"only_{name}"] = say("only says", name, self._listed(alone))
        said["refusal"] = say("both refuse") if a.refusal and b.refusal else self._pair_refusal(a, b)
        if a.reference is not None and b.reference is not None:
            first, second = a.reference, b.reference
            said["recall"] = self._both("pair recall", first.recall, second.recall)
            said["numbers"] = self._both("pair numbers", first.numbers, second.numbers)
            said["names"] = self._both("pair names", first.names, second.names)
            said["precision"] = self._shares("pair precision", first.precision, second.precision)
        if a.contexts is not None and b.contexts is not None:
            said |= self._pair_contexts(a.contexts, b.contexts)
        return _with(phrases, said)

    def document(self, phrases: Phrases, words: Share, best: Share, quote: str, size: int) -> Phrases:
        """The phrases of a document with at least one word, beside a query with one."""
        say, found = self._say, self._listed(words.found)
        queried = say("query", len(words.found), words.whole) + (say("found", found) if words.found else "")
        return _with(
            phrases,
            {
                "query": queried + (say("missing", self._listed(words.missing)) if words.missing else ""),
                "together": say("together", len(best.found), words.whole, self._quoted(quote)),
                "form": say("size", size),
            },
        )

    def nothing(self, phrases: Phrases, *, document: bool) -> Phrases:
        """The phrases of an empty document, or of an empty query."""
        return _with(phrases, {"texts": self._say("empty document" if document else "empty query")})

    def _say(self, key: str, *values: object) -> str:
        return self._telling.phrases[key].format(*values)

    def _quoted(self, text: str) -> str:
        return self._telling.quote.format(text)

    def _listed(self, words: Sequence[str]) -> str:
        shown = ", ".join(map(self._quoted, words[:LISTED]))
        return shown if len(words) <= LISTED else self._telling.more.format(shown, len(words) - LISTED)

    def _counted(self, key: str, part: Share) -> str:
        said = self._say(key, len(part.found), part.whole)
        return said + (self._say("missing", self._listed(part.missing)) if part.missing else "")

    def _refusal(self, found: Findings) -> str:
        unanswerable = found.reference is not None and found.reference.refuses
        if not found.refusal:
            return self._say("unanswerable" if unanswerable else "answers")
        said = self._say("refuses", self._quoted(found.refusal))
        if found.reference is None:
            return said
        return self._say("refuses too" if unanswerable else "refuses wrongly", said)

    def _reference(self, found: AgainstReference) -> dict[str, str]:
        said = {
            "recall": self._say("verbatim") if found.verbatim else self._counted("recall", found.recall),
            "precision": self._say("precision", len(found.precision.found), found.precision.whole),
            "numbers": self._things("numbers", found.numbers, found.other_numbers),
            "names": self._things("names", found.names, found.other_names),
        }
        worst = found.worst
        if not found.verbatim and worst is not None and worst.share.whole > 1 and worst.share.value < FEW:
            said["recall"] = self._say("lacks", said["recall"], *self._place(worst), self._quoted(worst.quote))
        if not found.numbers.whole:
            said["numbers"] = self._say("other numbers", self._listed(found.other_numbers))
        return said

    def _things(self, key: str, part: Share, others: Sequence[str]) -> str:
        said = self._counted(key, part)
        return self._say("others", said, self._listed(others)) if others else said

    def _contexts(self, found: AgainstContexts) -> dict[str, str]:
        say, known = self._say, found.known and not found.strangers
        said = {
            "support": say("support", len(found.support.found), found.support.whole),
            "strangers": say("known") if known else say("strangers", self._listed(found.strangers)),
            "passages": say("passages", len(found.question.found), found.question.whole),
        }
        return said if found.worst is None else said | {"sentences": self._worst(found.worst)}

    def _worst(self, worst: Worst) -> str:
        part, quote = worst.share, self._quoted(worst.quote)
        if part.value >= MOST:
            return self._say("supported", worst.count)
        if not part.found:
            return self._say("unsupported", *self._place(worst), quote)
        return self._say("weak", *self._place(worst), len(part.found), part.whole, quote)

    @staticmethod
    def _place(worst: Worst) -> tuple[int, int]:
        return worst.number + 1, worst.count

    def _both(self, key: str, one: Share, other: Share) -> str:
        said = self._say(key, one.whole, len(one.found), len(other.found))
        alone = (
            (name, [word for word in mine.found if word not in theirs.found])
            for name, mine, theirs in (("a", one, other), ("b", other, one))
        )
        only = [self._say("only", name, self._listed(words)) for name, words in alone if words]
        return f"{said} ({'; '.join(only)})" if only else said

    def _shares(self, key: str, one: Share, other: Share) -> str:
        return self._say(key, f"{100 * one.value:.0f}", f"{100 * other.value:.0f}")

    def _pair_refusal(self, a: Findings, b: Findings) -> str:
        name, found = ("a", a) if a.refusal else ("b", b)
        said = self._say("one refuses", name, self._quoted(found.refusal))
        if a.reference is None:
            return said
        return self._say("refuses too" if a.reference.refuses else "refuses wrongly", said)

    def _pair_contexts(self, a: AgainstContexts, b: AgainstContexts) -> dict[str, str]:
        said = {"support": self._shares("pair support", a.support, b.support)}
        if a.worst is not None and b.worst is not None:
            name, worst = ("a", a.worst) if a.worst.share.value < b.worst.share.value else ("b", b.worst)
            said["sentences"] = self._say("in answer", name, self._worst(worst))
        name, strangers = ("a", a.strangers) if len(a.strangers) > len(b.strangers) else ("b", b.strangers)
        return said | {"strangers": self._say("in answer", name, self._say("strangers", self._listed(strangers)))}


def _with(phrases: Phrases, said: dict[str, str]) -> Phrases:
    """The phrases that there are, with these texts; what the English ones are silent about stays unsaid."""
    return {topic: (code, said[topic] if text else "") for topic, (code, text) in phrases.items()}
