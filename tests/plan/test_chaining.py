"""What is made of a release takes its cells for what they stand for, or is refused."""

import json

import numpy as np
import pyarrow as pa
import pytest
from building import DATASET, OUTPUT, PEOPLE, anonymize, column, permission, policy
from modelled import people_table, train, use

from policy_engine import apply_policy
from policy_engine.api.exploring import explore_policy
from policy_engine.api.planning import estimate_policy, plan_policy
from policy_engine.audits.membership.releases import CoveredValues, fit_for_release, spread_cells
from policy_engine.certificate.beside import load_certificate
from policy_engine.cli.answers import release_warnings
from policy_engine.errors import AuditError, DataError, PlanError
from policy_engine.plan.chaining import looks_generalised
from policy_engine.plan.lineage import Generalised

AGAIN, THRICE = "http://x.org/again", "http://x.org/thrice"


def step(target=DATASET, output=OUTPUT, method="k-anonymity", **roles):
    """Return a policy that anonymises a target, its columns named as those of the people."""
    bounds = {"k": 2} | ({"l": 2} if method == "l-diversity" else {})
    action = anonymize(method=method, **bounds, **roles)
    action = json.loads(json.dumps(action).replace(f"{DATASET}/", f"{target}/"))
    rule = permission(action=action, target=target, output=output)
    return policy([rule], uid=f"{output}#policy")


@pytest.fixture
def people(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE)
    return tmp_path / "people.csv"


def released(people, name="one", target=DATASET, output=OUTPUT, cells="text", **roles):
    """Return what was made of a file, beside its certificate."""
    folder = people.parent / name
    return apply_policy(step(target, output, **roles), {target: people}, folder, cells=cells).path


FIRST = {"quasi": ["age", "city"], "insensitive": ["disease", "phone"]}


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"quasi": ["age", "disease"]}, "'age' of .* was generalised: .* generalised again"),
        ({"quasi": ["disease"], "privacyUnit": "city"}, "'city' of .* taken for persons"),
        (
            {"quasi": ["disease"], "sensitive": ["city"], "method": "l-diversity"},
            "'city' of .* counted as values",
        ),
    ],
)
def test_generalised_columns_are_not_read_as_values(people, roles, message):
    made = released(people, **FIRST)
    again = step(OUTPUT, AGAIN, **roles)
    for done in (apply_policy, plan_policy, lambda *given: explore_policy(*given, {"k": (2,)})):
        with pytest.raises(PlanError, match=f"M015 The column {message}"):
            done(again, {OUTPUT: made})


@pytest.mark.parametrize(
    ("guiding", "message"),
    [
        ({"label": "city"}, "'city' of .* was generalised: .* what classes are cut for"),
        ({"label": "disease", "guide": "age"}, "'age' of .* was generalised: .* are cut by"),
    ],
)
def test_classes_are_neither_cut_for_cells_nor_by_them(people, guiding, message):
    made = released(people, **FIRST)
    named = {name: f"{OUTPUT}/{column}" for name, column in guiding.items()}
    again = step(OUTPUT, AGAIN, algorithm="accuracy-guided", quasi=["phone"], **named)
    with pytest.raises(PlanError, match=f"M015 The column {message}"):
        plan_policy(again, {OUTPUT: made})


@pytest.mark.parametrize(
    "roles",
    [
        {"quasi": ["disease"], "insensitive": ["age", "city"]},
        {"quasi": ["disease"], "identifier": ["age"], "redact": ["city"]},
        {"quasi": ["disease"], "sensitive": ["age"]},  # k-anonymity counts no sensitive values
        {"quasi": ["disease"], "sensitive": ["phone"], "method": "l-diversity"},
    ],
)
def test_what_a_release_kept_is_generalised_as_usual(people, roles):
    made = released(people, **FIRST)
    assert apply_policy(step(OUTPUT, AGAIN, **roles), {OUTPUT: made}).certificate.holds


def test_how_a_column_was_generalised_is_said(people):
    interval = [column("age", generalization="interval"), "city"]
    made = released(people, **{**FIRST, "quasi": interval})
    with pytest.raises(PlanError, match=r"'age' of .* was generalised by 'interval'"):
        apply_policy(step(OUTPUT, AGAIN, quasi=["age"]), {OUTPUT: made})


@pytest.mark.parametrize("end", ["age_low", "age_high"])
def test_the_ends_of_ranges_are_not_read_as_values(people, end):
    made = released(people, cells="bounds", **FIRST)
    with pytest.raises(PlanError, match=f"M015 The column '{end}'"):
        apply_policy(step(OUTPUT, AGAIN, quasi=[end]), {OUTPUT: made})


