"""What goes wrong in a model's own process is one coded sentence here."""

import io
import json
import pickle
import struct
import time
import zipfile

import numpy as np
import pytest
from fitted_faults import (
    Aborting,
    Forging,
    Greedy,
    Hanging,
    Killed,
    Leaving,
    Memory,
    Opened,
    Quoting,
    Rewriting,
    Talking,
)

from policy_engine import FittedModel, audit_membership
from policy_engine.audits.membership.fitted import process
from policy_engine.audits.membership.fitted.kinds import fitted_file
from policy_engine.audits.membership.fitted.loading import OpeningOptions, load
from policy_engine.audits.membership.fitted.process import open_process
from policy_engine.errors import AuditError

ROWS = np.zeros((20, 2)), np.zeros(20, int), np.arange(20) < 10
"""Records that say nothing, all of class 0, the first ten of them members."""


def attacked(model, folder, **how):
    path = folder / "model.pkl"
    path.write_bytes(pickle.dumps(model))
    return audit_membership(ROWS, fitted=FittedModel(path, trust_pickle=True, **how))


def refused(model, folder, **how):
    with pytest.raises(AuditError) as error:
        attacked(model, folder, **how)
    [problem] = error.value.problems
    return problem


@pytest.mark.nightly
def test_a_model_that_remembers_is_found_from_its_file(tmp_path):
    found = attacked(Memory(), tmp_path)
    assert found.attack("loss").figures.auc.value == 1
    assert found.fitted.kind == "pickle"
    assert len(found.fitted.digest) == 64
    assert found.architecture.startswith("a fitted model as it is, Memory of fitted_faults")


@pytest.mark.nightly
def test_what_a_model_prints_is_no_answer_and_it_knows_no_secret(tmp_path, monkeypatch):
    monkeypatch.setenv("POLICY_ENGINE_KEY", "secret")
    assert attacked(Talking(), tmp_path).attack("loss").figures.auc.value == 1


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("model", "code", "words"),
    [
        (Aborting(), "A016", "ended by signal 6, saying the library's last words about ..."),
        (Leaving(), "A016", "ended with 0."),
        (Killed(), "A008", "was killed, probably because memory ran out"),
        (Greedy(), "A008", "more memory than there is"),
    ],
    ids=["abort", "exit", "killed", "memory"],
)
def test_a_process_that_ends_is_told_in_a_sentence(model, code, words, tmp_path):
    problem = refused(model, tmp_path)
    assert problem.code == code
    assert words in problem.message
    assert "\n" not in problem.message


@pytest.mark.nightly
@pytest.mark.parametrize(
    "message",
    [
        struct.pack(">Q", (1 << 63) - 1) + b"x",
        struct.pack(">Q", 1) + b"x",
        "compressed",
        "no model",
    ],
    ids=["longest", "short", "compressed", "header"],
)
def test_a_forged_message_ends_the_audit_at_once(message, tmp_path):
    if isinstance(message, str):
        out = io.BytesIO()
        save = np.savez_compressed if message == "compressed" else np.savez
        save(out, header=np.array(json.dumps({"about": 1, "problems": 2})))
        message = struct.pack(">Q", len(out.getvalue())) + out.getvalue()
    problem = refused(Forging(message), tmp_path, time_limit=30)
    assert (problem.code, problem.message) == (
        "A016",
        "The model's process returned no readable answer.",
    )


@pytest.mark.nightly
def test_what_was_opened_is_what_the_digest_is_of(tmp_path):
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(Memory()))
    file = fitted_file(path)
    path.write_bytes(pickle.dumps(Talking()))
    with (
        pytest.raises(AuditError, match=r"A014 .*was changed while it was opened"),
        open_process(file, OpeningOptions(trust_pickle=True), 60),
    ):
        pass
    path.write_bytes(pickle.dumps(Rewriting(path)))
    with pytest.raises(AuditError, match=r"A014 .*was changed while it was opened"):
        load(fitted_file(path), OpeningOptions(trust_pickle=True))


@pytest.mark.nightly
def test_a_model_that_hangs_is_given_up(tmp_path):
    problem = refused(Hanging(), tmp_path, time_limit=3)
    assert problem.code == "A016"
    assert problem.message == "The model gave no answer within 3 seconds."


@pytest.mark.nightly
def test_values_that_a_library_quotes_are_left_out(tmp_path):
    problem = refused(Quoting(), tmp_path)
    assert problem.code == "A009"
    assert (
        problem.message
        == "The model refuses the data: could not convert string to float: ..., nor ..."
    )


@pytest.mark.parametrize("name", ["model.pkl", "model.joblib", "model.skops", "model.txt", "model"])
def test_no_pickle_is_opened_untrusted_whatever_its_name(name, tmp_path):
    mark = tmp_path / "mark"
    (tmp_path / name).write_bytes(pickle.dumps(Opened(mark)))
    with pytest.raises(AuditError, match="A015 The file is a pickle"):
        audit_membership(ROWS, fitted=tmp_path / name)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("inside", "code"), [("archive/data.pkl", "A014"), ("archive/models/model.json", "A015")]
)
def test_no_archive_of_torch_is_unpickled_untrusted(inside, code, tmp_path):
    mark, path = tmp_path / "mark", tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(inside, pickle.dumps(Opened(mark)))
    with pytest.raises(AuditError, match=code):
        audit_membership(ROWS, fitted=path)
    assert not mark.exists()


def test_arrays_of_objects_are_not_unpickled_as_data(tmp_path):
    mark, path = tmp_path / "mark", tmp_path / "data.npz"
    np.savez(path, features=np.array([[Opened(mark)]]), labels=[0], members=[1])
    mark.unlink(missing_ok=True)
    with pytest.raises(Exception, match="C003"):
        audit_membership(path, fitted=Memory())
    assert not mark.exists()


def test_a_process_that_is_slow_to_end_is_reaped_once_it_does(monkeypatch):
    monkeypatch.setattr(process, "_GRACE", 0)
    with process._process() as child:
        pass
    deadline = time.monotonic() + 60
    while child.returncode is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert child.returncode
