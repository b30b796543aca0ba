import csv
import io
import json
import subprocess
import sys
import time
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from audits_made import attack, audit, point, tradeoff
from building import ANALYST, permission, policy
from rich.console import Console
from typer.testing import CliRunner

from policy_engine.api import auditing
from policy_engine.audits.membership.binning import bins_of, describe_bins
from policy_engine.audits.membership.over_targets import (
    OverTargets,
    attack_over_targets,
    spread_of,
)
from policy_engine.audits.membership.result import MembershipAudit
from policy_engine.audits.membership.settings import Settings
from policy_engine.audits.reports import audit_folder
from policy_engine.cli import answers, app
from policy_engine.cli.tables.audits import (
    attacks_table,
    marks_lines,
    targets_table,
    tradeoff_table,
)
from policy_engine.cli.tables.tables import print_fitting
from policy_engine.errors import AuditError, DataError, OutputError, RequestError
from policy_engine.methods.audits.classifier import Estimator, Network

MODEL = Estimator(name="GaussianNB")


def people(rows=240):
    random = np.random.default_rng(3)
    ill = np.arange(rows) % 2
    return pa.table(
        {
            "age": (random.normal(size=rows) + ill).round(3),
            "weight": random.normal(size=rows).round(3),
            "city": np.where(np.arange(rows) % 3 > 0, "Rome", "Oslo"),
            "trained": np.arange(rows) % 4 // 2,
            "ill": np.where(ill, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with records in a CSV file, a model, and the predictions of one."""
    folder = tmp_path_factory.mktemp("auditing")
    pyarrow.csv.write_csv(people().drop_columns(["trained"]), folder / "people.csv")
    (folder / "model.json").write_text(MODEL.model_dump_json())
    sure = np.random.default_rng(1).integers(32, 65, 80) / 64
    rows = {"p0": 1 - sure, "p1": sure, "label": np.ones(80, int), "member": np.arange(80) % 2}
    pyarrow.csv.write_csv(pa.table(rows), folder / "said.csv")
    return folder


@pytest.fixture(scope="module")
def audited(files):
    """The answer of a small audit with a folder, and the folder."""
    out = files / "out"
    arguments = ["--attacks", "loss,lira", "--shadows", "2", "--slice", "city", "--seed", "5"]
    return run(files, *arguments, "--out", str(out)), out


def run(files, *arguments, data="people.csv"):
    model = ["--model", str(files / "model.json"), "--label", "ill"]
    given = ["audit", "membership", "--data", str(files / data), *model]
    return CliRunner().invoke(app, [*given, *arguments])


def figures_of(text):
    """All of an audit but how long it took."""
    found = json.loads(text)
    assert found.pop("timings")["seconds"] > 0
    return found


def refused(*arguments):
    error = CliRunner().invoke(app, ["audit", *map(str, arguments)]).exception
    assert isinstance(error, (AuditError, DataError, OutputError, RequestError)), error
    assert error.exit_code == 2
    return str(error)


@pytest.mark.nightly
def test_the_verdict_comes_first_then_the_attacks_then_the_files(audited):
    answer, _ = audited
    assert answer.exit_code == 0, answer.exception
    first, *others = answer.stdout.splitlines()
    assert first.startswith(("Whether the strongest", "Given a model's answer about a record"))
    assert "of 4 attacks" in first
    assert [one for one in others if one.startswith("lira-online ")]
    assert others[-1].startswith("written: ")


def test_the_folder_holds_the_figures_the_page_and_the_rows(audited):
    _, out = audited
    found = MembershipAudit.model_validate_json((out / "audit.json").read_bytes())
    assert {one.attack for one in found.attacks} == {
        *("loss", "lira-online", "lira-offline", "label-only"),
    }
    assert found.architecture == MODEL
    assert [one.name for one in found.encoding] == ["age", "weight", "city"]
    assert (out / "audit.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in out.iterdir()) == [
        *("audit.html", "audit.json", "cache", "manifest.json", "manifest.nonce"),
        *("scores.csv", "splits.npz"),
    ]


def test_the_rows_of_every_model_are_kept(audited):
    with np.load(audited[1] / "splits.npz") as splits:
        train, test = splits["target_train"], splits["target_test"]
        assert len(train) == len(test) == 60
        judged = np.sort(np.concatenate([train, test]))
        assert splits["online_train"].shape == (2, 60)
        assert np.sort(splits["online_train"].ravel()).tolist() == judged.tolist()
        assert splits["shadow_train"].size == splits["further_train"].size == 0
        assert (splits["online_seeds"].shape, splits["shadow_seeds"].shape) == ((2,), (0,))


@pytest.mark.nightly
def test_the_same_audit_gives_the_same_figures_with_and_without_its_cache(files, audited):
    _, out = audited
    before = figures_of((out / "audit.json").read_bytes())
    kept = len(list((out / "cache").iterdir()))
    arguments = ["--attacks", "loss,lira", "--shadows", "2", "--slice", "city", "--seed", "5"]
    again = run(files, *arguments, "--out", str(out), "--format", "json")
    assert figures_of((out / "audit.json").read_bytes()) == before
    assert len(list((out / "cache").iterdir())) == kept == 3
    assert figures_of(again.stdout) == before
    other = run(files, *arguments, "--format", "json")
    assert figures_of(other.stdout) == before


def test_the_scores_of_records_are_for_their_owner_alone(audited):
    _, out = audited
    kept = [out / "scores.csv", out / "splits.npz", *(out / "cache").iterdir()]
    assert {file.stat().st_mode & 0o777 for file in kept} == {0o600}
    with (out / "scores.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = json.loads((out / "audit.json").read_bytes())
    assert list(rows[0])[:3] == ["row", "member", found["strongest"]]
    assert [one["member"] for one in rows] == ["1"] * 60 + ["0"] * 60
    with np.load(out / "splits.npz") as splits:
        members = {int(one["row"]) for one in rows if one["member"] == "1"}
        assert members == set(splits["target_train"].tolist())
    called = sum(int(one["loss calls"]) for one in rows if one["member"] == "1")
    loss = next(one for one in found["attacks"] if one["attack"] == "loss")
    assert called / 60 == pytest.approx(loss["figures"]["recall"]["value"])


def test_a_pipeline_fails_above_a_bound(files):
    arguments = ["--attacks", "loss", "--shadows", "2"]
    assert run(files, *arguments, "--fail-above", "1").exit_code == 0
    assert run(files, *arguments, "--fail-above", "0.1").exit_code == 1


def test_a_pipeline_fails_where_scores_tell_members_the_wrong_way(tmp_path):
    members = "".join(f"1,1,0.6{row:02}\n" for row in range(60))
    others = "".join(f"1,0,0.8{row:02}\n" for row in range(60))
    (tmp_path / "turned.csv").write_text(f"label,member,p\n{members}{others}")
    arguments = ["audit", "membership", "--predictions", str(tmp_path / "turned.csv")]
    answer = CliRunner().invoke(app, [*arguments, "--attacks", "loss", "--fail-above", "0.6"])
    assert answer.exit_code == 1, answer.output


def test_what_is_found_says_who_made_it(files, tmp_path):
    said = str(files / "said.csv")
    arguments = ["audit", "membership", "--predictions", said, "--attacks", "loss"]
    owner = CliRunner().invoke(app, [*arguments, "--format", "json"])
    assert json.loads(owner.stdout)["made_by"] == "owner"
    rule = permission(action="pe:train", purpose=None, uid="http://x.org/train")
    (tmp_path / "train.jsonld").write_text(policy([rule]))
    acting = ["--as", ANALYST, "--policy", str(tmp_path / "train.jsonld"), "--out"]
    made = CliRunner().invoke(app, [*arguments, *acting, str(tmp_path / "out")])
    assert f"made by: {ANALYST}" in made.stdout
    found = json.loads((tmp_path / "out/audit.json").read_text())
    by = {"party": ANALYST, "purpose": "", "rules": ["http://x.org/train"]}
    assert found["made_by"] == by


@pytest.mark.nightly
def test_predictions_alone_are_audited(files, tmp_path):
    arguments = ["audit", "membership", "--predictions", str(files / "said.csv")]
    answer = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "new")])
    assert answer.exit_code == 0, answer.exception
    found = json.loads((tmp_path / "new" / "audit.json").read_bytes())
    assert found["target_train"]["records"] == found["target_test"]["records"] == 40
    assert not (tmp_path / "new" / "splits.npz").exists()


@pytest.mark.nightly
def test_a_column_may_say_who_was_trained_on(tmp_path):
    found = auditing.audit_membership(
        people(),
        "ill",
        MODEL,
        settings=auditing.Settings(attacks=("loss",), shadows=2),
        members="trained",
        out=tmp_path,
    )
    with np.load(tmp_path / "splits.npz") as splits:
        inside = people().column("trained").to_numpy() == 1
        assert splits["target_train"].tolist() == np.flatnonzero(inside).tolist()
    assert "trained" not in [one.name for one in found.encoding]


@pytest.mark.nightly
def test_an_array_may_say_who_was_trained_on(tmp_path):
    random = np.random.default_rng(0)
    inside = np.arange(120) < 30
    arrays = {"features": random.normal(size=(120, 3)), "labels": np.arange(120) % 2}
    np.savez(tmp_path / "some.npz", **arrays, inside=inside)
    settings = auditing.Settings(attacks=("loss",), shadows=2)
    found = auditing.audit_membership(
        tmp_path / "some.npz", "", MODEL, settings=settings, members="inside"
    )
    assert found.target_train.records == found.target_test.records == 30
    with pytest.raises(AuditError, match=r"A011 .*no 'insid'.*Did you mean 'inside'"):
        auditing.audit_membership(tmp_path / "some.npz", members="insid")


def test_without_a_model_a_small_network_is_trained(monkeypatch):
    asked = []

    def attacked(records, learner, _settings, *, architecture, **_):
        asked.append((architecture, learner.network, len(records)))
        return SimpleNamespace(report=audit(), scores=None)

    monkeypatch.setattr(auditing, "examine", attacked)
    auditing.audit_membership(people(), "ill")
    assert asked == [(Network(), Network(), 240)]


def test_a_failed_audit_leaves_no_figures(files, tmp_path, monkeypatch):
    def broken(*_):
        raise OutputError.of("O002", "No space is left.")

    (tmp_path / "audit.json").write_text("of an earlier audit")
    monkeypatch.setattr(audit_folder, "write_audit_report", broken)
    with pytest.raises(OutputError):
        auditing.audit_predictions_file(files / "said.csv", out=tmp_path)
    assert not (tmp_path / "audit.json").exists()


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "U001 Give either --data"),
        (["--data", "a.csv", "--predictions", "b.csv"], "U001 Give either --data"),
        (["--predictions", "b.csv", "--label", "ill"], "U001 --label is for --data"),
        (["--data", "nowhere.csv"], "C002"),
        (["--data", "people.csv", "--attacks", "losss"], "A012 The attack 'losss' is not known"),
        (["--data", "people.csv", "--label", "il"], "A002"),
        (["--data", "people.csv", "--model", "nowhere.json"], "C002"),
        (["--data", "people.csv", "--model", "people.csv"], "A009 The text is not JSON"),
        (["--data", "people.csv", "--members", "cit"], "A011 There is no 'cit'"),
        (["--data", "people.csv", "--members", "city"], "A011 'city' is 1 or 0, true or false"),
        (["--data", "people.csv", "--out", "people.csv"], "O002 The folder cannot be made"),
        (["--data", "people.csv", "--local-epsilon", "0"], "A006"),
    ],
)
def test_bad_input_is_told_with_its_code(files, monkeypatch, arguments, says):
    monkeypatch.chdir(files)
    assert says in refused("membership", *arguments)


def test_an_interrupted_audit_says_what_is_kept(files, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(auditing, "examine", interrupted)
    answer = run(files, "--attacks", "loss", "--out", str(files / "half"))
    assert answer.exit_code == 130
    assert f"interrupted; {files / 'half'} keeps no model's words" in answer.stderr
    (files / "half" / "cache").mkdir()
    (files / "half" / "cache" / "model.npz").touch()
    answer = run(files, "--attacks", "loss", "--out", str(files / "half"))
    assert f"interrupted; {files / 'half' / 'cache'} keeps the answers of models" in answer.stderr
    assert run(files, "--attacks", "loss").stderr == "interrupted; nothing was written\n"


def test_a_trade_off_is_over_networks(files):
    model = str(files / "model.json")
    data = str(files / "people.csv")
    said = refused("tradeoff", "--data", data, "--model", model, "--attack", "loss")
    assert "A009 A trade-off needs the training of a network. Given: GaussianNB." in said


@pytest.mark.nightly
def test_a_trade_off_is_a_table_two_pictures_and_figures(files, monkeypatch):
    made = tradeoff(point("central", 2.74, phi_precision=1.25), point("local", 600.0))
    asked = []

    def traded(_records, network, settings, grid, **_):
        asked.append((network, settings.attacks, grid.noise_multipliers, grid.local_epsilons))
        return made

    monkeypatch.setattr("policy_engine.audits.membership.tradeoff.tradeoff", traded)
    out = files / "tradeoff"
    arguments = ["audit", "tradeoff", "--data", str(files / "people.csv"), "--attack", "loss"]
    answer = CliRunner().invoke(
        app, [*arguments, "--noise", "2,4", "--local-epsilon", "", "--out", str(out)]
    )
    assert answer.exit_code == 0, answer.exception
    assert asked == [(Network(), ("loss",), (2, 4), ())]
    assert "central    2.74    2.74     70.0%   90.0% " in answer.stdout
    assert sorted(path.name for path in out.iterdir()) == [
        *("manifest.json", "manifest.nonce", "tradeoff.json", "tradeoff.png", "tradeoff.svg"),
    ]
    by_owner = made.model_copy(update={"made_by": "owner"})
    assert json.loads((out / "tradeoff.json").read_bytes()) == by_owner.model_dump(mode="json")


def test_numbers_of_many_values_are_answered_in_bins_of_which_is_told(monkeypatch, tmp_path):
    asked = []

    def traded(records, _, settings, *__, **___):
        asked.append((settings.bins, settings.ranges))
        said = tuple(describe_bins(records, bins_of(records, settings.bins, settings.ranges)))
        return tradeoff().model_copy(update={"bins": said})

    monkeypatch.setattr("policy_engine.audits.membership.tradeoff.tradeoff", traded)
    pyarrow.csv.write_csv(people(2_000), tmp_path / "people.csv")
    arguments = ["audit", "tradeoff", "--data", str(tmp_path / "people.csv"), "--label", "ill"]
    run = CliRunner().invoke(app, [*arguments, "--bins", "7", "--range", "weight=0:200"])
    assert run.exit_code == 0, run.output
    assert asked == [(7, (("weight", 0.0, 200.0),))]
    said = " ".join(run.stdout.split())
    assert (
        "Numbers of 'weight' were answered as the middle of one of 7 bins, between the ends" in said
    )
    assert "--range takes COLUMN=LOW:HIGH" in refused(*arguments[1:], "--range", "weight")


def test_ranges_of_what_is_no_column_of_numbers_are_told_before_the_training(monkeypatch):
    def trained(*_, **__):
        raise AssertionError

    monkeypatch.setattr("policy_engine.audits.membership.tradeoff.tradeoff", trained)
    settings = Settings(ranges=(("weights", 0.0, 1.0),))
    with pytest.raises(AuditError, match=r"A006 There is no numeric column 'weights'"):
        auditing.audit_tradeoff(people(2_000), "ill", settings=settings)


@pytest.mark.parametrize("noise", ["-1", "2,nan", "inf"])
def test_a_multiplier_that_is_none_is_refused_before_the_training(files, noise):
    said = refused("tradeoff", "--data", files / "people.csv", "--noise", noise)
    assert "A006 Noise multipliers must be 0 or more. Given: " in said


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("time_left", [True, False])
def test_a_terminal_is_told_how_long_it_takes(monkeypatch, time_left):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with answers.progress_bar(time_left=time_left) as progress:
        for done in (0, 50, 100, 150, 200):
            progress("models", done, 400)
        time.sleep(0.3)  # it is drawn ten times a second
        progress("attacks", 1, 1)
    assert "models" in screen.getvalue()
    assert ("1 s left" in screen.getvalue()) is time_left


def test_nothing_is_told_at_once_when_piped(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with answers.progress_bar(time_left=True) as progress:
        progress("models", 1, 4)
    assert not sys.stderr.getvalue()


def test_a_line_that_says_nothing_new_comes_every_minute_when_piped():
    lines, printed = answers._Lines(time_left=False), []
    with patch.object(answers.typer, "echo", lambda line, **_: printed.append(line)):
        for done in (50, 51, 60, 60, 60, 60, 60, 60, 60):
            lines.tell("models", done, 400)
            lines.say()
    assert printed == ["models 12% ...", "models 13% ...", "models 15% ...", "models 15% ..."]


def test_a_line_comes_every_ten_seconds_when_piped(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(answers, "_PATIENCE", 0.01)
    monkeypatch.setattr(answers, "_BEATS", 1)
    with answers.progress_bar(time_left=True) as progress:
        progress("models", 50, 400)
        progress("models", 100, 400)
        progress("models, epsilon 1.00 spent", 200, 400)
        limit = time.monotonic() + 20
        while sys.stderr.getvalue().count("\n") < 3 and time.monotonic() < limit:
            time.sleep(0.005)
    lines = sys.stderr.getvalue().splitlines()
    assert all(line.startswith("models, epsilon 1.00 spent 50%, about ") for line in lines[1:])
    assert all(line.endswith(" s left ...") for line in lines[1:])


def test_how_long_it_takes_is_foreseen_from_the_second_step_on(monkeypatch):
    """The first of four models takes a minute, compiling; the second one second."""
    clock = iter([60.0, 61.0])
    monkeypatch.setattr(answers, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    pace, said = answers._Pace(), []
    for done in (0, 50, 100, 150, 200):
        pace.tell(done, 400)
        said.append(pace.left(done, 400))
    assert said == ["", "", "", "", "about 2 s left"]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (80, "80 s"), (100, "2 min"), (7200, "2.0 h")]
)
def test_the_time_that_is_left_is_told_as_exactly_as_it_is_known(seconds, words):
    assert answers._duration(seconds) == words


def test_the_commands_load_nothing_heavy_before_they_run():
    heavy = ("numpy", "pyarrow", "matplotlib", "sklearn", "tensorflow", "pandas", "pydantic")
    code = f"import policy_engine.cli.auditing, sys; print([*filter(sys.modules.get, {heavy})])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_the_table_fits_a_terminal_and_loses_no_digit(audited):
    _, out = audited
    found = MembershipAudit.model_validate_json((out / "audit.json").read_bytes())
    narrow = Console(width=80, file=io.StringIO(), highlight=False)
    narrow.print(attacks_table(found))
    text = narrow.file.getvalue()
    assert "…" not in text
    for one in found.attacks:
        assert f" {one.figures.auc.value:.3f} " in text


def printed(table, width):
    screen = Console(width=width, file=io.StringIO(), highlight=False)
    print_fitting(screen, table)
    return screen.file.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80])
def test_tables_fit_the_terminal_with_the_names_of_attacks_whole(width):
    attacks = [attack("label-only-boundary"), attack("rmia")]
    over = OverTargets(
        targets=2,
        trained_for_it=1,
        train=spread_of([0.9, 0.8]),
        test=spread_of([0.7, 0.6]),
        attacks=[attack_over_targets(one.attack, [one.figures, one.figures]) for one in attacks],
    )
    drawn = printed(attacks_table(audit(attacks=attacks, strongest="rmia")), width)
    spread = printed(targets_table(over), width)
    private = printed(tradeoff_table(tradeoff(point(), point("central", 2.0))), width)
    assert "label-only-boundary" in drawn
    assert "label-only-boundary" in spread
    assert "central" in private
    for text in (drawn, spread, private):
        assert max(map(len, text.splitlines())) <= width
        assert "\N{HORIZONTAL ELLIPSIS}" not in text
    is_drawn = ["\N{BOX DRAWINGS LIGHT HORIZONTAL}" in text for text in (drawn, spread, private)]
    assert is_drawn == [width == 80] * 3


def test_what_is_reached_by_a_coin_is_told_below_the_table():
    assert list(marks_lines(audit())) == []
    one = attack("rmia")
    rates = tuple(at.model_copy(update={"randomised": True}) for at in one.figures.tpr_at_fpr)
    tied = one.model_copy(update={"figures": one.figures.model_copy(update={"tpr_at_fpr": rates})})
    [said] = marks_lines(audit(attacks=[tied], strongest="rmia"))
    assert said.startswith("by coin: too many records share the highest scores")


@pytest.mark.nightly
def test_flags_are_shown_without_a_value():
    disclosing, groups = ["audit", "disclosure"], ([], ["audit"])
    for command in (["audit", "membership"], disclosing, ["apply"], ["query"], *groups):
        help_text = CliRunner().invoke(app, [*command, "--help"]).output
        assert "--help" in help_text
        assert "<bool>" not in help_text


def test_a_misspelt_attack_is_told_what_is_meant(files):
    said = refused("tradeoff", "--data", files / "people.csv", "--attack", "lirra")
    assert "A012 The attack 'lirra' is not known." in said
    assert "Did you mean 'lira'?" in said


def test_a_quantity_is_no_label(files):
    values = [f"{number % 60 if number < 600 else number},{number}" for number in range(620)]
    (files / "quantity.csv").write_text("\n".join(["age,other", *values]))
    said = refused(
        *("membership", "--data", files / "quantity.csv", "--label", "age", "--attacks", "rmia")
    )
    assert said.count("A001") == 1
    assert "20 of 80 classes have too few records. A label is a class of many records" in said
