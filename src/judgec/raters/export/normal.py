"""The normal distribution function in numpy's double precision, operation by operation as SciPy's.

Source: Moshier, Cephes Math Library 2.1, ndtr.c (MIT-style licence), as in scipy.special.
"""

import math
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]  # of any precision, as numpy's functions say of their results

_P = (
    *(2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687e0, 4.86371970985681366614e1),
    *(1.96520832956077098242e2, 5.26445194995477358631e2, 9.34528527171957607540e2, 1.02755188689515710272e3),
    5.57535335369399327526e2,
)
_Q = (
    *(1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2, 9.75708501743205489753e2),
    *(1.82390916687909736289e3, 2.24633760818710981792e3, 1.65666309194161350182e3, 5.57535340817727675546e2),
)
_R = (
    *(5.64189583547755073984e-1, 1.27536670759978104416e0, 5.01905042251180477414e0, 6.16021097993053585195e0),
    *(7.40974269950448939160e0, 2.97886665372100240670e0),
)
_S = (
    *(2.26052863220117276590e0, 9.39603524938001434673e0, 1.20489539808096656605e1, 1.70814450747565897222e1),
    *(9.60896809063285878198e0, 3.36907645100081516050e0),
)
_T = (
    *(9.60497373987051638749e0, 9.00260197203842689217e1, 2.23200534594684319226e3, 7.00332514112805075473e3),
    5.55923013010394962768e4,
)
_U = (
    *(3.35617141647503099647e1, 5.21357949780152679795e2, 4.59432382970980127987e3, 2.26290000613890934246e4),
    4.92673942608635921086e4,
)
_MAXLOG = 7.09782712893383996843e2


@overload
def ndtr(x: float) -> float: ...
@overload
def ndtr(x: Floats) -> Floats: ...
def ndtr(x: float | Floats) -> float | Floats:
    """The probability of at most ``x`` under the standard normal distribution."""
    return np.array([_ndtr(each) for each in x.tolist()]) if isinstance(x, np.ndarray) else _ndtr(float(x))


def _ndtr(a: float) -> float:
    x = a * math.sqrt(0.5)
    z = abs(x)
    if z < 1.0:
        return 0.5 + 0.5 * _erf(x)
    y = 0.5 * _erfc(z)
    return 1.0 - y if x > 0 else y


def _erf(x: float) -> float:
    if abs(x) > 1.0:
        return 1.0 - _erfc(x)
    z = x * x
    return x * _polynomial(z, _T) / _monic(z, _U)


def _erfc(a: float) -> float:
    x = abs(a)
    if x < 1.0:
        return 1.0 - _erf(a)
    if -a * a < -_MAXLOG:
        return 2.0 if a < 0 else 0.0
    z = math.exp(-a * a)
    top, bottom = (_P, _Q) if x < 8.0 else (_R, _S)
    y = z * _polynomial(x, top) / _monic(x, bottom)
    return 2.0 - y if a < 0 else y


def _polynomial(x: float, terms: tuple[float, ...]) -> float:
    total = terms[0]
    for term in terms[1:]:
        total = total * x + term
    return total


def _monic(x: float, terms: tuple[float, ...]) -> float:
    total = x + terms[0]
    for term in terms[1:]:
        total = total * x + term
    return total
