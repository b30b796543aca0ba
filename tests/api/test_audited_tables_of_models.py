"""Models that make whole tables, with texts, are audited like files."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from policy_engine import audit_generative
from policy_engine.errors import AuditError


def rows(seed, count=80):
    random = np.random.default_rng(seed)
    ages = random.integers(20, 900, count)
    return pd.DataFrame({"age": ages, "job": random.choice(["cook", "clerk", "nurse"], count)})


MEMBERS, HOLDOUT = rows(1), rows(2)


class Copies:
    """A model that draws members again, in one form or another."""

    def __init__(self, form=lambda frame: frame):
        self.form = form

    def sample(self, n, *, label=None, seed):  # noqa: ARG002
        return self.form(MEMBERS.sample(n, replace=True, random_state=seed % 2**32))


def audited(model, **options):
    asked = {"attacks": ["exact-copies", "nearest-sample"], "samples": 400, **options}
    return audit_generative(MEMBERS, HOLDOUT, model=model, **asked)


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "form",
    [
        lambda frame: frame,
        lambda frame: frame[["job", "age"]],
        pl.from_pandas,
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
        lambda frame: frame.to_dict("records"),
        lambda frame: frame.to_numpy(),
    ],
)
def test_frames_lists_and_arrays_of_objects_are_read_like_files(form):
    audit = audited(Copies(form))
    assert audit.samples == 400
    assert audit.copies.members.value > 0.9
    assert audit.discloses
    assert audit.model.endswith("Copies")


@pytest.mark.parametrize(
    ("form", "told"),
    [
        (lambda frame: frame.iloc[1:], "399 rows where 400 are asked for"),
        (lambda frame: frame.iloc[[0] * len(frame)], "all the same"),
        (lambda frame: frame[["age"]].to_numpy(), "gives no texts"),
        (lambda frame: np.zeros((len(frame), 2)), "columns 'job' have some"),
        (lambda frame: 1 / 0 * len(frame), "ZeroDivisionError"),
    ],
)
def test_rows_that_cannot_be_used_are_refused_and_leave_no_folder(form, told, tmp_path):
    with pytest.raises(AuditError, match="A032") as error:
        audited(Copies(form), out=tmp_path / "a" / "b")
    assert told in str(error.value)
    assert not (tmp_path / "a").exists()


def test_numbers_on_another_scale_are_refused():
    class Shares:
        def sample(self, n, *, label=None, seed):  # noqa: ARG002
            return np.random.default_rng(seed).random((n, 1))

    with pytest.raises(AuditError, match="on another scale"):
        audit_generative(MEMBERS[["age"]], HOLDOUT[["age"]], model=Shares(), samples=100)
