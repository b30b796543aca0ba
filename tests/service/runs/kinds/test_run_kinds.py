import json

import pytest
from building import DATASET, OUTPUT, PEOPLE, people_policy
from modelled import people_table
from pydantic import ValidationError

from policy_engine import certify_output
from policy_engine.errors import AuditError, DataError, PlanError, PolicyError
from policy_engine.service.runs.jobs import KeptText, RunInputs
from policy_engine.service.runs.kinds import KINDS

NAIVE_BAYES = {"name": "GaussianNB"}

OLGA, BOB = "http://example.com/olga", "http://example.com/bob"


@pytest.fixture
def inputs(tmp_path):
    """Return a function that gives a run its files and folders."""

    def give(policy=None, **files):
        folders = {name: tmp_path / name for name in ("out", "kept", "scratch", "attempts")}
        for one in folders.values():
            one.mkdir(exist_ok=True)
        text = KeptText(name="policy", text=policy, issuer=OLGA) if policy else None
        releases = {"run1": tmp_path / "earlier"}
        owners = {DATASET: OLGA}
        return RunInputs(files=files, policy=text, releases=releases, owners=owners, **folders)

    return give


@pytest.fixture
def people_file(tmp_path):
    path = tmp_path / "data1.csv"
    path.write_text(PEOPLE)
    return path


@pytest.fixture
def records(tmp_path):
    return people_table(tmp_path / "data1.csv", rows=400)


def carry_out(kind, given, **settings):
    """Return the summary of a run, and what it shows by name."""
    summary = KINDS[kind].model_validate(settings).carry_out(given)
    return summary, {one.name: one.read_text() for one in given.shown.iterdir()}


def sanitise(inputs, people_file, **settings):
    given = inputs(people_policy(), data1=people_file)
    about = {"policy": "p1", "datasets": {DATASET: "data1"}}
    return given, *carry_out("sanitise", given, **about, **settings)


def test_sanitising_releases_what_the_policy_asks_for(inputs, people_file, tmp_path):
    given, summary, shown = sanitise(inputs, people_file)
    assert summary == {"outputs": [{"asset": OUTPUT, "file": "anonPeople.csv", "rows": 6}]}
    assert [*shown] == ["certificate.jsonld"]
    assert (given.out / "record" / "record.json").is_file()
    given.out.rename(tmp_path / "moved")  # as it is when it is published
    release, record = (tmp_path / "moved" / one for one in ("release", "record/record.json"))
    certificate = certify_output(release, people_policy_file(tmp_path), record=record)
    assert certificate.rows_out == 6


def people_policy_file(folder):
    path = folder / "policy.jsonld"
    path.write_text(people_policy())
    return path


def test_what_other_policies_prohibit_is_not_made(inputs, people_file):
    given = inputs(people_policy(), data1=people_file)
    text = people_policy().replace("x.org/policy", "x.org/other")[:-1]
    other = KeptText(name="other", text=text, issuer=OLGA)
    settings = KINDS["sanitise"](policy="p1", datasets={DATASET: "data1"})
    with pytest.raises(PolicyError):  # it is read, and so has to be a policy
        settings.carry_out(RunInputs(**{**vars(given), "others": (other,)}))


def test_nothing_is_made_of_what_is_anothers(inputs, people_file):
    given = inputs(people_policy(), data1=people_file)
    settings = KINDS["sanitise"](policy="p1", datasets={DATASET: "data1"})
    with pytest.raises(PlanError, match="M014"):
        settings.carry_out(RunInputs(**{**vars(given), "owners": {DATASET: BOB}}))


def test_assessing_attacks_a_release_and_shows_figures_alone(inputs, people_file, tmp_path):
    given, _, _ = sanitise(inputs, people_file)
    given.out.rename(tmp_path / "earlier")
    again = inputs(data1=people_file)
    about = {"release": "run1", "original": "data1", "seconds": 1}
    summary, shown = carry_out("assess", again, **about)
    assert summary == {"rows": 6, "released": 6}
    assert set(shown) == {"disclosure.json", "disclosure.html"}
    assert "Ann" not in "".join(shown.values())


def test_an_output_is_named_among_those_of_its_release_alone(inputs, people_file, tmp_path):
    given, _, _ = sanitise(inputs, people_file)
    given.out.rename(tmp_path / "earlier")
    about = {"release": "run1", "original": "data1", "file": "../record/record.json"}
    with pytest.raises(DataError, match="C002"):
        carry_out("assess", inputs(data1=people_file), **about)


def test_exploring_compares_settings(inputs, people_file):
    about = {"policy": "p1", "datasets": {DATASET: "data1"}, "vary": {"k": [2, 3]}}
    given = inputs(people_policy(), data1=people_file)
    summary, shown = carry_out("explore", given, **about)
    assert summary == {"settings": 2}
    [line] = json.loads(shown["trade-off.json"])["lines"]
    assert [pair[0] for pair in line["points"]] == [2, 3]
    assert [one["setting"] for one in json.loads(shown["exploration.json"])] == [
        {"k": 2},
        {"k": 3},
    ]
    assert all("reason" not in one["outcome"] for one in json.loads(shown["exploration.json"]))


