"""DSPy's own optimizers as they come, with the metric that everybody writes: the grade is the expert's."""

import contextlib
import io
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence

import dspy

from judgec.compile.dataset import Part
from judgec.compile.search.candidates import first_predictor
from judgec.raters.signatures import demonstration
from judgec.records.scale import Scale

Compile = Callable[[dspy.Module, Sequence[dspy.Example], Sequence[dspy.Example], dspy.LM | None, int], dspy.Module]
THREADS = 8


def exact(example: dspy.Example, prediction: dspy.Prediction, trace: object = None) -> float:
    """1 for the expert's grade."""
    return float(str(example.grade) == str(prediction.grade))


def exact_with_feedback(
    example: dspy.Example, prediction: dspy.Prediction, trace: object = None, name: object = None, own: object = None
) -> dspy.Prediction:
    """As ``exact``, with the feedback that GEPA wants."""
    return dspy.Prediction(
        score=exact(example, prediction), feedback=f"The experts gave {example.grade}, you {prediction.grade}."
    )


PLAIN: Mapping[str, Compile] = {  # as many candidates, trials, instructions and rounds as ours
    "BootstrapFewShotWithRandomSearch": lambda module, train, dev, reflection, seed: (
        dspy.BootstrapFewShotWithRandomSearch(
            exact, max_bootstrapped_demos=4, max_labeled_demos=8, num_candidate_programs=13, num_threads=THREADS
        ).compile(module, trainset=list(train), valset=list(dev))
    ),
    "MIPROv2": lambda module, train, dev, reflection, seed: dspy.MIPROv2(
        exact, prompt_model=reflection, auto=None, num_candidates=5, num_threads=THREADS, seed=seed + 1
    ).compile(module, trainset=list(train), valset=list(dev), num_trials=20, minibatch=False),
    "GEPA": lambda module, train, dev, reflection, seed: dspy.GEPA(
        exact_with_feedback,
        reflection_lm=reflection,
        max_metric_calls=len(dev) + 10 * (2 * 16 + len(dev)),
        reflection_minibatch_size=16,
        num_threads=THREADS,
        seed=seed,
    ).compile(module, trainset=list(train), valset=list(dev)),
}


def examples(module: dspy.Module, part: Part, scale: Scale) -> list[dspy.Example]:
    """The items of a part as DSPy's examples, in the order of a seed-free split."""
    predict = first_predictor(module)
    return [
        demonstration(
            predict, part.items[i], [int(p) for p in part.experts.target[i, :, 0]], scale, reason=part.rationale(i)
        )
        for i in range(len(part))
    ]


def run(
    name: str,
    module: dspy.Module,
    train: Part,
    dev: Part,
    scale: Scale,
    *,
    lm: dspy.LM,
    reflection: dspy.LM | None,
    seed: int,
) -> dspy.Module:
    """Compile with one of ``PLAIN``; what it prints and logs is swallowed."""
    with quiet(), dspy.context(lm=lm, num_threads=THREADS):
        return PLAIN[name](module, examples(module, train, scale), examples(module, dev, scale), reflection, seed)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing of what libraries print, log or warn of."""
    log = logging.getLogger("dspy")
    level = log.level
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        log.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            log.setLevel(level)