def test_representatives_are_values(people):
    made = released(people, **{**FIRST, "quasi": [column("age", generalization="mean"), "city"]})
    release = apply_policy(step(OUTPUT, AGAIN, quasi=["age"]), {OUTPUT: made})
    assert release.certificate.upstream[0].generalised[0].name == "city"


def test_what_was_generalised_stays_so_in_later_releases(people):
    made = released(people, **FIRST)
    again = released(made, "two", OUTPUT, AGAIN, quasi=["disease"], insensitive=["age", "city"])
    with pytest.raises(PlanError, match=r"'age' of .*again was generalised"):
        apply_policy(step(AGAIN, THRICE, quasi=["age"]), {AGAIN: again})
    [told] = load_certificate(again.parent).upstream
    assert [one.name for one in told.generalised] == ["age", "city"]


# -- models of what was anonymised before ---------------------------------------------------------


def training(features=("age", "city", "dose"), model="GaussianNB", label="disease"):
    """Return a policy of its own that trains on a release."""
    named = [f"{OUTPUT}/{name}" for name in features]
    rule = train(model, OUTPUT, feature=named, label=f"{OUTPUT}/{label}")
    return policy([rule, use()], uid="http://x.org/second")


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    table = people_table(tmp_path_factory.mktemp("people") / "people.csv")
    first, *rows = table.read_text().splitlines()
    dosed = [f"{row},{number % 97},x" for number, row in enumerate(rows)]
    table.write_text("\n".join([f"{first},dose,land", *dosed]) + "\n")
    return table


def anonymised(many, folder, quasi, k=5, **more):
    """Return a release of the table of many people."""
    kept = ["disease", "dose"]
    action = anonymize(
        method="k-anonymity", k=k, identifier=["name"], quasi=quasi, insensitive=kept
    )
    text = policy([permission(action=action, output=OUTPUT)], uid="http://x.org/first")
    return apply_policy(text, {DATASET: many}, folder / "safe.csv", **more).path


def encoded(release):
    columns = json.loads((release.path / "encoding.json").read_text())["columns"]
    return {one["name"]: one for one in columns}


def test_a_model_of_a_release_learns_what_its_cells_stand_for(many, tmp_path):
    made = anonymised(many, tmp_path, ["age", column("city", weight=0.01)], k=20)
    assert {"[", "{"} <= set(made.read_text())
    text = training()
    plan = plan_policy(text, {OUTPUT: made})
    assert [one.name for one in plan.cells_learnt] == ["age", "city"]
    release = apply_policy(text, {OUTPUT: made}, tmp_path / "model", seed=1)
    found = encoded(release)
    assert found["age"]["kind"] == "levels"
    assert len(found["age"]["levels"]) > 2
    assert found["city"]["values"] == ["Bern", "Nice", "Oslo", "Rome"]
    assert [one.name for one in release.certificate.upstream[0].generalised] == ["age", "city"]
    assert release.certificate.models[0].on_others.low > 0.51  # of two classes, alike
    assert not any("not shown to have learnt" in said for said in release_warnings(release))


@pytest.mark.parametrize(
    ("cells", "leaves", "features"),
    [
        (["[20 - 40]", "20", "40"], {}, [0.5, 0, 1]),
        (["{a, b}", "a", "b"], {}, [[0.5, 0.5], [1, 0], [0, 1]]),
        (["South", "Rome", "Nice"], {"South": ("Nice", "Rome")}, [[0.5, 0.5], [0, 1], [1, 0]]),
        (["12*", "123", "1**"], {}, np.eye(3)[[1, 2, 0]]),
        (["*", "a", "b"], {}, [[0.5, 0.5], [1, 0], [0, 1]]),
        (["*", "20", "40"], {}, [0.5, 0, 1]),
    ],
)
def test_what_features_the_cells_of_a_release_are(cells, leaves, features):
    table = pa.table({"cell": cells * 100, "label": ["a", "b"] * 150})
    covered = CoveredValues({"cell": leaves}, {})
    values = spread_cells(table, [Generalised(name="cell")], covered)
    found = fit_for_release(values, "label", 10).records(table, "t", covered.leaves).features[:3]
    scaled = (found - found.min()) / np.ptp(found)
    assert scaled == pytest.approx(np.array(features).reshape(3, -1))


PLACES = "Rome,South\nNice,South\nOslo,North\nBern,North\n"


def test_a_plan_knows_cells_by_a_certificate_that_lies_elsewhere(many, tmp_path):
    made = anonymised(many, tmp_path, ["age"])
    alone, told = made.rename(tmp_path / "alone.csv"), [tmp_path / "certificate.jsonld"]
    assert plan_policy(training(["age"]), {OUTPUT: alone}).cells_learnt == ()
    plan = plan_policy(training(["age"]), {OUTPUT: alone}, certificates=told)
    assert [one.name for one in plan.cells_learnt] == ["age"]
    assert estimate_policy(training(["age", "dose"]), {OUTPUT: alone}, certificates=told).models


