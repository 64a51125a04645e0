"""Reads numbers with units as quantities, so that 0.5 km and 500 m, 5 % and 0.05, 20 °C and 68 °F compare equal.

SI units with their prefixes and the common others, in English, German, Spanish and French. Units of one dimension are
converted to a base unit; a temperature has an offset, too.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

RATIO = "ratio"
CLOSE = 0.01  # relative: the most that two figures of different units may differ by, however few digits they have
EXACT = 1e-9  # relative: what floating point loses


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of measurement.

    Args:
        dimension: What it measures; only quantities of one dimension are compared.
        factor: One of it in base units.
        offset: Base units at its zero.
    """

    dimension: str
    factor: float
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit.

    Args:
        unit: As written.
        value: In base units.
        half: Half a unit of the last digit, in base units: what rounding may have changed.
    """

    unit: Unit
    value: float
    half: float


_PREFIXES = {
    "n": ("nano", 1e-9),
    "μ": ("micro/mikro", 1e-6),
    "u": ("", 1e-6),
    "m": ("milli/mili", 1e-3),
    "c": ("centi/zenti/centí", 1e-2),
    "d": ("deci/dezi", 1e-1),
    "h": ("hecto/hekto", 1e2),
    "k": ("kilo/kiló", 1e3),
    "M": ("mega", 1e6),
    "G": ("giga", 1e9),
    "T": ("tera", 1e12),
}
_PREFIXED = (  # symbols, names, dimension, base units
    ("m", "meter/meters/metre/metres/metern/metro/metros/mètre/mètres", "length", 1.0),
    ("g", "gram/grams/gramme/grammes/gramm/gramo/gramos", "mass", 1e-3),
    ("s", "second/seconds/sekunde/sekunden/segundo/segundos/seconde/secondes", "time", 1.0),
    ("L/l", "liter/liters/litre/litres/litern/litro/litros", "length3", 1e-3),
    ("W", "watt/watts/vatio/vatios", "power", 1.0),
    ("V", "volt/volts/voltio/voltios", "voltage", 1.0),
    ("A", "ampere/amperes/amp/amps/amperio/amperios/ampère/ampères", "current", 1.0),
    ("Ω", "ohm/ohms/ohmio/ohmios", "resistance", 1.0),
    ("Hz", "hertz", "frequency", 1.0),
    ("Pa", "pascal/pascals", "pressure", 1.0),
    ("bar", "", "pressure", 1e5),
    ("J", "joule/joules/julio/julios", "energy", 1.0),
    ("N", "newton/newtons", "force", 1.0),
    ("Wh", "watt-hour/watt-hours/wattstunde/wattstunden", "energy", 3600.0),
    ("cal", "calorie/calories/kalorie/kalorien/caloría/calorías", "energy", 4.184),
    ("eV", "electronvolt/electronvolts/elektronenvolt", "energy", 1.602176634e-19),
    ("B", "byte/bytes/octet/octets", "data", 8.0),
    ("bit", "bits", "data", 1.0),
    ("mol", "mole/moles", "amount", 1.0),
)
_OF = {"m": "nμumcdk", "g": "nμumk", "L/l": "μumcdhk", "Pa": "mhkMG", "B": "kMGT", "bit": "kMGT"}  # prefixes in use
_PLAIN = (  # symbols (as written), names (in any case), dimension, base units, offset
    ("min", "minute/minutes/minuten/minuto/minutos/mins", "time", 60.0, 0.0),
    ("h", "hour/hours/hr/hrs/stunde/stunden/std/hora/horas/heure/heures", "time", 3600.0, 0.0),
    ("", "day/days/tag/tage/tagen/día/días/jour/jours", "time", 86_400.0, 0.0),
    ("", "week/weeks/woche/wochen/semana/semanas/semaine/semaines", "time", 604_800.0, 0.0),
    ("", "month/months/monat/monate/monaten/mes/meses/mois", "months", 1.0, 0.0),
    ("", "year/years/jahr/jahre/jahren/año/años/an/ans/année/années", "months", 12.0, 0.0),
    ("", "inch/inches/zoll/pulgada/pulgadas/pouce/pouces", "length", 0.0254, 0.0),
    ("ft", "foot/feet/fuß/pie/pies/pied/pieds", "length", 0.3048, 0.0),
    ("yd", "yard/yards/yarda/yardas", "length", 0.9144, 0.0),
    ("mi", "mile/miles/meile/meilen/milla/millas", "length", 1609.344, 0.0),
    ("t", "tonne/tonnes/ton/tons/tonnen/tonelada/toneladas", "mass", 1000.0, 0.0),
    ("lb/lbs", "pound/pounds/pfund/libra/libras/livre/livres", "mass", 0.45359237, 0.0),
    ("oz", "ounce/ounces/unze/unzen/onza/onzas/once/onces", "mass", 0.028349523125, 0.0),
    ("ha", "hectare/hectares/hektar/hectárea/hectáreas", "length2", 1e4, 0.0),
    ("", "acre/acres", "length2", 4046.8564224, 0.0),
    ("gal", "gallon/gallons/gallone/gallonen/galón/galones", "length3", 3.785411784e-3, 0.0),
    ("hp/PS", "horsepower", "power", 745.69987158, 0.0),
    ("atm", "atmosphere/atmospheres", "pressure", 101_325.0, 0.0),
    ("psi", "", "pressure", 6894.757293168, 0.0),
    ("mmHg", "", "pressure", 133.322387415, 0.0),
    ("K", "kelvin/kelvins", "temperature", 1.0, 0.0),
    ("°C", "degree celsius/degrees celsius/celsius/grad celsius/grados celsius/degrés celsius",
     "temperature", 1.0, 273.15),
    ("°F", "degree fahrenheit/degrees fahrenheit/fahrenheit/grad fahrenheit/grados fahrenheit/degrés fahrenheit",
     "temperature", 5 / 9, 273.15 - 32 * 5 / 9),
    ("‰", "per mille/permille/promille/por mil/pour mille", RATIO, 1e-3, 0.0),
    ("%", "percent/per cent/prozent", RATIO, 1e-2, 0.0),
    ("mph", "", "length/time", 0.44704, 0.0),
    ("kph/kmh", "", "length/time", 1 / 3.6, 0.0),
    ("rpm", "", "1/time", 1 / 60, 0.0),
    ("KiB", "kibibyte/kibibytes", "data", 8 * 1024.0, 0.0),
    ("MiB", "mebibyte/mebibytes", "data", 8 * 1024.0**2, 0.0),
    ("GiB", "gibibyte/gibibytes", "data", 8 * 1024.0**3, 0.0),
)  # fmt: skip
_POWERS = {
    "square ": 2, "sq ": 2, "quadrat": 2, "cubic ": 3, "cu ": 3, "kubik": 3,
    " cuadrado": 2, " cuadrados": 2, " carré": 2, " carrés": 2, " cúbico": 3, " cúbicos": 3, " cube": 3, " cubes": 3,
}  # fmt: skip
_AMBIGUOUS = {"once", "an", "us"}  # words that are more often something else
_PER = re.compile(r"\s*(?:/|\bper\b|\bpro\b|\bpor\b|\bpar\b)\s*", re.IGNORECASE)
_AFTER = re.compile(r"\s{0,2}-?\s?((?:°\s?[CF]|[%‰]|[^\W\d_]+\^?[23]?)(?:(?:\s?/\s?|\s|-)[^\W\d_]+\^?[23]?){0,4})")
_CUT = re.compile(r"(?:\s?/\s?|\s|-)[^\W\d_]+\^?[23]?$")
_POWER = re.compile(r"([^\W\d_]+)\^?([23])")


def _units() -> tuple[dict[str, Unit], dict[str, Unit]]:
    """By symbol, and by name in lower case."""
    symbols: dict[str, Unit] = {}
    names: dict[str, Unit] = {}
    for short, long, dimension, size in _PREFIXED:
        for sign, (words, factor) in {"": ("", 1.0), **_PREFIXES}.items():
            if sign and sign not in _OF.get(short, "nμumkMGT"):
                continue
            unit = Unit(dimension, size * factor)
            symbols |= {sign + symbol: unit for symbol in short.split("/") if sign + symbol not in _AMBIGUOUS}
            if words or not sign:
                names |= {word + name: unit for word in words.split("/") for name in long.split("/") if name}
    for short, long, dimension, size, offset in _PLAIN:
        unit = Unit(dimension, size, offset)
        symbols |= {symbol: unit for symbol in short.split("/") if symbol}
        names |= {name: unit for name in long.split("/") if name and name not in _AMBIGUOUS}
    return symbols, names


_SYMBOLS, _NAMES = _units()
_UNMARKED = str.maketrans("áàâéèêëíîóôúûüöäñç", "aaaeeeeiioouuuoanc")
_NAMES |= {name.translate(_UNMARKED): unit for name, unit in _NAMES.items()}  # English texts are read without accents
_SMALL: Mapping[str, Unit] = {  # KM, khz: what people write otherwise and mean the same
    symbol.lower(): _SYMBOLS[symbol]
    for symbol in (
        "km",
        "cm",
        "kg",
        "lb",
        "lbs",
        "oz",
        "ft",
        "Hz",
        "kHz",
        "GHz",
        "kB",
        "GB",
        "TB",
        "kW",
        "kWh",
        "kPa",
        "°C",
    )
}


@lru_cache(maxsize=20_000)
def unit_of(text: str) -> Unit | None:
    """The unit that a text is, such as ``km/h``, ``m2`` or ``degrees Celsius``; None for any other text."""
    top, *below = _PER.split(" ".join(text.split()))
    unit = _simple(top)
    if not below or unit is None:
        return unit if not below else None
    under = _simple(below[0])
    if len(below) > 1 or under is None or unit.offset or under.offset:
        return None
    return Unit(f"{unit.dimension}/{under.dimension}", unit.factor / under.factor)


def _simple(text: str) -> Unit | None:
    exact = text.replace("° ", "°")
    low = exact.lower()
    found = _SYMBOLS.get(exact) or _NAMES.get(low) or _SMALL.get(low)
    if found is not None:
        return found
    if power := _POWER.fullmatch(exact):
        return _raised(power[1], int(power[2]))
    for word, exponent in _POWERS.items():
        if low.startswith(word) and not word.startswith(" "):
            return _raised(exact[len(word) :], exponent)
        if word.startswith(" ") and low.endswith((word, word.translate(_UNMARKED))):
            return _raised(exact[: -len(word)], exponent)
    return None


def _raised(text: str, exponent: int) -> Unit | None:
    base = _SYMBOLS.get(text) or _NAMES.get(text.lower())
    if base is None or base.dimension != "length":
        return None
    return Unit(f"length{exponent}", base.factor**exponent)


_RUN = re.compile(r"[^\W\d_]+")
_FIRST = frozenset(
    run[0].lower()
    for name in (*_SYMBOLS, *_NAMES, *_SMALL, *(word for word in _POWERS if not word.startswith(" ")))
    if (run := _RUN.match(name)) is not None
)  # letters with which a unit begins
_JOINED = tuple(word for word in _POWERS if word == word.strip())  # Quadratmeter is one word


@lru_cache(maxsize=100_000)
def may_begin_unit(word: str) -> bool:
    """False for a word with which none of the units begins that are words."""
    letters = _RUN.match(word)
    if letters is None:
        return False
    low = letters[0].lower()
    return low in _FIRST or low.startswith(_JOINED)


def unit_after(text: str, start: int) -> Unit | None:
    """The unit that follows a number which ends at ``start``, the longest that there is; None without one."""
    found = _AFTER.match(text, start)
    if found is None:
        return None
    said = found[1]
    while said:
        if (unit := unit_of(said)) is not None:
            return unit
        shorter = _CUT.sub("", said)
        said = "" if shorter == said else shorter
    return None


def quantity(figure: str, unit: Unit, *, negative: bool) -> Quantity | None:
    """A number with its unit; None for a figure that is no decimal number, such as 1.2.3.

    Args:
        figure: Digits with at most one point.
        unit: Its unit.
        negative: Whether a minus sign stands before it.
    """
    if figure.count(".") > 1 or not figure.replace(".", "", 1).isdecimal() or len(figure) > 30:
        return None
    value = -float(figure) if negative else float(figure)
    half = 0.5 * 10.0 ** -len(figure.partition(".")[2])
    return Quantity(unit, value * unit.factor + unit.offset, half * unit.factor)


def same(one: Quantity, other: Quantity) -> bool:
    """True if two quantities are one: exactly in one unit, up to rounding (one per cent at most) in two."""
    if one.unit.dimension != other.unit.dimension:
        return False
    size = max(abs(one.value), abs(other.value))
    rounding = 0.0 if one.unit == other.unit else min(max(one.half, other.half), CLOSE * size)
    return abs(one.value - other.value) <= max(rounding, EXACT * size)


def same_ratio(one: Quantity, figure: str) -> bool:
    """True if a share, such as 5 %, is this number without a unit, such as 0.05."""
    bare = quantity(figure, Unit(RATIO, 1.0), negative=one.value < 0)
    return one.unit.dimension == RATIO and bare is not None and abs(one.value - bare.value) <= EXACT * abs(one.value)


def ratios(quantities: Mapping[str, tuple[Quantity, ...]]) -> Iterator[Quantity]:
    """The shares among them."""
    return (one for found in quantities.values() for one in found if one.unit.dimension == RATIO)
