"""Files of an audit of a generator are read into one code, or refused with all that is wrong."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.generative.reading import GivenRecords, read_material
from policy_engine.errors import AuditError


def table(**columns):
    return pa.table({name: pa.array(values) for name, values in columns.items()})


MEMBERS = table(age=["30", "40", ""], job=["cook", "nurse", None], sick=["yes", "no", "no"])
HOLDOUT = table(age=["31", "50"], job=["clerk", "cook"], sick=["yes", "yes"])
SYNTHETIC = table(sick=["no"], job=["nurse"], age=["41.5"])


def given(**changes):
    sides = {"members": MEMBERS, "holdout": HOLDOUT, "synthetic": SYNTHETIC, **changes}
    return GivenRecords(**sides)


def faults(**changes):
    with pytest.raises(AuditError) as error:
        read_material(given(**changes))
    return [(one.code, one.message) for one in error.value.problems]


def test_columns_are_those_of_the_synthetic_records_by_name():
    material = read_material(given()).material
    assert [(one.name, one.is_number) for one in material.columns] == [
        *(("sick", False), ("job", False), ("age", True))
    ]
    assert material.columns[1].texts == ("clerk", "cook", "nurse")
    assert material.members.values[:, 0].tolist() == [1, 0, 0]
    assert material.members.values[:, 1].tolist() == [1, 2, -1]
    assert material.synthetic.values.tolist() == [[0, 2, 41.5]]
    np.testing.assert_array_equal(material.members.values[:, 2], [30, 40, np.nan])


def test_a_label_is_a_class_and_not_a_column():
    both = table(sick=["no", "yes"], job=["nurse", "cook"], age=["41", "42"])
    read = read_material(given(synthetic=both, label="sick", secrets=("age",)))
    assert [one.name for one in read.material.columns] == ["job", "age"]
    assert read.material.classes == ("no", "yes")
    assert read.material.members.labels.tolist() == [1, 0, 0]
    assert read.material.secrets == (1,)


def test_columns_that_are_not_released_are_told():
    read = read_material(given(synthetic=SYNTHETIC.drop_columns(["age"])))
    assert [one.name for one in read.material.columns] == ["sick", "job"]
    assert read.warnings == ("Not released, and not compared: 'age'.",)


def test_values_that_nobody_has_are_told():
    read = read_material(given(synthetic=table(age=["31", "42"], job=["cook", "pilot"])))
    assert any(
        one == "Neither members nor holdout have 1 synthetic value of 'job'."
        for one in read.warnings
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"synthetic": table(age=["1"], hobby=["chess"])}, "members lacks the column 'hobby' of"),
        (
            {"holdout": table(age=["1"], sick=["no"])},
            "The file of the holdout lacks the column 'job'",
        ),
        ({"synthetic": table(job=["c1", "c2"] * 5)}, "No synthetic value of 'job' is one of"),
        ({"synthetic": table(age=["[30 - 40]"])}, "'age' has numbers in some files"),
        ({"secrets": ("salary",)}, "no column 'salary'"),
        ({"label": "sick", "secrets": ("sick",)}, "and a secret, too"),
    ],
)
def test_files_that_do_not_fit_are_refused(changes, told):
    found = faults(**changes)
    assert {code for code, _ in found} == {"A031"}
    assert any(told in message for _, message in found)


def test_labels_are_needed_where_there_is_a_label():
    short = MEMBERS.set_column(2, "sick", pa.array(["yes", None, "no"]))
    assert faults(members=short, label="sick") == [("A002", "1 of the members have no label.")]
    assert faults(label="sik")[0][0] == "A002"


def test_the_digest_is_that_of_the_cells():
    same = MEMBERS.set_column(0, "age", pa.array([30, 40, None], pa.int64()))
    first, second = (read_material(given(members=one)).digests for one in (MEMBERS, same))
    assert first["holdout"] == second["holdout"]
    assert first["members"] != first["holdout"]


MADE = {"n": list(range(64)), "s": [f"t{place % 3}" for place in range(64)]}


def released(made, **more):
    return read_material(GivenRecords(pa.table(MADE), pa.table(MADE), made, **more)).released


def test_released_rows_are_told_in_whatever_order():
    made = pa.table(MADE)
    own = released(made)
    assert own == released(made.take(list(range(63, -1, -1))).select(["s", "n"]))
    assert own != released(made.slice(1))
    assert own != released(pa.concat_tables([made, made.slice(0, 1)]))
    swapped = pa.table({"n": MADE["n"][::-1], "s": MADE["s"]})
    assert own != released(swapped)
    assert read_material(GivenRecords(made, made)).released == ""


def saved(tmp_path, name, images, labels=None):
    arrays = {"x": images} if labels is None else {"x": images, "y": labels}
    np.savez(tmp_path / f"{name}.npz", **arrays)
    return tmp_path / f"{name}.npz"


def test_images_are_shares_of_white_and_keep_their_shape(tmp_path):
    images = np.full((2, 3, 4), 255, np.uint8)
    files = {
        name: saved(tmp_path, name, images * (name != "synthetic"), np.array([7, 9]))
        for name in ("members", "holdout", "synthetic")
    }
    material = read_material(GivenRecords(**files)).material
    assert material.shape == (3, 4)
    assert material.members.values.shape == (2, 12)
    assert material.members.values.max() == 1
    assert material.classes == ("7", "9")
    assert not material.is_table


@pytest.mark.parametrize(
    ("images", "labels", "told"),
    [
        (np.zeros((2, 3, 5)), [0, 1], "2 shapes"),
        (np.full((2, 3, 4), np.nan), [0, 1], "missing or infinite"),
        (np.zeros((2, 3, 4)), [0], "labels of shape (1,)"),
        (np.zeros((2, 3, 4)), None, "have none"),
        (np.array([["a"], ["b"]]), [0, 1], "Allowed are numbers"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path, images, labels, told):
    fine = np.zeros((2, 3, 4))
    sides = {name: saved(tmp_path, name, fine, np.array([0, 1])) for name in ("m", "h")}
    other = saved(tmp_path, "s", images, None if labels is None else np.array(labels))
    with pytest.raises(AuditError, match="A0") as error:
        read_material(GivenRecords(sides["m"], sides["h"], other))
    assert any(told in one.message for one in error.value.problems)


def test_tables_and_arrays_are_not_mixed(tmp_path):
    file = saved(tmp_path, "s", np.zeros((2, 3)))
    (tmp_path / "m.csv").write_text("a\n1\n")
    with pytest.raises(AuditError, match="A031"):
        read_material(GivenRecords(tmp_path / "m.csv", tmp_path / "m.csv", file))


# -- persons --------------------------------------------------------------------------------------


def of_persons(members=("1", "1", "2"), holdout=("3.0", "4"), **more):
    sides = {"members": (MEMBERS, members), "holdout": (HOLDOUT, holdout), **more}
    return {
        side: one.append_column("who", pa.array(persons)) for side, (one, persons) in sides.items()
    }


def test_persons_whose_names_look_alike_are_told():
    def warnings(*holdout):
        sides = of_persons(("ann", "bob", "bob"), holdout)
        read = read_material(GivenRecords(**sides, unit="who"))
        return [one for one in read.warnings if "who" in one]

    assert not warnings("eve", "joe")
    (sentence,) = warnings("ANN", "bob\u200b")
    assert sentence.startswith("4 persons have another's 'who' but for case")


def test_persons_are_numbered_over_all_files_and_are_not_compared():
    read = read_material(given(**of_persons(holdout=("1.0", "4")), unit="who"))
    assert [one.name for one in read.material.columns] == ["sick", "job", "age"]
    sides = [one.persons.tolist() for one in (read.material.members, read.material.holdout)]
    [[one, same, other], [again, third]] = sides
    assert one == same == again
    assert len({one, other, third}) == 3
    assert read.material.synthetic.persons is None
    assert not any("who" in one for one in read.warnings)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"holdout": HOLDOUT}, "The file of the holdout lacks 'who', the column of persons."),
        (of_persons(members=("1", "", None)), "2 of the members name no person"),
    ],
)
def test_records_that_are_of_nobody_are_refused(changes, told):
    found = faults(**{**of_persons(), **changes}, unit="who")
    assert [(code, told in message) for code, message in found] == [("A031", True)]


def test_released_arrays_are_told_in_whatever_order(tmp_path):
    random = np.random.default_rng(0)
    images, labels, order = random.random((40, 5)), np.arange(40) % 2, random.permutation(40)
    known = [saved(tmp_path, name, random.random((40, 5)), labels) for name in ("m", "h")]

    def told(name, *arrays):
        made = saved(tmp_path, name, *arrays)
        return read_material(GivenRecords(*known, made)).released

    own = told("s", images, labels)
    assert own == told("t", images[order], labels[order])
    assert own != told("u", images[order], labels)
    assert own != told("v", images[:-1], labels[:-1])
