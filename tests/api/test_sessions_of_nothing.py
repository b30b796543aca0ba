"""Sessions about a column in which many have nothing: these hide nobody behind them.

The first few and the many are `x` by the first key; the many and those who have nothing are `x` by
the second one. So the two `x` differ by the few, and by persons of whom everybody knows that they
add nothing.
"""

from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest

from policy_engine import output_session

PARTS = {"few": ("x", "y", "y"), "many": ("x", "x", "y"), "more": ("x", "y", "x")}
PARTS |= {"idle": ("y", "x", "y"), "lazy": ("y", "y", "x"), "others": ("y", "y", "y")}


def persons(few=1, more=0, lazy=0):
    """Return persons in these parts, some of whom have nothing."""
    sizes = [few, 24, more, 15, lazy, 20]
    part = np.repeat([*PARTS], sizes)
    frame = pd.DataFrame([PARTS[one] for one in part], columns=["one", "two", "three"])
    frame["person"] = range(len(frame))
    random, has_none = np.random.default_rng(1), np.isin(part, ["idle", "lazy"])
    frame["pay"] = np.where(has_none, 0.0, random.lognormal(5, 0.2, len(frame)).round(2))
    frame["wage"] = frame.pay.where(frame.pay > 0)
    frame["ill"] = np.where(has_none, 0, np.arange(len(frame)) % 2)
    return frame


@pytest.fixture
def begin(tmp_path):
    with ExitStack() as stack:

        def begun(data, name="folder", profile="sacro", **options):
            own = {"profile": profile, "unit": "person", **options}
            session = output_session(None, tmp_path / name, data=data, **own)
            return stack.enter_context(session)

        yield begun


def shown(output):
    """Return what is shown of `x`, empty where nothing is."""
    if output.status != "released":
        return []
    return pd.DataFrame(output.to_pandas()).loc["x"].dropna().tolist()


def asked(session, *steps):
    """Return what is shown of `x` by each key, column and aggregates."""
    return [shown(session.groupby(key)[column].agg(how)) for key, column, how in steps]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("profile", ["sacro", "dwb-2015"])
@pytest.mark.parametrize("few", [1, 9])
@pytest.mark.parametrize(
    ("first", "second"),
    [(["mean", "std"], ["std"]), (["sum"], ["sum"]), (["mean"], ["mean"]), (["std"], ["std"])],
)
def test_two_figures_do_not_tell_of_few_beside_those_who_have_nothing(
    begin, first, second, few, profile
):
    steps = ("one", "pay", first), ("two", "pay", second)
    before, after = asked(begin(persons(few), profile=profile), *steps)
    assert len(before) == len(first)
    assert after == []
    assert all(asked(begin(persons(few), "alone", profile=profile), steps[1]))


@pytest.mark.parametrize("few", [9, 10])
def test_difference_of_enough_persons_is_told(begin, few):
    steps = ("one", "pay", ["sum"]), ("two", "pay", ["sum"])
    assert [len(one) for one in asked(begin(persons(few)), *steps)] == [1, few == 10]


@pytest.mark.parametrize("few", [1, 9])
def test_filtered_frames_do_not_tell_of_few_either(begin, few):
    data = persons(few)
    session = begin(data)
    parts = data[data.pay > 0], data[few:]
    first, second = (session.groupby("three", data=one)["pay"].agg(["std"]) for one in parts)
    assert (first.status, second.status) == ("released", "suppressed")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("few", [1, 9])
@pytest.mark.parametrize("columns", [("wage", "pay"), ("pay", "wage"), ("wage", "wage")])
def test_missing_values_filled_with_nothing_hide_nobody(begin, columns, few):
    first, second = asked(
        begin(persons(few)), ("one", columns[0], ["sum"]), ("two", columns[1], ["sum"])
    )
    assert len(first) == 1
    assert second == []


@pytest.mark.one_in(2)
@pytest.mark.parametrize("codes", [(0, 1), (1, 0), (2, 1)])
@pytest.mark.parametrize("how", ["mean", "sum"])
def test_whether_a_yes_or_no_is_told_depends_on_nobodys_own(begin, how, codes):
    """Those who have nothing can have no illness, whatever the codes of yes and no."""
    steps = [(key, "ill", [how]) for key in ("one", "two")]
    for ill in (0, 1):
        data = persons()
        data.loc[0, "ill"] = ill
        data["ill"] = np.array(codes)[data.ill]
        assert [len(one) for one in asked(begin(data, f"{ill}"), *steps)] == [1, 0]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("few", [1, 9])
