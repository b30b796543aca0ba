"""A search that its time limit ends: what is released holds, and the certificate says so."""

import numpy as np
import pyarrow as pa
import pytest
from applying import applied, asking
from building import DATASET, column

from policy_engine import apply_policy
from policy_engine.api.certifying import certify_output
from policy_engine.api.exploring import explore_policy
from policy_engine.certificate.certificate import read_certificate
from policy_engine.engines import engine as engines
from policy_engine.errors import DataError, PlanError
from policy_engine.kernels import mondrian

RANDOM = np.random.default_rng(3)
TABLE = {name: RANDOM.integers(0, 9, 60).tolist() for name in ("x", "y", "z")}
ASKED = {"method": "k-anonymity", "k": 3, "quasi": ["x", "y", "z"]}
SEARCHES = {
    "mondrian": ({}, "partitioning"),
    "a grid": ({"dimensionality": "single"}, "partitioning"),
    "full-domain": ({"algorithm": "full-domain"}, "searching the lattice"),
}


def let_be_over(monkeypatch, looks):
    """Let the time be over once it was looked at so many times."""
    left = [looks]

    def is_over():
        left[0] -= 1
        return left[0] < 0

    chosen = "policy_engine.engines.local.deadline"
    monkeypatch.setattr(chosen, lambda seconds: is_over if seconds else None)


@pytest.fixture(params=[0, 2])
def early(request, monkeypatch):
    """Let the time be over after some looks, one for each node that is cut."""
    monkeypatch.setattr(mondrian, "_BUDGET", 1)
    let_be_over(monkeypatch, request.param)


def limited(**more):
    """Return the release of the table under a limit that never is over by itself."""
    return apply_policy(asking(**ASKED, **more), {DATASET: table()}, time_limit=1e6)


def table():
    return pa.table(TABLE)


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_is_ended_holds_every_bound_and_says_what_was_left(name):
    options, stage = SEARCHES[name]
    made = limited(**options).certificate
    assert made.holds
    assert made.ended.seconds == 1e6
    assert made.ended.left > 0
    assert made.ended.stage == stage
    whole = applied(table(), **ASKED, **options).certificate
    assert made.utility.classes <= whole.utility.classes
    assert read_certificate(made.to_jsonld()) == made


def test_polishing_that_is_ended_leaves_the_classes_as_they_were(monkeypatch):
    let_be_over(monkeypatch, 1)
    found, whole = limited(polish=True), applied(table(), **ASKED)
    assert found.certificate.ended.stage == "polishing"
    assert found.certificate.ended.left == found.certificate.utility.classes
    assert found.certificate.utility == whole.certificate.utility


@pytest.mark.parametrize("name", [*SEARCHES, "polish"])
def test_a_search_that_is_done_in_time_is_the_same_and_says_nothing(name):
    options, _ = SEARCHES.get(name, ({"polish": True}, ""))
    found, whole = limited(**options), applied(table(), **ASKED, **options)
    assert found.certificate.ended is None
    assert found.release.output.digest == whole.release.output.digest


@pytest.mark.usefixtures("early")
def test_what_is_left_is_said_in_words():
    words = str(limited().certificate.ended)
    assert words.startswith("partitioning ended after 1e+06 s, ")
    assert words.endswith(" parts that could perhaps be cut further")


@pytest.mark.usefixtures("early")
def test_a_bound_that_union_breaks_holds_where_there_is_no_time():
    values = RANDOM.integers(0, 2, 60).tolist()
    parts = {"method": "delta-disclosure", "k": 3, "delta": 2, "sensitive": ["ill"]}
    asked = asking(**{**ASKED, **parts, "partitioning": "relaxed"})
    made = apply_policy(asked, {DATASET: table().append_column("ill", [values])}, time_limit=1e6)
    assert made.certificate.holds


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan"), float("inf")])
def test_a_limit_is_some_time(seconds):
    with pytest.raises(PlanError, match="M003 A time limit is not allowed to be"):
        apply_policy(asking(**ASKED), {DATASET: table()}, time_limit=seconds)


def test_the_spark_engine_has_no_limit():
    for call in (apply_policy, lambda *given, **how: explore_policy(*given, {"k": (3,)}, **how)):
        with pytest.raises(PlanError, match="M009 The spark engine has no time limit"):
            call(asking(**ASKED), {DATASET: table()}, engine="spark", time_limit=1)


@pytest.mark.usefixtures("early")
def test_what_is_explored_says_that_its_search_was_ended():
    [run] = explore_policy(asking(**ASKED), {DATASET: table()}, {"k": (3,)}, time_limit=1e6)
    assert run.outcome.ended.stage == "partitioning"


@pytest.mark.usefixtures("early")
def test_persons_of_a_release_whose_search_was_ended_are_not_counted_again(tmp_path):
    text = asking(**ASKED, privacyUnit="who")
    data = {DATASET: table().append_column("who", [list(range(60))])}
    apply_policy(text, data, tmp_path / "out", time_limit=1e6)
    with pytest.raises(DataError, match="V006 A time limit ended the search for this release"):
        certify_output(tmp_path / "out", text, data=data)


@pytest.mark.usefixtures("early")
def test_a_search_that_is_ended_does_not_tell_which_rows_it_suppressed_again(tmp_path):
    pay = column("pay", masking="rounding", base=10)
    asked = ASKED | {"algorithm": "full-domain", "maxSuppression": 0.5, "masked": [pay]}
    data = {DATASET: table().append_column("pay", pa.array(range(60)))}
    output = tmp_path / "out" / "a.csv"
    made = apply_policy(asking(**asked), data, output, time_limit=1e6).certificate
    assert made.ended
    with pytest.raises(DataError, match="V006 A time limit ended the search for this release"):
        certify_output(output, asking(**asked), data)


@pytest.mark.usefixtures("early")
def test_a_certificate_measured_again_still_says_that_the_search_was_ended(tmp_path):
    made = apply_policy(asking(**ASKED), {DATASET: table()}, tmp_path / "out", time_limit=1e6)
    assert certify_output(tmp_path / "out", asking(**ASKED)).ended == made.certificate.ended


def test_the_clock_is_looked_at(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(engines.time, "monotonic", lambda: now[0])
    is_over = engines.deadline(2.5)
    assert not is_over()
    now[0] = 102.5
    assert is_over()
    assert engines.deadline(None) is None
