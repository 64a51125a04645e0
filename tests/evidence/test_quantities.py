"""Numbers with units: conversions checked by hand, and what no longer counts as the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.evidence.model import EvidenceModel
from judgec.evidence.quantities import Quantity, Unit, quantity, same, unit_of
from judgec.evidence.text import read, reader_of
from judgec.records.label import Item
from tests.evidence.test_families import of_contexts, of_reference


def match(left: str, right: str, language: str = "english") -> bool:
    """Whether each text has every figure of the other."""
    reader = reader_of(language)
    one, other = read(left, reader), read(right, reader)
    here = all(other.gives(number, one) for number in one.numbers)
    assert one.numbers
    assert here == all(one.gives(number, other) for number in other.numbers)  # it does not matter who is asked
    return here


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("0.5 km", "500 m"),
        ("1,000 m", "1 km"),
        ("five kilometers", "5000 m"),
        ("a 5-kilometer run", "a run of 5000 m"),
        ("5 %", "0.05"),
        ("5 percent", "5 %"),
        ("50 ‰", "5 %"),
        ("20 °C", "68 °F"),  # 68 = 20 * 9 / 5 + 32
        ("0 °C", "273.15 K"),
        ("-40 °C", "-40 °F"),
        ("21 degrees Celsius", "70 °F"),  # 70 °F is 21.1 °C
        ("90 km/h", "25 m/s"),  # 90000 / 3600
        ("60 mph", "96.56 km/h"),  # 60 * 1.609344
        ("100 km", "62 miles"),  # 62.14, given in whole miles
        ("12 V", "12000 mV"),
        ("2 MW", "2000 kW"),
        ("1 kWh", "3.6 MJ"),
        ("1 bar", "100 kPa"),
        ("3 square meters", "30000 cm2"),
        ("1 m³", "1000 liters"),
        ("1 week", "7 days"),
        ("2 years", "24 months"),
        ("90 min", "1.5 hours"),
        ("8 GB", "8000 MB"),
        ("1 lb", "453.6 g"),
        ("5.2 million km", "5200000 km"),
        ("5 km", "5"),  # who leaves the unit out has the figure
        ("5 widgets", "5 km"),
        ("1,000", "1000"),
    ],
)
def test_same_quantity_in_another_unit_is_the_same_number(left: str, right: str) -> None:
    assert match(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("5 km", "5 m"),
        ("5 km", "5 kg"),
        ("0.5 km", "480 m"),  # 4 per cent off
        ("10 °C", "10 °F"),
        ("-10 °C", "10 °C"),
        ("20 °C", "70 °F"),
        ("2 mW", "2 MW"),
        ("5 %", "0.5"),
        ("5 %", "0.05 km"),
        ("100 km", "100 miles"),
        ("1 week", "6 days"),
        ("1.2.3 km", "5 m"),
        ("1 inch", "2.5 cm"),  # 2.54: 1.6 per cent off
    ],
)
def test_other_quantity_is_another_number(left: str, right: str) -> None:
    assert not match(left, right)


@pytest.mark.parametrize(
    ("language", "left", "right"),
    [
        ("german", "0,5 Kilometer", "500 Meter"),
        ("german", "20 Grad Celsius", "68 °F"),
        ("german", "5 Prozent", "0,05"),
        ("german", "2 Stunden", "120 Minuten"),
        ("german", "90 Kilometer pro Stunde", "25 m/s"),
        ("spanish", "0,5 kilómetros", "500 metros"),
        ("spanish", "3 metros cuadrados", "3 m²"),
        ("french", "0,5 kilomètre", "500 mètres"),
        ("french", "20 degrés Celsius", "68 °F"),
        ("french", "2 heures", "120 minutes"),
    ],
)
def test_units_of_other_languages_are_read(language: str, left: str, right: str) -> None:
    assert match(left, right, language)


@pytest.mark.parametrize("text", ["in", "a", "apples", "US", "pm", "km km", "m/s/s", "°C/h", "dB", "an", "kg2"])
def test_unit_of_what_is_none_is_none(text: str) -> None:
    assert unit_of(text) is None


def test_names_ignore_case_and_symbols_do_not_where_it_matters() -> None:
    assert unit_of("Kilometers") == unit_of("km") == unit_of("KM") == Unit("length", 1000.0)
    assert unit_of("mW") != unit_of("MW")
    assert unit_of("Mb") is None  # megabit or megabyte: nobody can say
    assert unit_of("kB") == Unit("data", 8000.0)


@given(
    st.floats(0.001, 1e6), st.floats(0.001, 1e6), st.sampled_from(["m", "km", "mi", "ft"]), st.sampled_from(["m", "mi"])
)
def test_same_is_symmetric_and_holds_of_itself(a: float, b: float, first: str, second: str) -> None:
    one, other = (quantity(f"{value:.3f}", unit, negative=False) for value, unit in ((a, U[first]), (b, U[second])))
    assert isinstance(one, Quantity)
    assert isinstance(other, Quantity)
    assert same(one, one)
    assert same(one, other) == same(other, one)


U = {name: unit for name in ("m", "km", "mi", "ft") if (unit := unit_of(name)) is not None}


def test_reference_features_of_a_converted_answer_have_no_conflict() -> None:
    right = of_reference("The bridge is 0.5 km long.", "500 m", "How long is it?")
    wrong = of_reference("The bridge is 0.5 m long.", "500 m", "How long is it?")
    named = ("number_conflict", "number_recall", "more_precise")
    assert [right[name] for name in named] == [0.0, 1.0, 0.0]
    assert [wrong[name] for name in named] == [1.0, 0.0, pytest.approx(np.log(2))]


def test_context_features_of_a_converted_answer_have_no_unsupported_number() -> None:
    contexts = "The sensor works up to 68 °F."
    assert of_contexts("It works up to 20 °C.", contexts)["numbers_unsupported"] == 0.0
    assert of_contexts("It works up to 25 °C.", contexts)["numbers_unsupported"] == 1.0
    assert of_contexts("It works up to 68 °C.", contexts)["numbers_unsupported"] == 1.0


def test_reasons_say_that_a_converted_figure_is_there() -> None:
    item = Item("1", "q", {"query": "How long is the bridge?", "answer": "It is 0.5 km long.", "reference": "500 m"})
    model = EvidenceModel.fit([item])
    (packed,) = model.observe([item])[1]
    assert b'the only number of the reference, "500", occurs' in packed
