"""Tables whose risk a policy bounds, from the policy to who may read them."""

import pyarrow as pa
import pyarrow.csv
import pytest
from attacked import attacked, bounded, known
from building import DATASET, column

from policy_engine import apply_policy, audit_disclosure, certify_output
from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.page import certificate_html
from policy_engine.cli.tables.certificates import certificate_table
from policy_engine.cli.tables.plans import plan_table
from policy_engine.errors import CertificateError, DataError
from policy_engine.methods.disclosure import Figure

REGISTER = "http://x.org/Register"
ROUNDED = [column("pay", masking="rounding", base=1000)]
MASKED = {"method": "masking", "masked": ROUNDED, "insensitive": ["id", "age"]}
KEY = b"k" * 32

# Classes by age and pay, rounded: {p0, p1}, {p2}, {p3, p4, p5}. Of the register, 4, 2 and 3
# persons could be of them.
PEOPLE = pa.table(
    {
        "id": [f"p{row}" for row in range(6)],
        "age": [30, 30, 40, 50, 50, 50],
        "pay": [900, 1100, 2000, 3000, 3100, 2900],
    }
)
OTHERS = pa.table({"age": [30, 30, 40, 99], "pay": [1000, 1200, 2100, 5000]})
EVERYBODY = pa.concat_tables([PEOPLE.select(["age", "pay"]), OTHERS])
BOTH = known("age", "pay")


def risk(*refinements, **parts):
    return attacked(*refinements, action="pe:populationRisk", **(parts or MASKED))


def at_most(**bounds):
    return [bounded(asked, operand=f"pe:{name}") for name, asked in bounds.items()]


def among(iri=REGISTER):
    return {"leftOperand": "pe:population", "operator": "eq", "rightOperand": {"@id": iri}}


@pytest.fixture
def data(tmp_path):
    pyarrow.csv.write_csv(PEOPLE, tmp_path / "in.csv")
    pyarrow.csv.write_csv(EVERYBODY, tmp_path / "all.csv")
    return {DATASET: tmp_path / "in.csv", REGISTER: tmp_path / "all.csv"}


def figures(release):
    return {one.name: one.reached.value for one in release.certificate.disclosures}


def refusal(policy, data, **options):
    with pytest.raises(CertificateError) as caught:
        apply_policy(policy, data, **options)
    assert {one.code for one in caught.value.problems} == {"V019"}
    return [one.message for one in caught.value.problems]


def test_the_risk_of_records_is_that_of_their_classes():
    policy = risk(*at_most(uniques=0.2, meanRisk=0.6, largestRisk=0.999), BOTH)
    [told] = refusal(policy, {DATASET: PEOPLE})
    assert told == (
        "largestRisk at most 0.999 is required, but prosecutor-largest is 1 by 'age' and 'pay'. "
        "That is 0.001 above the bound."
    )
    within = risk(*at_most(uniques=0.2, meanRisk=0.6), BOTH)
    found = figures(apply_policy(within, {DATASET: PEOPLE}))
    assert found == {"sample-uniques": round(1 / 6, 9), "prosecutor-mean": 0.5}


def test_with_a_population_its_persons_are_counted():
    bounds = at_most(uniques=0, meanRisk=0.4, largestRisk=0.5, presence=0.999)
    [told] = refusal(risk(*bounds, BOTH, among()), {DATASET: PEOPLE, REGISTER: EVERYBODY})
    assert told.startswith("presence at most 0.999 is required, but presence-largest is 1 by ")
    assert f"in {REGISTER}. That is 0.001 above" in told
    made = apply_policy(risk(*bounds[:3], BOTH, among()), {DATASET: PEOPLE, REGISTER: EVERYBODY})
    mean = (2 / 4 + 1 / 2 + 3 / 3) / 6
    assert figures(made) == {
        "counted-uniques": 0.0,
        "marketer": round(mean, 9),
        "journalist-largest": 0.5,
    }


def test_the_figures_are_those_of_the_audit(data):
    policy = risk(*at_most(meanRisk=0.9, largestRisk=0.9), BOTH, among())
    made = apply_policy(policy, data, data[DATASET].parent / "out" / "a.csv")
    audit = audit_disclosure(
        data[DATASET], made.path, known=["age", "pay"], population=data[REGISTER]
    )
    told = {one.measure: one.value for one in audit.risks}
    found = figures(made)
    assert found == {name: told[name] for name in found}


def test_of_a_sample_the_input_is_a_population():
    people = pa.table({"age": [20, 20, 20, 20] * 50, "id": [f"p{row}" for row in range(200)]})
    parts = {"method": "masking", "sampleShare": 0.5, "insensitive": ["age"]}
    parts |= {"identifier": ["id"]}
    policy = risk(*at_most(largestRisk=0.005), known("age"), among(DATASET), **parts)
    made = apply_policy(policy, {DATASET: people}, key=KEY)
    assert figures(made) == {"journalist-largest": 0.005}


def test_classes_of_a_model_are_within_its_bound():
    parts = {"method": "k-anonymity", "k": 2, "quasi": ["age", "pay"]}
    made = apply_policy(risk(*at_most(uniques=0, largestRisk=0.5), **parts), {DATASET: PEOPLE})
    assert figures(made)["sample-uniques"] == 0
    assert figures(made)["prosecutor-largest"] <= 0.5


def test_a_bound_that_is_broken_lets_nothing_be_written(data):
    before = sorted(data[DATASET].parent.rglob("*"))
    policy = risk(*at_most(largestRisk=0.5), BOTH)
    refusal(policy, data, output=data[DATASET].parent / "out" / "a.csv")
    assert sorted(data[DATASET].parent.rglob("*")) == before


