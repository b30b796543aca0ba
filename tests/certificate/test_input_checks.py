"""What an output is asked of the data that it is said to be of, and what is told of the answers."""

from types import SimpleNamespace

import pytest
from applying import asking
from building import column
from certifying import certified, sha256

from policy_engine.certificate.input_checks import (
    check_kept_values,
    check_masked_sample,
    check_row_number,
    check_same_sample,
    check_sampled,
)
from policy_engine.engines.engine import StoredData, WrittenTable
from policy_engine.engines.samples import SampleFigures
from policy_engine.errors import CertificateError, DataError
from policy_engine.policy import read_policy
from policy_engine.release.release import Release

CLASSES = {"method": "k-anonymity", "k": 2, "quasi": ["age", "zip"], "insensitive": ["id", "job"]}
LOCAL = {**CLASSES, "algorithm": "local-suppression"}
BUCKETS = {**CLASSES, "method": "l-diversity", "l": 2, "sensitive": ["ill"]}
BUCKETS |= {"algorithm": "bucketization", "buckets": "distinct-l"}
TOP = column("pay", masking="top-coding", threshold=60, replacement="label")
NOISE = column("cap", masking="noise", sdShare=1)
ROUNDED = column("tax", masking="rounding", base=10)
MASKED = {"method": "masking", "insensitive": ["id"], "masked": [TOP, NOISE, ROUNDED]}
SAMPLED = {**CLASSES, "sampleSize": 4, "stratifiedBy": ["job"], "weightColumn": "w"}


class Engine:
    """Answers all that is asked of an output as it is told to, and notes what that was."""

    def __init__(self, **answers):
        self.answers, self.asked = answers, []

    def other_types(self, _written, table, names, labelled):
        self.asked.append((table, names, labelled))
        return self.answers.get("types", {})

    def strange_rows(self, _written, table, names, present):
        self.asked.append((table, names, present))
        return self.answers.get("strange", {}).get((*names, present), 0)

    def compare_sampled(self, written, plan, table):
        self.asked.append((written, plan, table))
        return self.answers["sampled"]

    def look_at_masked(self, table, step, written, unmasked):
        self.asked.append((table, [one.name for one in step.columns], written, unmasked))
        return self.answers["masked"]()


def release_of(parts):
    plan = certified(read_policy(asking(**parts))).plan
    return Release(plan=plan, output=StoredData("a.csv", sha256("a")))


def told(check, *given):
    """Return the codes, messages and hints of what is refused, with its source."""
    with pytest.raises(CertificateError) as caught:
        check(*given)
    assert caught.value.source == "a.csv"
    return [(one.code, one.message, one.hint) for one in caught.value.problems]


# -- numbers of rows ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "rows", "is_possible"),
    [
        (0, 1000, True),
        (0, 1001, False),
        (0, 999, False),
        (0.01, 990, True),
        (0.01, 989, False),
        (0.01, 1001, False),
    ],
)
def test_an_output_has_the_rows_of_its_data_but_for_those_suppressed(share, rows, is_possible):
    release = release_of({**CLASSES, "algorithm": "full-domain", "maxSuppression": share})
    if is_possible:
        check_row_number(release, 1000, rows)
        return
    message = f"The output has {rows:,} rows, and the data 1,000, of which {int(share * 1000)} may"
    found = told(check_row_number, release, 1000, rows)
    assert found == [("V003", f"{message} be suppressed.", "")]


# -- samples --------------------------------------------------------------------------------------


def compared(rows=(), wrong=0, false=()):
    """Return what an engine finds of an output that may be a sample."""
    return SimpleNamespace(
        row_problems=lambda: iter(rows),
        wrong_weights=lambda: wrong,
        false_figures=lambda sample: [f"{one} {sample.units}." for one in false],
    )


def test_an_output_that_is_its_sample_is_not_refused():
    release, engine = release_of(SAMPLED), Engine(sampled=compared())
    check_sampled(release, engine, "table", None)
    [(written, plan, table)] = engine.asked
    assert (written.stored, plan, table) == (release.output, release.plan, "table")


def test_other_rows_and_weights_are_told_before_what_the_certificate_says():
    release, sample = release_of(SAMPLED), SampleFigures(units="rows")
    earlier = SimpleNamespace(sample=sample)
    rows = ("V003", "It has 5 rows.", "")
    weights = ("V001", "2 rows of 'w' cannot have the weight of their stratum.", "")
    false = ("V005", "The certificate is not that of this sample. Its rows.", "")
    for parts, expected in (
        ({"rows": ["It has 5 rows."]}, [rows]),
        ({"wrong": 2}, [weights]),
        ({"rows": ["It has 5 rows."], "wrong": 2}, [rows, weights]),
        ({}, [false]),
    ):
        engine = Engine(sampled=compared(**parts, false=["Its"]))
        assert told(check_sampled, release, engine, None, earlier) == expected
    engine = Engine(sampled=compared(false=["Its"]))
    check_sampled(release, engine, None, None)
    check_sampled(release, engine, None, SimpleNamespace(sample=None))


