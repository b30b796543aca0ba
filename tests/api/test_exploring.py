import pytest
from applying import asking
from building import DATASET, column, people_policy

from policy_engine.api.drawing_exploration import trade_off_chart, trade_off_lines
from policy_engine.api.exploration import Outcome, Run
from policy_engine.api.exploration_wording import subject_words
from policy_engine.api.exploring import combine_settings, explore, explore_policy
from policy_engine.audits.reports.charts import canvas
from policy_engine.data.catalog import make_catalog
from policy_engine.engines.local import LocalEngine
from policy_engine.errors import DataError, OutputError, PlanError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.plan.making import make_plan
from policy_engine.plan.varying import change_parameters
from policy_engine.policy import read_policy


@pytest.fixture
def plan(people):
    return make_plan(read_policy(people_policy()), make_catalog({DATASET: people / "people.csv"}))


def outcome(loss):
    return Outcome(
        classes=1,
        average_class_ratio=1,
        global_certainty_penalty=loss,
        discernability=1,
        suppressed=0,
        measurements=(),
        seconds=0,
    )


def test_settings_are_all_combinations():
    found = combine_settings({"k": (2, 5), "l": (2, 3), "t": ()})
    assert found == ({"k": 2, "l": 2}, {"k": 2, "l": 3}, {"k": 5, "l": 2}, {"k": 5, "l": 3})


def test_each_setting_is_measured(plan):
    two, three, six = explore(plan, LocalEngine(), combine_settings({"k": (2, 3, 6)}))
    assert [one.outcome.classes for one in (two, three, six)] == [3, 2, 1]
    assert six.outcome.global_certainty_penalty == 1
    assert {m.bound: m.achieved for m in six.outcome.measurements} == {"k": 6, "l": 2}
    assert six.outcome.discernability == 36
    assert six.setting == {"k": 6}


def test_a_setting_that_the_table_cannot_hold_says_why(plan):
    good, many, diverse = explore(plan, LocalEngine(), [{"k": 2}, {"k": 7}, {"k": 4, "l": 3}])
    assert isinstance(good.outcome, Outcome)
    assert many.outcome == NotApplicable(reason="The table has 6 rows, fewer than k, which is 7.")
    assert isinstance(diverse.outcome, NotApplicable)
    assert "l" in diverse.outcome.reason


def test_a_setting_that_no_policy_could_ask_for_says_why(plan):
    [run] = explore(plan, LocalEngine(), [{"k": 2, "l": 3}])
    assert "l is 3, above k, which is 2" in run.outcome.reason


def test_a_parameter_that_no_model_has_is_an_error(plan):
    with pytest.raises(PlanError, match="M004 'l-diversity' has no parameter 't'"):
        explore(plan, LocalEngine(), [{"k": 2, "t": 0.2}])


def test_nothing_but_the_parameters_changes(plan):
    step = plan.anonymize
    assert change_parameters(step, {"k": 5, "l": 2}).methods["l-diversity"].k == 5
    assert change_parameters(step, {"k": 5}).columns == step.columns
    assert change_parameters(step, {}) == step


def test_progress_is_told_by_setting(plan):
    told = []
    explore(plan, LocalEngine(), [{"k": 2}, {"k": 3}], lambda *what: told.append(what))
    assert told == [("exploring", 0, 2), ("exploring", 1, 2)]


def test_a_run_comes_back_from_its_json(plan):
    runs = explore(plan, LocalEngine(), [{"k": 2}, {"k": 7}])
    assert [Run.model_validate_json(run.model_dump_json()) for run in runs] == list(runs)


@pytest.mark.parametrize("ks", [(2,), (2, 3)])
def test_what_no_setting_has_to_do_with_is_told_once(people, ks):
    (people / "t.csv").write_text("Rome;Italy;*\nOslo;Norway;*\n")
    city = column("city", generalization="taxonomy", taxonomy="t.csv")
    asked = asking(method="k-anonymity", k=2, quasi=[city])
    given = {DATASET: people / "people.csv"}, {"k": ks}
    with pytest.raises(DataError, match="R007 The taxonomy of 'city' lacks 1 of its values"):
        explore_policy(asked, *given, taxonomies={"t.csv": people / "t.csv"})


RUNS = (
    Run(setting={"k": 5, "l": 2}, outcome=outcome(0.3)),
    Run(setting={"k": 2, "l": 2}, outcome=outcome(0.1)),
    Run(setting={"k": 5, "l": 3}, outcome=outcome(0.4)),
    Run(setting={"k": 9, "l": 3}, outcome=NotApplicable(reason="too much")),
)


def test_the_loss_is_drawn_against_k_for_each_setting_of_the_rest():
    assert trade_off_lines(RUNS) == {"l = 2": ((2, 0.1), (5, 0.3)), "l = 3": ((5, 0.4),)}


def test_the_loss_is_drawn_against_the_first_parameter_without_k():
    assert trade_off_lines([Run(setting={"t": 0.2}, outcome=outcome(0.3))]) == {"": ((0.2, 0.3),)}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "start"), [("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG")])
def test_a_picture_is_written_in_the_format_of_its_ending(tmp_path, name, start):
    trade_off_chart(RUNS, tmp_path / name, "p on d")
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize(("name", "runs"), [("a.gif", RUNS), ("no/a.svg", RUNS), ("a.svg", ())])
def test_a_picture_that_cannot_be_drawn_or_written_is_an_error(tmp_path, name, runs):
    with pytest.raises(OutputError, match="O002"):
        trade_off_chart(runs, tmp_path / name, "p on d")


def test_a_picture_needs_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setattr(canvas, "find_spec", lambda _: None)
    with pytest.raises(DataError, match="C011"):
        trade_off_chart(RUNS, tmp_path / "a.svg", "p on d")


@pytest.mark.parametrize(
    ("policy", "places", "words"),
    [
        ("a/p.yaml", ["data/people.csv"], "p.yaml on people.csv"),
        ("-", ["a.csv", "b.csv"], "a policy on a.csv, b.csv"),
        ("p.yaml", ["-"], "p.yaml on standard input"),
        ("p.yaml", [], "p.yaml"),
        ("p.yaml", ["postgresql://ann:secret@host/base#people"], "p.yaml on base#people"),
        ("p.yaml", ["https://host/people.csv?sig=secret"], "p.yaml on people.csv"),
    ],
)
def test_a_picture_is_named_by_its_policy_and_data_and_by_no_password(policy, places, words):
    assert subject_words(policy, places) == words
