"""What is signed of a run was measured again, in a process that the run had no part in."""

import hashlib
from dataclasses import replace

import pytest
from asking_statistics import DAYS, ROWS, UNITS, VISITS, policy_text
from building import DATASET, OUTPUT, PEOPLE, people_policy
from modelled import of_raw, of_table, people_table
from runs_left import NAME, carried_out, forge, measured, raw_rows, rewrite
from signing import key_of

from policy_engine.certificate.certificate import read_certificate
from policy_engine.data.storage import tree_digest
from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.runs import measuring_again
from policy_engine.service.runs.child import answer
from policy_engine.service.runs.folders import RunFolders
from policy_engine.service.runs.jobs import RESULT
from policy_engine.service.runs.kinds.sanitising import Sanitising
from policy_engine.service.runs.measuring_again import (
    LEFT,
    measuring_job,
    signed_names,
    told_outputs,
)
from policy_engine.service.runs.queue import Holding
from policy_engine.service.runs.results import seal
from policy_engine.service.runs.signing_results import sign_results
from policy_engine.service.runs.supervising import RunAttempt, RunProcess, Supervisor

TABLE = "person,sex,days\n" + "".join(f"p{n},{'fm'[n % 2]},{n % 15}\n" for n in range(60))


@pytest.fixture
def expected(tmp_path):
    return carried_out(tmp_path / "run", people_policy())


def test_what_a_run_made_is_measured_and_signed_in_a_copy(expected):
    again, summary = measured(expected)
    left, copy = (one.job.folder / "out" / "release" for one in (expected, again))
    assert again.job.releases == {LEFT: left.parent}
    assert (copy / "anonPeople.csv").read_bytes() == (left / "anonPeople.csv").read_bytes()
    assert (copy / "anonPeople.csv").stat().st_ino != (left / "anonPeople.csv").stat().st_ino
    before, after = (read_certificate((one / NAME).read_bytes()) for one in (left, copy))
    assert after.model_copy(update={"time": before.time}) == before
    sign_results(copy.parent, [], key_of(1), again.check, signed_names(summary))
    for folder in ("release", "shown"):
        kept = read_certificate((copy.parent / folder / NAME).read_bytes())
        assert kept.signature.credential.proof.key == key_of(1).public
    assert told_outputs(summary) == {
        "outputs": [{"asset": OUTPUT, "file": "anonPeople.csv", "rows": 6, "signed": True}]
    }


@pytest.mark.parametrize(
    ("rows", "why"),
    [(raw_rows(), "V001 k must be"), (raw_rows().replace("flu", "cold"), "V00[12]")],
)
def test_raw_rows_are_not_signed_though_their_certificate_is_of_the_run(expected, rows, why):
    """By the certificate alone, all is as it should be: before, these rows were signed."""
    forge(expected, rows)
    certificate = (expected.job.folder / "out" / "release" / NAME).read_bytes()
    expected.check(read_certificate(certificate), expected.job.folder / "out" / "release")
    with pytest.raises(ServiceError, match=rf"N022.*not signed: measured again, {why}"):
        measured(expected)


def test_sanitised_rows_of_other_data_are_not_signed(expected, tmp_path):
    """They keep every bound of the policy, and are not those of the input."""
    other = carried_out(tmp_path / "other", people_policy(), PEOPLE.replace("flu", "gout"))
    [output] = (other.job.folder / "out" / "release").glob("*.csv")
    assert "gout" in output.read_text()
    forge(expected, output.read_text())
    with pytest.raises(ServiceError, match=r"N022.*measured again, V002 3 rows"):
        measured(expected)


@pytest.mark.parametrize(("file", "code"), [("../x.csv", "V005"), ("", "N022"), ("x.csv", "C002")])
def test_a_certificate_without_its_output_beside_it_is_not_signed(expected, file, code):
    rewrite(expected, file=file)
    with pytest.raises(PolicyEngineError, match=code):
        measured(expected)


