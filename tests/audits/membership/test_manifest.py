import json
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from policy_engine.api.auditing import audit_membership, audit_predictions_file
from policy_engine.audits.membership.manifest import Manifest
from policy_engine.audits.membership.settings import Settings
from policy_engine.audits.reports import audit_folder
from policy_engine.data.commitment import Commitment
from policy_engine.errors import AuditError

RANDOM = np.random.default_rng(4)
DATA = (RANDOM.normal(size=(120, 3)), np.arange(120) % 2)
SETTINGS = Settings(("lira-online",), shadows=10)


class Counting:
    """Counts how often a model is fitted."""

    fitted = 0


@pytest.fixture(autouse=True)
def _from_the_start_without_pictures(monkeypatch):
    Counting.fitted, fit = 0, GaussianNB.fit

    def counted(self, *given):
        Counting.fitted += 1
        return fit(self, *given)

    monkeypatch.setattr(GaussianNB, "fit", counted)
    monkeypatch.setattr(audit_folder, "write_audit_report", lambda *_: None)


def manifest(folder):
    return Manifest.model_validate_json((folder / "manifest.json").read_bytes())


def audited(folder, data=DATA, settings=SETTINGS, **more):
    return audit_membership(data, model=GaussianNB(), settings=settings, out=folder, **more)


def once(share):
    """Whether so many of a hundred are done."""
    told = [0.0]

    def progress(stage, done, total):
        if stage == "models":
            told[0] = done / total

    return progress, lambda: told[0] >= share


def test_a_manifest_stands_from_the_first_second_and_says_what_became_of_it(tmp_path):
    seen = []
    found = audited(tmp_path, progress=lambda *_: seen.append(manifest(tmp_path)))
    assert (seen[0].state, seen[0].finished, seen[0].figures) == ("running", None, None)
    assert seen[0].settings["attacks"] == ["lira-online"]
    assert "GaussianNB" in seen[0].model
    last = manifest(tmp_path)
    assert (last.state, last.models, last.resumed, last.problems) == ("done", (11, 11), 0, ())
    assert last.figures == sha256((tmp_path / "audit.json").read_bytes()).hexdigest()
    assert found.data_digest not in (tmp_path / "manifest.json").read_text(encoding="utf-8")
    assert (tmp_path / "manifest.nonce").stat().st_mode & 0o777 == 0o600
    nonce = (tmp_path / "manifest.nonce").read_text(encoding="ascii")
    assert last.data == Commitment.make({"records": found.data_digest}, nonce)


def test_an_audit_cancelled_at_a_fifth_goes_on_at_a_fifth(tmp_path):
    progress, cancel = once(0.2)
    with pytest.raises(AuditError, match="A018 The audit was cancelled"):
        audited(tmp_path, progress=progress, cancel=cancel)
    stopped = manifest(tmp_path)
    assert (stopped.state, stopped.problems) == ("cancelled", ("A018",))
    assert not (tmp_path / "audit.json").exists()
    kept = len(list((tmp_path / "cache").iterdir()))
    assert kept >= 1
    Counting.fitted = 0
    resumed = audited(tmp_path)
    assert Counting.fitted == 11 - kept == resumed.timings.trained
    assert (manifest(tmp_path).state, manifest(tmp_path).resumed) == ("done", 1)
    whole = audited(tmp_path / "other")
    assert whole.model_copy(update={"timings": resumed.timings}) == resumed


def test_what_an_interruption_leaves_is_gone_on_from(tmp_path):
    def progress(_stage, done, total):
        if done >= 0.3 * total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audited(tmp_path, progress=progress)
    assert manifest(tmp_path).state == "interrupted"
    kept, Counting.fitted = len(list((tmp_path / "cache").iterdir())), 0
    audited(tmp_path)
    assert kept >= 1
    assert Counting.fitted == 11 - kept


def test_a_failure_is_told_with_its_code(tmp_path):
    with pytest.raises(AuditError):
        audited(tmp_path, data=(DATA[0], np.zeros(120, int)))
    assert manifest(tmp_path).state == "failed"
    assert manifest(tmp_path).problems == ("A002",)
    assert manifest(tmp_path).data is None


@pytest.mark.one_in(3)
@pytest.mark.parametrize("change", ["seed", "data", "model"])
def test_an_audit_of_something_else_starts_afresh(tmp_path, change):
    progress, cancel = once(0.01)
    with pytest.raises(AuditError):
        audited(tmp_path, progress=progress, cancel=cancel)
    other = replace(SETTINGS, seed=9) if change == "seed" else SETTINGS
    data = (DATA[0] + 1, DATA[1]) if change == "data" else DATA
    model = GaussianNB(var_smoothing=0.1) if change == "model" else GaussianNB()
    Counting.fitted = 0
    audit_membership(data, model=model, settings=other, out=tmp_path)
    assert Counting.fitted == 11
    assert manifest(tmp_path).resumed == 0


def test_a_manifest_that_cannot_be_read_is_written_anew(tmp_path):
    (tmp_path / "manifest.json").write_text("{", encoding="utf-8")
    (tmp_path / "manifest.nonce").write_text("no nonce", encoding="utf-8")
    rows = {"p0": [0.1, 0.9] * 10, "p1": [0.9, 0.1] * 10, "label": [0, 1] * 10}
    import pandas as pd

    frame = pd.DataFrame({**rows, "member": [1] * 10 + [0] * 10})
    found = audit_predictions_file(frame, out=tmp_path)
    assert manifest(tmp_path).state == "done"
    assert json.loads((tmp_path / "manifest.json").read_text())["kind"] == "predictions"
    assert found.conduct.out_models == "none"
