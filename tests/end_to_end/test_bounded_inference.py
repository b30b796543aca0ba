"""Tables of which a policy bounds what is learned, from the policy to who may read them."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from attacked import attacked, bounded
from building import DATASET, column

from policy_engine import apply_policy, audit_disclosure, certify_output
from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.page import certificate_html
from policy_engine.cli.tables.certificates import certificate_table
from policy_engine.cli.tables.plans import plan_table
from policy_engine.errors import CertificateError, DataError
from policy_engine.kernels.estimates import NotApplicable

CLASSES = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "sensitive": ["ill"]}
ROUNDED = {
    "method": "masking",
    "masked": [column("age", masking="rounding", base=10)],
    "insensitive": ["id", "ill"],
}
ROWS = 200


@pytest.fixture
def told():
    """Half of the persons are ill, and the age says who: those of 30."""
    ages = [30, 50] * (ROWS // 2)
    return table(ages, ["flu" if age == 30 else "none" for age in ages])


@pytest.fixture
def independent():
    """Half of the persons are ill, whatever their age."""
    random = np.random.default_rng(3)
    return table([30, 50] * (ROWS // 2), random.permutation(["flu", "none"] * (ROWS // 2)))


def table(ages, ill):
    return pa.table({"id": [f"p{row}" for row in range(len(ages))], "age": ages, "ill": ill})


def learning(most, *refinements, **parts):
    inferred = bounded(most, operand="pe:inferred")
    ill = {"leftOperand": "pe:learned", "operator": "isAllOf", "rightOperand": [f"{DATASET}/ill"]}
    more = [*refinements] if "sensitive" in parts else [ill, *refinements]
    return attacked(inferred, *more, action="pe:attributeInference", **(parts or ROUNDED))


def refusal(policy, data, **options):
    with pytest.raises(CertificateError) as caught:
        apply_policy(policy, data, **options)
    [problem] = caught.value.problems
    assert problem.code == "V019"
    return problem.message


def test_who_is_told_by_what_is_known_is_learned_of(told):
    message = refusal(learning(0.5), {DATASET: told})
    assert message == (
        "inferred at most 0.5 of 'ill' is required, but attribute-inference may learn 1 of what "
        "the commonest value does not tell: it guesses 1 (95% interval 0.9817 to 1) of 'ill' by "
        "'age', and the commonest value 0.5. That is 0.5 above the bound."
    )


def test_nothing_is_learned_that_does_not_follow_from_what_is_known(independent):
    [one] = apply_policy(learning(0.5), {DATASET: independent}).certificate.disclosures
    assert one.baseline == 0.5
    assert one.reached.value < 0.65
    assert one.most_learned == pytest.approx((one.reached.high - 0.5) / 0.5)


def test_a_figure_within_the_bound_does_not_show_it_where_its_interval_does_not(independent):
    [one] = apply_policy(learning(0.5), {DATASET: independent}).certificate.disclosures
    between = ((one.reached.value - 0.5) / 0.5 + one.most_learned) / 2
    assert "may learn" in refusal(learning(round(between, 3)), {DATASET: independent})


def test_the_sensitive_columns_of_classes_are_those_to_learn(told):
    assert "of 'ill' by 'age'" in refusal(learning(0.5, **CLASSES), {DATASET: told})


def test_all_of_one_value_are_not_learned_of(told):
    alike = told.set_column(2, "ill", pa.array(["flu"] * ROWS))
    [one] = apply_policy(learning(0.01), {DATASET: alike}).certificate.disclosures
    assert (one.baseline, one.reached.value, one.most_learned) == (1, 1, 0)


def test_too_few_records_show_no_bound(told):
    message = refusal(learning(0.9), {DATASET: told.slice(0, 8)})
    assert message.endswith("has no figure: 8 persons are too few for an interval.")


def test_a_bound_that_is_broken_lets_nothing_be_written(told, tmp_path):
    refusal(learning(0.5), {DATASET: told}, output=tmp_path / "out" / "a.csv")
    assert not [*tmp_path.iterdir()]


def test_the_order_of_rows_decides_no_figure(independent):
    turned = independent.take([*range(ROWS - 1, -1, -1)])
    one, other = (apply_policy(learning(0.5), {DATASET: given}) for given in (independent, turned))
    assert one.certificate.disclosures == other.certificate.disclosures


@pytest.fixture
def data(independent, tmp_path):
    pyarrow.csv.write_csv(independent, tmp_path / "in.csv")
    return tmp_path / "in.csv"


def test_the_figures_are_those_of_the_audit(data):
    made = apply_policy(learning(0.5), {DATASET: data}, data.parent / "out" / "a.csv")
    audit = audit_disclosure(data, made.path, known=["age"], sensitive=["ill"], match=["id"])
    [found] = [one for one in audit.risks if one.measure == "attribute-inference"]
    [one] = made.certificate.disclosures
    assert (one.baseline, one.reached.value) == (found.baseline, found.value)
    assert (one.reached.low, one.reached.high) == (found.low, found.high)


def test_the_data_give_the_figures_of_the_certificate_again(data):
    policy = learning(0.5)
    made = apply_policy(policy, {DATASET: data}, data.parent / "out" / "a.csv")
    again = certify_output(made.path, policy, {DATASET: data})
    assert again.disclosures == made.certificate.disclosures
    assert read_certificate(made.certificate.to_jsonld()) == made.certificate
    with pytest.raises(DataError, match="V006"):
        certify_output(made.path, policy)


def test_figures_of_other_columns_are_refused(independent):
    made = apply_policy(learning(0.5), {DATASET: independent}).certificate
    [one] = made.disclosures
    for changes in ({"column": "age"}, {"known": ("id",)}):
        other = made.model_copy(update={"disclosures": (one.model_copy(update=changes),)})
        with pytest.raises(CertificateError, match="It has figures of risk that its plan does not"):
            read_certificate(other.to_jsonld())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"baseline": 0.5017}, "No value of 'ill' is that of 0.5017 of 200 records"),
        ({"known": ("age", "age")}, "It names a column twice that attribute-inference knows"),
    ],
)
def test_figures_that_no_release_has_are_refused(independent, changes, told):
    made = apply_policy(learning(0.5), {DATASET: independent}).certificate
    other = made.disclosures[0].model_copy(update=changes)
    changed = made.model_copy(update={"disclosures": (other,)})
    with pytest.raises(CertificateError, match=told):
        read_certificate(changed.to_jsonld())


def test_no_figure_is_no_valid_certificate(independent):
    made = apply_policy(learning(0.5), {DATASET: independent}).certificate
    [one] = made.disclosures
    nothing = one.model_copy(update={"reached": NotApplicable(reason="too few")})
    assert made.holds
    assert not made.model_copy(update={"disclosures": (nothing,)}).holds
    assert not made.model_copy(update={"disclosures": ()}).holds


def test_plan_and_certificate_tell_what_is_learned(independent):
    made = apply_policy(learning(0.5), {DATASET: independent})
    assert "inferred at most 0.5" in certificate_html(made.certificate)
    assert "inferred by attribute-inference" in [
        *certificate_table(made.certificate).columns[0].cells
    ]
    cells = [*plan_table(made.plan).columns[1].cells]
    assert "attribute-inference: inferred at most 0.5 of ill" in cells
    assert made.certificate.warning.endswith("what is learned of columns, knowing some columns.")


def test_columns_masked_at_random_may_be_known(independent):
    noisy = {**ROUNDED, "masked": [column("age", masking="noise", sdShare=0.1)]}
    made = apply_policy(learning(0.5, **noisy), {DATASET: independent}, key=b"k" * 32)
    assert made.certificate.disclosures[0].known == ("age",)