def test_what_changes_after_it_was_copied_is_not_what_is_signed(expected, monkeypatch):
    """A process that outlives its run has the file open, and writes raw rows at the worst time."""
    [output] = (expected.job.folder / "out" / "release").glob("*.csv")
    output.chmod(0o600)
    copied = measuring_again._copy
    with output.open("r+b") as file:

        def copy_then_change(source, target):
            copied(source, target)
            file.write(PEOPLE.encode())
            file.flush()

        monkeypatch.setattr(measuring_again, "_copy", copy_then_change)
        again, summary = measured(expected)
    copy = again.job.out
    sign_results(copy, [], key_of(1), again.check, signed_names(summary))
    assert "Anna" not in (copy / "release" / output.name).read_text()
    digest = hashlib.sha256((copy / "release" / output.name).read_bytes()).hexdigest()
    assert read_certificate((copy / "release" / NAME).read_bytes()).output_digest == digest


def test_links_are_not_copied(expected, tmp_path):
    (expected.job.folder / "out" / "release" / "more").symlink_to(tmp_path)
    with pytest.raises(OSError, match="not a file"):
        measured(expected)


def test_what_no_output_shows_is_released_and_not_signed(tmp_path):
    settings = Sanitising(policy="p1", datasets={VISITS: "data1"})
    more = {"ledger": tmp_path / "ledger.sqlite"}
    text = policy_text(UNITS, ROWS, DAYS)
    expected = carried_out(tmp_path / "run", text, TABLE, settings, **more)
    again, summary = measured(expected)
    assert signed_names(summary) == []
    [told] = told_outputs(summary)["outputs"]
    assert told["signed"] is False
    assert "noise" in told["reason"]
    sign_results(again.job.out, [], key_of(1), again.check, signed_names(summary))
    [place] = (again.job.out / "release").glob("*.jsonld")
    assert read_certificate(place.read_bytes()).signature is None


def of_models(tmp_path, text, seed=5, name="run"):
    """Return what is expected of a run that has models attacked."""
    rows = people_table(tmp_path / f"{name}.csv", rows=400).read_text()
    settings = Sanitising(policy="p1", datasets={DATASET: "data1"}, seed=seed)
    return carried_out(tmp_path / name, text, rows, settings)


def test_a_model_is_trained_again_by_its_seed_and_signed(tmp_path):
    again, summary = measured(of_models(tmp_path, of_raw(bounds={"auc": 0.9})))
    [told] = told_outputs(summary)["outputs"]
    assert (told["file"], told["signed"]) == ("model", True)
    sign_results(again.job.out, [], key_of(1), again.check, signed_names(summary))
    certificate = read_certificate((again.job.out / "release" / NAME).read_bytes())
    assert certificate.signature is not None


def test_a_model_without_a_seed_is_released_and_not_signed(tmp_path):
    expected = of_models(tmp_path, of_raw(bounds={"auc": 0.9}))
    rewrite(expected, {"seed": None})
    _, summary = measured(expected)
    [told] = told_outputs(summary)["outputs"]
    assert (told["file"], told["signed"]) == ("model", False)
    assert "drawn and forgotten" in told["reason"]


def test_another_model_than_the_one_that_the_data_give_is_not_signed(tmp_path):
    expected = of_models(tmp_path, of_raw(bounds={"auc": 0.9}))
    other = of_models(tmp_path, of_raw(bounds={"auc": 0.9}), 6, "other")
    left, better = (one.job.folder / "out" / "release" / "model" for one in (expected, other))
    for one in better.iterdir():
        (left / one.name).unlink()
        (left / one.name).write_bytes(one.read_bytes())
    digest = tree_digest(left)
    rewrite(expected, {"release": digest}, output_digest=digest)
    with pytest.raises(ServiceError, match=r"N022.*measured again, V004"):
        measured(expected)


@pytest.mark.parametrize(("given", "left"), [(None, 5), (5, 7)])
def test_a_seed_that_a_run_chose_itself_is_not_measured_by(tmp_path, given, left):
    """It may be the one of many by which attacks found little."""
    expected = of_models(tmp_path, of_table(bounds={"auc": 0.9}))
    rewrite(expected, {"seed": left})
    settings = expected.settings.model_copy(update={"seed": given})
    with pytest.raises(ServiceError, match=r"N022.*a seed that the run was not given"):
        measured(replace(expected, settings=settings))