def test_one_row_of_another_weight_is_told_as_one():
    release, engine = release_of(SAMPLED), Engine(sampled=compared(wrong=1))
    message = "1 row of 'w' cannot have the weight of their stratum."
    assert told(check_sampled, release, engine, None, None) == [("V001", message, "")]


def test_a_sample_made_again_is_that_of_the_certificate():
    one, other = (SimpleNamespace(sample=SampleFigures(units="rows", rows=n)) for n in (4, 5))
    none = SimpleNamespace(sample=None)
    for earlier, again in ((one, one), (none, one), (none, none)):
        check_same_sample(earlier, again, "a.csv")
    figures = "Made again, it has other figures: units rows, sampled None, rows 5, share None"
    begin = "The certificate is not that of this sample."
    found = told(check_same_sample, one, other, "a.csv")
    assert found == [("V005", f"{begin} {figures}, strata None.", "")]
    found = told(check_same_sample, one, none, "a.csv")
    assert found == [("V005", f"{begin} Made again, it has other figures: none.", "")]


# -- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "types", "asked"),
    [
        (CLASSES, (("id", "job"), ()), [(("id", "job"), "")]),
        (
            LOCAL,
            (("id", "job"), ()),
            [(("id", "job"), ""), (("id", "job"), "age"), (("id", "job"), "zip")],
        ),
        (
            BUCKETS,
            (("id", "job", "age", "zip", "ill"), ()),
            [(("id", "job", "age", "zip"), ""), (("ill",), "")],
        ),
        (MASKED, (("id", "pay", "cap", "tax"), ("pay",)), [(("id",), "")]),
    ],
    ids=["classes", "cells", "buckets", "masked"],
)
def test_values_that_belong_together_are_asked_for_together(parts, types, asked):
    engine = Engine()
    check_kept_values(release_of(parts), engine, "table")
    assert engine.asked == [("table", *one) for one in (types, *asked)]


def test_without_columns_that_are_kept_no_rows_are_asked_for():
    engine = Engine()
    check_kept_values(release_of({"method": "k-anonymity", "k": 2, "quasi": ["age"]}), engine, None)
    assert engine.asked == [(None, (), ())]


def test_rows_that_the_data_do_not_have_so_often_are_told_with_their_columns():
    found = Engine(strange={("id", "job", ""): 1, ("id", "job", "zip"): 3})
    end = "that the data do not have so often."
    assert told(check_kept_values, release_of(LOCAL), found, None) == [
        ("V002", f"1 row of the output has values of 'id' and 'job' {end}", ""),
        ("V002", f"3 rows of the output have values of 'id', 'job' and 'zip' {end}", ""),
    ]


def test_columns_of_another_type_are_told():
    found = Engine(types={"id": "int64"}, strange={("id", "job", ""): 2})
    message = "The column 'id' of the output is of the type int64, which is not that of the data."
    types, rows = told(check_kept_values, release_of(CLASSES), found, None)
    assert types == ("V002", message, "Keep the types that apply writes.")
    assert rows[0] == "V002"


# -- masked cells of a sample ---------------------------------------------------------------------


def evidence(**misplaced):
    singles = {name: SimpleNamespace(misplaced=count) for name, count in misplaced.items()}
    return lambda: SimpleNamespace(singles=singles)


def test_cells_that_no_sampled_row_can_have_are_told():
    release, engine = release_of(MASKED), Engine(masked=evidence(pay=0, tax=0))
    check_masked_sample(release, engine, "table")
    [(table, masked, written, unmasked)] = engine.asked
    assert (table, masked, unmasked) == ("table", ["pay", "tax"], ("id",))
    assert written == WrittenTable(release.output)
    end = "cannot be what the masking makes of a row of the data that was sampled."
    engine = Engine(masked=evidence(pay=2, tax=1))
    assert told(check_masked_sample, release, engine, None) == [
        ("V001", f"2 cells of 'pay' {end}", ""),
        ("V001", f"1 cell of 'tax' {end}", ""),
    ]


@pytest.mark.parametrize(
    "parts",
    [CLASSES, {**MASKED, "masked": [NOISE]}, {**BUCKETS, "masked": [ROUNDED]}],
    ids=["none", "noise", "buckets"],
)
def test_what_is_not_made_of_single_values_is_not_compared(parts):
    engine = Engine()
    check_masked_sample(release_of(parts), engine, None)
    assert engine.asked == []


def test_maskings_that_do_not_take_the_values_of_all_rows_are_not_compared():
    def refuse():
        raise DataError.of("R013", "A value is not a number.")

    check_masked_sample(release_of(MASKED), Engine(masked=refuse), None)