def test_an_estimate_that_is_not_valid_shows_no_bound():
    people = pa.table({"age": [20] * 400, "id": [f"p{row}" for row in range(400)]})
    parts = {"method": "masking", "sampleShare": 0.5, "insensitive": ["age"]}
    parts |= {"identifier": ["id"]}
    policy = risk(*at_most(populationUniques=0.5), known("age"), **parts)
    [told] = refusal(policy, {DATASET: people}, key=KEY)
    assert told.startswith(
        "populationUniques at most 0.5 is required, but population-uniques has no figure: "
    )


def test_the_order_of_rows_decides_no_figure():
    policy = risk(*at_most(meanRisk=0.9), BOTH, among())
    one = apply_policy(policy, {DATASET: PEOPLE, REGISTER: EVERYBODY})
    turned = {
        DATASET: PEOPLE.take([*range(5, -1, -1)]),
        REGISTER: EVERYBODY.take([*range(9, -1, -1)]),
    }
    assert figures(apply_policy(policy, turned)) == figures(one)


# -- what is wrong with the data --------------------------------------------------------------


def test_a_population_that_does_not_contain_the_release_is_refused(data, tmp_path):
    policy = risk(*at_most(meanRisk=0.9), BOTH, among())
    with pytest.raises(DataError, match=r"A024 The population does not contain the release: 3 "):
        apply_policy(policy, {**data, REGISTER: EVERYBODY.slice(0, 3)}, tmp_path / "out" / "a.csv")
    assert not (tmp_path / "out").exists()


def test_a_population_that_is_not_given_or_lacks_columns_is_refused_beforehand():
    policy = risk(*at_most(meanRisk=0.9), BOTH, among())
    with pytest.raises(DataError, match=r"C001 No data is given for 'http://x.org/Register'"):
        apply_policy(policy, {DATASET: PEOPLE})
    with pytest.raises(DataError) as caught:
        apply_policy(policy, {DATASET: PEOPLE, REGISTER: pa.table({"name": ["p"]})})
    assert [one.code for one in caught.value.problems] == ["C005"]


def test_cells_of_a_population_that_are_not_numbers_are_refused():
    policy = risk(*at_most(meanRisk=0.9), known("age"), among())
    everybody = pa.table({"age": ["30", "forty"]})
    with pytest.raises(DataError, match="A024 Cells of 'age' in the population cannot be read"):
        apply_policy(policy, {DATASET: PEOPLE, REGISTER: everybody})


# -- the certificate ---------------------------------------------------------------------------


def test_the_data_give_the_figures_of_the_certificate_again(data):
    policy = risk(*at_most(meanRisk=0.9, uniques=0.5), BOTH, among())
    made = apply_policy(policy, data, data[DATASET].parent / "out" / "a.csv")
    again = certify_output(made.path, policy, data)
    assert again.disclosures == made.certificate.disclosures
    assert read_certificate(made.certificate.to_jsonld()) == made.certificate
    pyarrow.csv.write_csv(pa.concat_tables([EVERYBODY, OTHERS]), data[REGISTER])
    with pytest.raises(CertificateError, match=r"V018 .* meanRisk of marketer is"):
        certify_output(made.path, policy, data)


def test_without_the_input_nobody_can_tell(data):
    policy = risk(*at_most(meanRisk=0.9), BOTH, among())
    made = apply_policy(policy, data, data[DATASET].parent / "out" / "a.csv")
    with pytest.raises(DataError, match="V006"):
        certify_output(made.path, policy)


def test_a_release_in_memory_is_measured_again_where_it_is_written(tmp_path):
    policy = risk(*at_most(meanRisk=0.9), BOTH, among())
    made = apply_policy(policy, {DATASET: PEOPLE, REGISTER: EVERYBODY})
    assert figures(made.write(tmp_path / "out" / "a.csv")) == figures(made)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"known": ("age",)}, "It has figures of risk that its plan does not bound."),
        ({"population": ""}, "It has figures of risk that its plan does not bound."),
        ({"records": 7}, "Its figures of risk are not of its rows."),
    ],
)
def test_figures_that_no_plan_has_are_refused(changes, told):
    policy = risk(*at_most(meanRisk=0.9), BOTH, among())
    made = apply_policy(policy, {DATASET: PEOPLE, REGISTER: EVERYBODY}).certificate
    [one] = made.disclosures
    false = made.model_copy(update={"disclosures": (one.model_copy(update=changes),)})
    with pytest.raises(CertificateError, match=told):
        read_certificate(false.to_jsonld())


def test_figures_that_are_missing_or_too_large_make_no_valid_certificate():
    policy = risk(*at_most(meanRisk=0.9), BOTH)
    made = apply_policy(policy, {DATASET: PEOPLE}).certificate
    assert made.holds
    [one] = made.disclosures
    large = one.model_copy(update={"reached": Figure(value=0.91)})
    assert not made.model_copy(update={"disclosures": ()}).holds
    assert not made.model_copy(update={"disclosures": (large,)}).holds


def test_plan_and_certificate_tell_the_risk_and_its_bound():
    policy = risk(*at_most(meanRisk=0.9), BOTH, among())
    made = apply_policy(policy, {DATASET: PEOPLE, REGISTER: EVERYBODY})
    assert "meanRisk at most 0.9" in certificate_html(made.certificate)
    rows = [*certificate_table(made.certificate).columns[0].cells]
    assert "meanRisk by marketer" in rows
    cells = [*plan_table(made.plan).columns[1].cells]
    assert any("population-risk: meanRisk at most 0.9 in http" in cell for cell in cells)
    assert made.certificate.warning.endswith(
        "how few rows, or persons, are alike, knowing some columns."
    )
    [step] = made.certificate.plan.disclosures
    assert step.population is None
