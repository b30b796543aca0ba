import pyarrow as pa
import pytest

from policy_engine.engines.column_evidence import gather_evidence
from policy_engine.engines.column_roles import propose_role


def proposed(name, values):
    return propose_role(gather_evidence(name, pa.chunked_array([pa.array(values)])))


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("own_telephone", ["yes", "no"] * 50, "other"),
        ("Provider Zip Code", ["36301", "36801"] * 50, "quasi-identifier"),
        ("admission_type_id", [1, 2, 3, 4] * 25, "quasi-identifier"),
        ("note", [f"text {n % 80}" for n in range(100)], "identifier"),
        ("claimRate", [0.5, 1.5] * 50, "sensitive"),
        ("shoe size", [36, 37] * 50, "other"),
    ],
)
def test_role_is_told_by_name_and_values(name, values, role):
    assert proposed(name, values).role.value == role


def test_a_number_of_somebody_with_several_rows_tells_persons_apart():
    assert proposed("patient_nbr", [n // 2 for n in range(100)]).tells_persons
    assert not proposed("patient_nbr", list(range(100))).tells_persons


def test_separation_is_the_share_of_pairs_that_differ():
    column = pa.chunked_array([pa.array(["a", "a", "b", None])])
    evidence = gather_evidence("x", column)
    assert (evidence.distinct, evidence.missing, evidence.most_common) == (2, 1, 2)
    assert evidence.separation == pytest.approx(5 / 6)  # of six pairs, two a are alike