def test_a_model_of_nodes_needs_the_taxonomy_that_they_are_of(many, tmp_path):
    city = column("city", generalization="taxonomy", taxonomy="places")
    (tmp_path / "places.csv").write_text(PLACES)
    (tmp_path / "other.csv").write_text("Lima,South\nOslo,North\n")
    known = {"places": tmp_path / "places.csv"}
    made = anonymised(many, tmp_path, ["age", city], k=60, taxonomies=known)
    with pytest.raises(DataError, match="C012 No taxonomy is given for 'places'"):
        plan_policy(training(), {OUTPUT: made})
    other = {"places": tmp_path / "other.csv"}
    with pytest.raises(
        DataError, match=r"R007 .* of 'city' are not nodes of the taxonomy 'places'"
    ):
        apply_policy(training(), {OUTPUT: made}, tmp_path / "model", seed=1, taxonomies=other)
    release = apply_policy(training(), {OUTPUT: made}, tmp_path / "model", seed=1, taxonomies=known)
    assert encoded(release)["city"]["values"] == ["Bern", "Nice", "Oslo", "Rome"]


def test_generalised_labels_are_not_predicted(many, tmp_path):
    made = anonymised(many, tmp_path, ["age", "city"])
    with pytest.raises(PlanError, match=r"M015 The column 'city' of .* not to be predicted"):
        plan_policy(training(["age"], label="city"), {OUTPUT: made})


def test_periods_of_calendars_are_not_learnt_from(people):
    born = "".join(
        f"{row},{'born' if not n else f'19{50 + n}-01-01'}\n"
        for n, row in enumerate(PEOPLE.splitlines())
    )
    people.write_text(born)
    made = released(
        people, quasi=[column("born", generalization="calendar")], insensitive=["disease"]
    )
    with pytest.raises(PlanError, match=r"M015 The column 'born' of .* 'calendar': .* learnt from"):
        plan_policy(training(["born"]), {OUTPUT: made})


# -- models that learn nothing --------------------------------------------------------------------


def test_a_model_whose_features_are_all_the_same_is_not_made(many, tmp_path):
    age = column("age", generalization="prefix")  # all of it is masked
    how = {"algorithm": "full-domain", "sensitive": ["disease"]}
    action = anonymize(method="k-anonymity", k=40, quasi=[age], **how)
    text = policy([permission(action=action, output=OUTPUT), train(), use()])
    with pytest.raises(AuditError, match=r"A022 All 11\d records that the model learns"):
        apply_policy(text, {DATASET: many}, tmp_path / "model", seed=1)


def test_a_feature_that_says_nothing_is_told(many, tmp_path):
    features = [f"{DATASET}/{name}" for name in ("age", "land")]
    text = policy([train("GaussianNB", DATASET, feature=features), use()])
    release = apply_policy(text, {DATASET: many}, tmp_path / "model", seed=1)
    [report] = release.release.reports
    assert any("learns nothing from 'land':" in said for said in report.warnings)


def test_a_model_that_is_no_better_than_the_commonest_class_is_told(many, tmp_path):
    text = policy([train("GaussianNB", DATASET, feature=[f"{DATASET}/dose"]), use()])
    release = apply_policy(text, {DATASET: many}, tmp_path / "model", seed=4)
    assert any("not shown to have learnt anything" in said for said in release_warnings(release))


# -- without a certificate ------------------------------------------------------------------------


@pytest.mark.parametrize(("quasi", "is_told"), [(["age"], True), (["disease"], False)])
def test_cells_of_an_unknown_release_are_doubted(people, quasi, is_told):
    made = released(people, **FIRST)
    alone = made.rename(people.parent / "alone.csv")
    release = apply_policy(step(OUTPUT, AGAIN, quasi=quasi), {OUTPUT: alone})
    assert any("'age' are ranges or sets" in said for said in release.release.doubts) is is_told
    assert release_warnings(release) == list(release.release.doubts)


@pytest.mark.parametrize(
    ("texts", "is_told"),
    [
        (["[20 - 30]", "[31 - 40]", "41"], True),
        (["{a, b}", "c", "", None], True),
        (["[20 - 20]", "{a", "[1, 2]", "20-30"], False),
        (["{a, b}", *"cdefg"], False),
        ([], False),
    ],
)
def test_what_looks_like_the_cells_of_a_release(texts, is_told):
    assert looks_generalised(texts) is is_told
