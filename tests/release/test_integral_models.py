"""Policies that release a tree only if several samples of the records lead to it."""

import shutil

import pytest
from building import DATASET, OUTPUT, policy
from modelled import anonymised, file_names, people_table, train, use

from policy_engine import apply_policy
from policy_engine.api.certifying import certify_output
from policy_engine.api.planning import plan_policy
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.shortcomings import proven, shortcomings
from policy_engine.errors import CertificateError, DataError, PlanError, PolicyEngineError
from policy_engine.plan.plan import Plan

LEAST = {"leftOperand": "pe:generators", "operator": "gteq", "rightOperand": 4}


def with_generators(rule, part=LEAST):
    action = rule["action"]
    return {**rule, "action": {**action, "refinement": [*action["refinement"], part]}}


def of_generators(part=LEAST, model="DecisionTreeClassifier", **audited):
    rules = [anonymised(), with_generators(train(model), part)]
    return policy([*rules, use(**audited)] if audited else rules)


@pytest.fixture(scope="module")
def released(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("integral") / "out"
    record = folder.parent / "record.json"
    return apply_policy(of_generators(), {DATASET: table}, folder, seed=1, record=record), folder


@pytest.mark.nightly
def test_a_tree_is_released_with_the_number_of_generators_that_was_asked_for(released):
    release, folder = released
    certificate = load_certificate(folder)
    assert (certificate.files.asked.generators, certificate.files.generators) == (4, 4)
    assert "generators at least 4, as far as was searched (at least 4)" in proven(certificate)
    assert certificate == release.certificate
    assert "model/model.skops" in file_names(folder)


@pytest.mark.nightly
def test_the_same_seed_makes_the_same_tree(released, table, tmp_path):
    again = apply_policy(of_generators(), {DATASET: table}, tmp_path / "again", seed=1)
    assert again.certificate.output_digest == released[0].certificate.output_digest


@pytest.mark.nightly
def test_fewer_generators_than_asked_for_are_a_shortcoming(released):
    certificate = released[0].certificate
    files = certificate.files.model_copy(update={"generators": 2})
    [problem] = shortcomings(certificate.model_copy(update={"files": files}))
    assert problem.code == "V011"
    assert problem.message == (
        "generators at least 4 is required, but 2 were found that have no record in common."
    )


def test_a_plan_says_how_many_generators_and_is_read_back(table):
    plan = plan_policy(of_generators(), {DATASET: table})
    assert (plan.train.generators, plan.file_bounds.generators) == (4, 4)
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_a_plan_without_generators_does_not_speak_of_them(table):
    plan = plan_policy(policy([anonymised(), train("DecisionTreeClassifier")]), {DATASET: table})
    assert plan.file_bounds.generators is None
    assert "generators" not in plan.model_dump_json()


@pytest.mark.nightly
def test_an_audit_that_ranks_nobody_shows_nothing_of_a_tree_that_all_samples_lead_to(
    table, tmp_path
):
    with pytest.raises(CertificateError) as caught:
        apply_policy(of_generators(attacks=("loss",)), {DATASET: table}, tmp_path / "out", seed=1)
    assert {one.code for one in caught.value.problems} == {"V007"}
    assert "its score has 2 values" in caught.value.problems[0].message


@pytest.mark.parametrize(
    ("part", "model", "expected"),
    [
        ({**LEAST, "rightOperand": 1}, "GaussianNB", ["M012", "M012"]),
        ({**LEAST, "rightOperand": 2.5}, "DecisionTreeClassifier", ["P007"]),
        ({**LEAST, "rightOperand": "many"}, "DecisionTreeClassifier", ["P007"]),
        ({**LEAST, "operator": "eq"}, "DecisionTreeClassifier", ["M013"]),
        (LEAST, "network", ["M012"]),
    ],
)
def test_generators_that_cannot_be_counted_are_refused(table, part, model, expected):
    with pytest.raises(PolicyEngineError) as caught:
        plan_policy(of_generators(part, model), {DATASET: table})
    assert [one.code for one in caught.value.problems] == expected


def test_the_audit_of_a_table_takes_no_generators(table):
    given = {"label": f"{OUTPUT}/disease", "model": "DecisionTreeClassifier", "generators": 4}
    with pytest.raises(PlanError, match="M013 pe:membershipInference takes no pe:generators"):
        plan_policy(policy([anonymised(), use(OUTPUT, **given)]), {DATASET: table})


@pytest.mark.nightly
def test_a_released_tree_is_certified_again_from_its_data_and_record(released, table):
    release, folder = released
    record = folder.parent / "record.json"
    found = certify_output(folder, of_generators(), {DATASET: table}, record=record)
    assert found.model_copy(update={"time": release.certificate.time}) == release.certificate
    assert found.files.generators == 4


@pytest.mark.nightly
def test_a_tree_is_not_certified_again_without_what_it_takes(released, table):
    folder, data = released[1], {DATASET: table}
    record = folder.parent / "record.json"
    for given in (
        {"data": data},
        {"record": record},
        {"data": data, "record": record, "write": True},
    ):
        with pytest.raises(DataError, match="V006 A model does not show whom it was trained on"):
            certify_output(folder, of_generators(), **given)


@pytest.mark.nightly
def test_other_data_and_forgotten_seeds_certify_no_tree(released, table, tmp_path):
    folder, record = released[1], released[1].parent / "record.json"
    other = people_table(tmp_path / "other.csv", seed=8)
    with pytest.raises(CertificateError, match="V009"):
        certify_output(folder, of_generators(), {DATASET: other}, record=record)
    forgotten = tmp_path / "forgotten.json"
    apply_policy(of_generators(), {DATASET: table}, tmp_path / "out", record=forgotten)
    with pytest.raises(DataError, match=r"V006 The seed .* was drawn and forgotten"):
        certify_output(tmp_path / "out", of_generators(), {DATASET: table}, record=forgotten)


@pytest.mark.nightly
def test_a_changed_tree_is_not_certified(released, table, tmp_path):
    folder = shutil.copytree(released[1], tmp_path / "out")
    (folder / "model" / "encoding.json").write_text("{}")
    record = released[1].parent / "record.json"
    with pytest.raises(CertificateError, match="V004"):
        certify_output(folder, of_generators(), {DATASET: table}, record=record)
