from decimal import Decimal

import pytest
from pydantic import ValidationError

from policy_engine import terms
from policy_engine.methods import describe_allowed, parameters
from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.masking import ColumnMasking, is_known, masking_class, number, settings


@pytest.mark.parametrize("notation", terms.maskings())
def test_a_masking_is_found_by_its_notation(notation):
    kind = masking_class(notation)
    assert issubclass(kind, ColumnMasking)
    assert kind.notation == notation == kind.model_fields["masking"].default
    assert kind.step == "mask"


def test_what_is_said_of_a_masked_column_are_the_parameters_of_all_maskings():
    found = {name: describe_allowed(field) for name, field in parameters(settings()).items()}
    own = {name for one in terms.maskings() for name in parameters(masking_class(one))}
    assert set(found) == own
    assert all(repr(one) in found["masking"] for one in terms.maskings())
    assert (found["base"], found["threshold"]) == (
        "a number from 0.0001 to 1000000000000",
        "a number from -1000000000000 to 1000000000000",
    )
    assert is_known("rounding")
    assert not is_known("mean")
    assert not is_known(None)


def test_a_parameter_is_exactly_what_its_text_says():
    assert str(number(0.1)) == "0.1"
    assert (number(1000.0), type(number(1000.0))) == (1000, int)


@pytest.mark.parametrize("base", [0, -1, 1e13, float("inf"), float("nan"), True, "10"])
def test_a_base_that_is_none_is_refused(base):
    with pytest.raises(ValidationError):
        masking_class("rounding")(name="pay", base=base)


@pytest.mark.parametrize("digits", ["0.1234567890123456", "99999999.9999999999", "1e-1000"])
def test_a_parameter_of_more_digits_than_a_float_keeps_is_refused(digits):
    for number_ in (Decimal(digits), float("0.1234567890123456")):
        with pytest.raises(ValidationError):
            masking_class("rounding")(name="pay", base=number_)
    assert masking_class("rounding")(name="pay", base=0.123456789012345).base == 0.123456789012345


def test_a_masking_says_what_it_does_to_which_column():
    one = masking_class("top-coding")(name="pay", threshold=1000)
    assert str(one) == "pay (top-coding, threshold 1000)"
    assert one.bound == ("top-coding", "pay", 0, "at most")


@pytest.mark.parametrize(
    ("base", "told"),
    [(1250000, "1250000"), (0.0001, "0.0001"), (1e12, "1000000000000"), (2.5, "2.5")],
)
def test_a_parameter_is_told_exactly(base, told):
    assert masking_class("rounding")(name="pay", base=base).how == f"rounding, base {told}"


@pytest.mark.parametrize(
    ("notation", "name", "given", "hint"),
    [
        ("rank-swapping", "p", 5, "It is a share: 5% is 0.05."),
        ("pram", "keep", 80.5, "It is a share: 80.5% is 0.805."),
        ("rank-swapping", "p", 1, "Allowed is a number above 0 and below 1."),
        ("rank-swapping", "p", -5, "Allowed is a number above 0 and below 1."),
        ("rank-swapping", "p", True, "Allowed is a number above 0 and below 1."),
        ("rounding", "base", 0, "Allowed is a number from 0.0001 to 1000000000000."),
    ],
)
def test_a_percentage_where_a_share_is_asked_for_is_told(notation, name, given, hint):
    values = {"name": "pay", "masking": notation, name: given}
    [found] = parameter_findings(masking_class(notation), values, notation)
    assert (found.code, found.parameter) == ("M003", name)
    assert found.message.endswith(hint)


@pytest.mark.parametrize(
    ("notation", "settings", "is_public", "has_rule", "is_of_categories"),
    [
        ("rounding", {"base": 5.0}, True, True, False),
        ("top-coding", {"threshold": 90.0}, True, True, False),
        ("top-coding", {"threshold": 90.0, "replacement": "label"}, True, False, False),
        ("top-coding", {"threshold": 90.0, "replacement": "mean"}, False, False, False),
        ("top-coding", {"tail": 3}, False, False, False),
        ("recoding", {"taxonomy": "places", "level": 1}, True, False, True),
        ("pram", {"keep": 0.8}, False, False, True),
        ("shuffling", {"given": ("y",)}, False, False, False),
        ("pixelation", {"blockSize": 4}, True, False, False),
    ],
)
def test_a_masking_tells_what_its_values_depend_on(
    notation, settings, is_public, has_rule, is_of_categories
):
    masking = masking_class(notation)(name="x", masking=notation, **settings)
    assert masking.is_public == is_public
    assert (masking.public_rule is not None) == has_rule
    assert masking.is_of_categories == is_of_categories