@pytest.mark.nightly
def test_an_attack_on_members_goes_on_from_what_was_kept(inputs, records):
    stages = []
    about = {"data": "data1", "label": "disease", "model": NAIVE_BAYES, "shadows": 2}
    about |= {"attacks": ["loss", "lira"]}
    for _ in range(2):
        given = inputs(data1=records)
        heard = []
        noting = RunInputs(**{**vars(given), "progress": lambda *told, to=heard: to.append(told)})
        _, shown = carry_out("audit-membership", noting, **about)
        assert set(shown) == {"audit.json", "audit.html"}
        stages.append(len(heard))
    assert stages[1] < stages[0]


@pytest.mark.nightly
def test_an_attack_on_attributes_shows_figures_alone(inputs, records):
    about = {"data": "data1", "label": "disease", "secret": "city", "model": NAIVE_BAYES}
    _, shown = carry_out("audit-attribute", inputs(data1=records), **about)
    assert set(shown) == {"attribute.json", "attribute.html"}


def test_an_attack_on_synthetic_rows_shows_figures_alone(inputs, tmp_path):
    names = ("members", "holdout", "synthetic")
    files = {
        name: people_table(tmp_path / f"{name}.csv", rows=120, seed=i)
        for i, name in enumerate(names)
    }
    about = {name: name for name in names} | {"samples": 100, "attacks": ["closest-record"]}
    _, shown = carry_out("audit-generative", inputs(**files), **about)
    assert set(shown) == {"generative.json", "generative.html"}


ABOUT = {
    "sanitise": {"policy": "p1", "datasets": {DATASET: "data1"}},
    "explore": {"policy": "p1", "datasets": {DATASET: "data1"}},
    "assess": {"release": "run1", "original": "data1"},
    "audit-membership": {"data": "data1"},
    "audit-attribute": {"data": "data1", "label": "a", "secret": "b"},
    "audit-generative": {"members": "data1", "holdout": "data2"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_settings_survive_being_stored(kind):
    settings = KINDS[kind].model_validate(ABOUT[kind])
    stored = json.loads(json.dumps(settings.model_dump(mode="json")))
    assert KINDS[kind].model_validate(stored) == settings


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["../data1", "/etc/passwd", "", "a" * 65, "A"])
def test_what_a_run_is_about_is_never_a_path(kind, name):
    for key, value in ABOUT[kind].items():
        if key not in ("label", "secret"):
            odd = {DATASET: name} if isinstance(value, dict) else name
            with pytest.raises(ValidationError):
                KINDS[kind].model_validate({**ABOUT[kind], key: odd})


@pytest.mark.parametrize("kind", KINDS)
def test_settings_that_are_not_known_are_refused(kind):
    with pytest.raises(ValidationError):
        KINDS[kind].model_validate({**ABOUT[kind], "report": "elsewhere"})


@pytest.fixture
def fitted_file(tmp_path):
    """A classifier that was fitted on some records, in a file."""
    import numpy as np
    from model_files import skops
    from sklearn.linear_model import LogisticRegression

    records = np.array([(n % 7, n % 3) for n in range(100)], dtype=float)
    path = tmp_path / "fitted1.skops"
    path.write_bytes(skops(LogisticRegression().fit(records, np.arange(100) % 2)))
    return path


@pytest.fixture
def marked(tmp_path):
    """Records of whom half were those of the model."""
    rows = "".join(f"{n % 7},{n % 3},{n % 2},{n < 100:d}\n" for n in range(200))
    path = tmp_path / "data1.csv"
    path.write_text("a,b,label,member\n" + rows)
    return path


@pytest.mark.nightly
def test_a_model_that_was_uploaded_is_attacked_as_it_is(inputs, fitted_file, marked):
    given = inputs(data1=marked, fitted1=fitted_file)
    about = {"data": "data1", "label": "label", "members": "member", "attacks": ["loss"]}
    _, shown = carry_out("audit-membership", given, fitted="fitted1", **about)
    assert json.loads(shown["audit.json"])["fitted"]["kind"] == "skops"


def test_settings_of_fitted_models_need_one(inputs, marked):
    given = inputs(data1=marked)
    with pytest.raises(AuditError, match="A014"):
        carry_out("audit-membership", given, data="data1", label="label", retrain=True)


def test_a_description_that_was_uploaded_is_trained(inputs, records, tmp_path):
    path = tmp_path / "model1.json"
    path.write_text(json.dumps(NAIVE_BAYES))
    given = inputs(data1=records, model1=path)
    about = {"data": "data1", "label": "disease", "attacks": ["loss"], "shadows": 2}
    _, shown = carry_out("audit-membership", given, description="model1", **about)
    assert "GaussianNB" in shown["audit.json"]