@pytest.mark.parametrize(("first", "second"), [("sum", "sum"), (["mean", "std"], "std")])
def test_figures_of_two_sessions_do_not_tell_of_few(begin, tmp_path, first, second, few):
    outputs = []
    for key, how in (("one", first), ("two", second)):
        session = begin(persons(few), key, ledger=tmp_path / "ledger")
        session.groupby(key)["pay"].agg(how)
        files = session.finalise() / "outputs"
        frames = [pd.read_csv(one).dropna() for one in files.glob("*.csv")]
        outputs.append([key for one in frames for key in one.iloc[:, 0]])
    assert outputs == [["x", "y"], []]


def test_rows_of_which_a_person_has_as_much_on_both_sides_hide_nobody(begin):
    """Each of forty persons has the same in both waves, but four, who lack the second one."""
    rows = [(one, wave, 100.0 + one) for one in range(40) for wave in (1, 2)]
    data = pd.DataFrame(rows, columns=["person", "wave", "pay"]).assign(all="x")
    session = begin(data)
    is_few, is_even = data.person < 4, data.person % 2 == 0
    parts = data[data.wave == 1], data[~is_few & ((data.wave == 1) ^ is_even)]
    first, second = (session.groupby("all", data=one)["pay"].sum() for one in parts)
    assert (first.status, second.status) == ("released", "suppressed")


KEYS = ("one", "two", "three")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("base", [0, 100])
@pytest.mark.parametrize("how", ["sum", "mean"])
@pytest.mark.parametrize(("few", "count"), [(1, 0), (9, 0), (10, 1)])
def test_three_figures_do_not_tell_of_few_beside_those_who_have_nothing(
    begin, how, few, count, base
):
    """The first total less the others is that of the few, and of nobody else who has more than
    what all know that they have."""
    data = persons(few, more=20, lazy=12).drop(columns="wage").eval(f"pay = pay + {base}")
    steps = [(key, "pay", [how]) for key in KEYS]
    assert [len(one) for one in asked(begin(data), *steps)] == [1, 1, count]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("codes", [(0, 1), (1, 0), (2, 1)])
def test_whether_three_figures_of_yes_or_no_are_told_depends_on_nobodys_own(begin, codes):
    steps = [(key, "ill", ["mean"]) for key in KEYS]
    for ill in (0, 1):
        data = persons(1, more=20, lazy=12)
        data.loc[0, "ill"] = ill
        data["ill"] = np.array(codes)[data.ill]
        assert [len(one) for one in asked(begin(data, f"{ill}"), *steps)] == [1, 0, 0]


def test_three_figures_do_not_tell_of_one_beside_parts_that_all_have_a_value_each(begin):
    data = persons(1, more=20, lazy=40).drop(columns="wage")
    data.loc[(data.one == "y") & (data.three == "x"), "pay"] = 150.0
    steps = [(key, "pay", ["sum"]) for key in KEYS]
    assert [len(one) for one in asked(begin(data), *steps)] == [1, 1, 0]


def test_three_sessions_do_not_tell_of_few_either(begin, tmp_path):
    counts = []
    for key in KEYS:
        session = begin(persons(1, more=20, lazy=12), key, ledger=tmp_path / "ledger")
        session.groupby(key)["pay"].sum()
        files = session.finalise() / "outputs"
        counts.append(sum(len(pd.read_csv(one).dropna()) for one in files.glob("*.csv")))
    assert counts[:2] == [2, 2]
    assert counts[2] < 2


def test_figures_do_not_tell_together_that_all_of_some_have_nothing(begin):
    data = persons(12)
    session = begin(data)
    first = session.groupby("one", data=data[data.pay > 0])["pay"].mean()
    assert (first.status, session.groupby("two")["pay"].mean().status) == ("released", "suppressed")
    assert begin(data, "alone").groupby("two")["pay"].mean().status == "released"
