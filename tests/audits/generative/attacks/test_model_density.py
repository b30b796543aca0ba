from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from generative_models import material

from policy_engine.audits.generative.attacks.calibrated import FEWEST_REFERENCES
from policy_engine.audits.generative.attacks.model_density import (
    calibrated_model_density,
    model_density,
)
from policy_engine.audits.generative.drawing import DrawnDensities
from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.audits.generative.reading import GivenRecords, read_material
from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import NotApplicable

MEMBERS, HOLDOUT = [[0.0, 1.0], [2.0, 0.0]], [[1.0, 1.0], [np.nan, -1.0]]


class Answering:
    """A model whose answer is given."""

    def __init__(self, answer):
        self.answer = answer

    def log_density(self, x, *, label=None):
        self.x, self.label = x, label
        return self.answer


def test_a_score_is_the_density_and_no_density_is_least():
    model = Answering(np.array([-1.0, -np.inf, -3.0, 2.0]))
    scores = model_density(material([[0.0], [1.0]], [[2.0], [3.0]], model=model))
    assert scores.tolist() == [-1, -4, -3, 2]


def test_rows_of_tables_are_asked_as_a_table():
    columns = (
        AuditedColumn("n", is_number=True),
        AuditedColumn("c", is_number=False, texts=("x", "y")),
    )
    model = Answering(np.zeros(4))
    model_density(material(MEMBERS, HOLDOUT, model=model, columns=columns))
    expected = {"n": [0.0, 2.0, 1.0, None], "c": ["y", "x", "y", None]}
    assert isinstance(model.x, pa.Table)
    assert model.x.to_pydict() == expected


def test_what_a_model_has_said_already_is_taken():
    sides = [
        RecordSet("", np.zeros((2, 1)), densities=np.array(one))
        for one in ([1.0, -np.inf], [0.0, 3.0])
    ]
    given = Material(*sides, shape=(1,), model=Answering(None))
    assert model_density(given).tolist() == [1, -1, 0, 3]


@pytest.mark.parametrize("answer", [np.full(4, np.nan), np.full(4, np.inf), np.zeros(3), "x"])
def test_densities_of_no_use_are_refused(answer):
    with pytest.raises(AuditError) as error:
        model_density(material(MEMBERS, [[1.0, 1.0], [0.0, 0.0]], model=Answering(answer)))
    assert error.value.code == "A032"


def test_what_a_model_raises_is_told_without_its_values():
    class Failing:
        def log_density(self, *_, **__):
            raise ValueError("secret")

    with pytest.raises(AuditError) as error:
        model_density(material(MEMBERS, HOLDOUT, model=Failing()))
    assert "secret" not in error.value.problems[0].message


def test_a_model_without_densities_is_not_attacked():
    for attack in (model_density, calibrated_model_density):
        assert isinstance(attack(material(MEMBERS, HOLDOUT)), NotApplicable)
    given = material(MEMBERS, HOLDOUT, model=Answering(np.zeros(4)))
    assert isinstance(calibrated_model_density(given), NotApplicable)


def test_the_calibrated_density_does_not_take_common_records_for_members():
    """Records near the middle are more probable to any model, whether they are members or not."""
    generator = np.random.default_rng(1)
    points = generator.standard_normal((3 * FEWEST_REFERENCES, 2))
    members, holdout, reference = np.split(points, 3)

    class Model:
        def log_density(self, x, *, label=None):  # noqa: ARG002
            is_member = (x[:, None] == members[None]).all(axis=2).any(axis=1)
            return -4 * np.log(0.1 + np.linalg.norm(x, axis=1)) + 0.7 * is_member

    given = material(members, holdout, model=Model(), reference=RecordSet("others", reference))

    def area(scores):
        own, others = scores[given.is_member], scores[~given.is_member]
        return (own[:, None] > others[None]).mean()

    assert area(model_density(given)) < 0.75
    assert area(calibrated_model_density(given)) > area(model_density(given)) + 0.1


def test_a_model_is_asked_of_the_cells_that_records_have(tmp_path):
    """A day is not a number of seconds, nor a long number a float."""
    days = [date(1990, 1, 1), date(1990, 1, 2)]
    numbers = [893901000000000001, 893901000000000002]
    members = pa.table({"day": days, "long": numbers, "group": ["a", "b"]})
    (tmp_path / "holdout.csv").write_text("long,day,group\n893901000000000003,1990-01-03,a\n")
    read = read_material(GivenRecords(members, tmp_path / "holdout.csv", label="group"))
    model = Answering(np.zeros(3))
    model_density(Material(**{**vars(read.material), "model": DrawnDensities("", model)}))
    assert model.x.column_names == ["day", "long"]
    assert model.x.to_pydict() == {
        "day": [*days, date(1990, 1, 3)],
        "long": [*numbers, 893901000000000003],
    }


def test_a_model_that_makes_up_none_of_the_records_tells_nothing():
    model = Answering(np.full(4, -np.inf))
    reference = RecordSet("others", np.zeros((4, 2)))
    given = material(MEMBERS, HOLDOUT, model=model, reference=reference)
    for attack in (model_density, calibrated_model_density):
        answer = attack(given)
        assert isinstance(answer, NotApplicable)
        assert "makes up none of the records" in answer.reason


def test_references_that_a_model_never_makes_up_calibrate_all_the_same():
    """A generator that has learnt by heart makes up nobody else."""
    points = np.random.default_rng(2).standard_normal((FEWEST_REFERENCES, 2))
    sides = (
        RecordSet("members", points[:10], densities=np.zeros(10)),
        RecordSet("holdout", points[10:20], densities=np.full(10, -np.inf)),
    )
    reference = RecordSet("others", points, densities=np.full(len(points), -np.inf))
    given = Material(*sides, reference=reference, shape=(2,), model=Answering(None))
    scores = calibrated_model_density(given)
    assert scores[:10].min() > scores[10:].max()
