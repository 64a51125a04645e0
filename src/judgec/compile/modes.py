"""Says of a compile how well each failure mode is found on the test items, and from which probability."""

from dataclasses import replace

from judgec.compile.compile import Compiled
from judgec.raters.calibrator import Calibrator
from judgec.records.mode_agreement import ModesAgreement

EVEN = 0.5  # the cut of a rule that takes the likelier of two grades


def found_modes(compiled: Compiled) -> ModesAgreement | None:
    """The compiled judge on the failure modes of the test items, None where the labels are of none."""
    found = compiled.verification.modes
    if found is None:
        return None
    cuts = {mode: threshold_of(fitted) for mode, fitted in compiled.judge.calibrators.items()}
    return replace(found, thresholds={mode: cut for mode, cut in cuts.items() if cut is not None})


def threshold_of(calibrator: Calibrator) -> float | None:
    """The calibrated probability of presence from which a mode is flagged; None where the LM's own word is kept."""
    rule = calibrator.rule
    if rule.name == "cuts":
        return rule.cuts[0]
    return None if rule.name in {"raw", "map"} else EVEN