def test_attacks_are_made_again_by_the_seed_of_the_run_and_find_the_same(tmp_path):
    expected = of_models(tmp_path, of_table(bounds={"auc": 0.9}))
    before = read_certificate((expected.job.folder / "out" / "release" / NAME).read_bytes())
    again, summary = measured(expected)
    assert signed_names(summary) == [NAME]
    after = read_certificate((again.job.out / "release" / NAME).read_bytes())
    assert after.attacks == before.attacks != ()


def test_the_job_shares_no_folder_that_the_run_could_write(expected):
    folders = RunFolders(expected.job.folder / "service")
    job = measuring_job(expected.job, folders)
    written = {job.out, job.scratch, job.kept, job.code}
    before = expected.job
    assert not written & {before.out, before.scratch, before.kept, before.code, folders.code}
    assert (job.ledger, job.ledger_key) == (None, None)


class ToldProcess:
    """A process that has ended, after it told what comes of its job."""

    has_ended, began, start, how_it_ended = True, 1e18, 1, "it ended"

    def __init__(self, told, started):
        self.told, self.started, self.process = [told], started, self
        self.pid = 1

    def answers(self):
        told, self.told = self.told, []
        return told

    def finish(self):
        """There is nothing left of it."""


class NotedCalls:
    """The queue, or the preparation: what is called of it is noted."""

    def __init__(self, **attributes):
        self.calls = []
        self.__dict__.update(attributes)

    def __getattr__(self, name):
        return lambda *given, **_: self.calls.append((name, *given[1:]))


@pytest.fixture
def supervised(expected, monkeypatch):
    """Return a supervisor with a key, whose run has ended with a result, and its notes."""
    folders = RunFolders(expected.job.folder / "service")
    holding = Holding("r1", 1, "sanitise", {}, 1)
    place = folders.attempt("r1", 1)
    place.parent.mkdir(parents=True)
    job = expected.job.model_copy(
        update={"folder": place, "settings": expected.settings.model_dump()}
    )
    place.mkdir()
    (expected.job.folder / "out").rename(place / "out")
    told = RESULT, {"summary": {"outputs": []}, "artefacts": seal(place / "out")}
    preparation = NotedCalls(folders=folders, settings=lambda _: expected.settings)
    queue = NotedCalls()
    attempt = RunAttempt(holding, ToldProcess(told, expected.began), job)
    supervisor = Supervisor(queue, preparation, 1, 30, [attempt], signer=key_of(1))

    def launch(job, _mark, _output):
        return ToldProcess(answer(job, lambda *_: None), expected.began)

    monkeypatch.setattr(RunProcess, "launch", launch)
    return supervisor, attempt, queue.calls


def test_a_result_is_published_once_it_was_measured_again(supervised):
    supervisor, attempt, calls = supervised
    supervisor._settle(attempt)
    assert [one[0] for one in calls] == ["note_process"]
    assert supervisor.attempts == [attempt]
    supervisor._settle(attempt)
    [told] = [one for one in calls if one[0] == "succeed"]
    assert told[2]["outputs"][0]["signed"] is True
    place = supervisor.folders.result("releases", "r1") / "release" / NAME
    assert read_certificate(place.read_bytes()).signature is not None


def test_raw_rows_are_not_published_by_the_supervisor(supervised):
    supervisor, attempt, calls = supervised
    forge(NotedCalls(job=attempt.job), raw_rows())
    for _ in range(2):
        supervisor._settle(attempt)
    [failed] = [one for one in calls if one[0] == "fail"]
    assert failed[1][0]["code"] == "N022"
    assert not supervisor.folders.result("releases", "r1").exists()


def test_what_awaits_measuring_when_the_service_stops_is_made_again(supervised):
    supervisor, attempt, calls = supervised
    supervisor._settle(attempt, stopped=True)
    assert [one[0] for one in calls] == ["release"]
    assert not supervisor.folders.result("releases", "r1").exists()
