"""What a fitted model is compared with: models retrained, by a recipe, references, views."""

import json
import pickle

import numpy as np
import pyarrow as pa
import pytest
from fitted_faults import Memory
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

from policy_engine import FittedModel, audit_membership
from policy_engine.audits.membership.fitted.boosters import LightgbmModel
from policy_engine.audits.membership.fitted.estimators import EstimatorModel
from policy_engine.audits.membership.fitted.refitting import refit
from policy_engine.audits.membership.fitted.shadowing import halves_of
from policy_engine.audits.membership.fitted.views import strengths_of, views_of
from policy_engine.audits.membership.settings import Settings
from policy_engine.engines.engine import silent
from policy_engine.errors import ArgumentError, AuditError

RANDOM = np.random.default_rng(4)
COMPARING = Settings(attacks=("lira", "rmia", "calibrated-loss"), shadows=6)
ANY_PIPELINE = make_pipeline(GaussianNB(), memory="there")
TREES = ExtraTreesClassifier(20, random_state=0)


@pytest.fixture(scope="module")
def noisy():
    """Records of 2 classes whose labels are right in four of five cases, half of them members."""
    random = np.random.default_rng(1)
    features = random.normal(size=(300, 4))
    labels = (features[:, 0] > 0) ^ (random.random(300) < 0.2)
    return features, labels.astype(int), np.arange(300) % 2 == 0


def fit(records):
    features, labels, is_member = records
    return TREES.fit(features[is_member], labels[is_member])


def assert_exposed(audit, *attacks):
    for name in attacks:
        assert audit.attack(name).figures.auc.low > 0.75, name
    assert audit.attack("rmia").shadow_models == 6


@pytest.mark.nightly
def test_a_model_is_trained_anew_in_its_own_process(noisy, tmp_path):
    import skops.io

    skops.io.dump(fit(noisy), tmp_path / "trees.skops")
    fitted = FittedModel(tmp_path / "trees.skops", retrain=True)
    audit = audit_membership(noisy, fitted=fitted, settings=COMPARING)
    assert_exposed(audit, "lira-offline", "lira-online", "rmia", "calibrated-loss")
    assert audit.shadow_models == 6


@pytest.mark.nightly
@pytest.mark.parametrize(
    "origin",
    [
        "recipe",
        *(pytest.param(one, marks=pytest.mark.nightly) for one in ("retrain", "references")),
    ],
)
def test_an_interrupted_audit_goes_on_where_it_was(origin, noisy, tmp_path):
    import skops.io

    paths = [tmp_path / f"trees{number}.skops" for number in range(3)]
    for number, path in enumerate(paths):
        skops.io.dump(GaussianNB(var_smoothing=10.0**-number).fit(*noisy[:2]), path)
    recipe = GaussianNB() if origin == "recipe" else None
    given = {"retrain": {"retrain": True}, "references": {"references": tuple(paths[1:])}}
    model = GaussianNB().fit(*noisy[:2]) if origin == "recipe" else paths[0]
    fitted = FittedModel(model, **given.get(origin, {}))
    settings = Settings(attacks=("lira-offline",), shadows=4)
    stage = "references" if origin == "references" else "shadow models"

    def audited(out, progress=silent):
        how = {"settings": settings, "out": out, "progress": progress}
        return audit_membership(noisy, "", recipe, fitted=fitted, **how)

    def stop(told, done, _):
        if (told, done) == (stage, 1):
            raise KeyboardInterrupt

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        audited(out, stop)
    left = json.loads((out / "manifest.json").read_text())
    assert (left["state"], left["data"] is not None) == ("interrupted", True)
    assert len([*(out / "cache").iterdir()]) == left["models"][0] == 1
    found = audited(out)
    assert found.timings.trained == left["models"][1] - 1
    if origin == "recipe":
        assert found.attacks == audited(None).attacks


@pytest.mark.nightly
def test_shadows_of_a_recipe_are_as_those_that_the_model_carries(noisy):
    model = fit(noisy)
    anew = audit_membership(noisy, fitted=FittedModel(model, retrain=True), settings=COMPARING)
    recipe = ExtraTreesClassifier(20)
    by_recipe = audit_membership(noisy, "", recipe, fitted=model, settings=COMPARING)
    assert by_recipe.attacks == anew.attacks


@pytest.mark.nightly
def test_a_pipeline_that_takes_texts_is_trained_anew(noisy):
    features, labels, is_member = noisy
    table = pa.table(
        {
            "city": np.where(features[:, 0] > 0, "Rome", "Oslo"),
            "number": features[:, 1].round(2).astype(str),
            "members": is_member.astype(int),
            "ill": np.where(labels, "yes", "no"),
        }
    )
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["number", "city"]))
    model = make_pipeline(encoder, LogisticRegression(C=100))
    known = table.filter(pa.array(is_member)).to_pandas()
    model.fit(known[["number", "city"]], known["ill"])
    fitted = FittedModel(model, retrain=True)
    settings = Settings(("lira",), shadows=4)
    audit = audit_membership(table, "ill", fitted=fitted, settings=settings, members="members")
    assert audit.classes == ("no", "yes")
    assert audit.attack("lira-offline").figures.auc.low > 0.6
    assert audit.features == 2


def test_what_is_trained_anew_keeps_no_cache_where_its_maker_says(noisy, tmp_path):
    inner = make_pipeline(MinMaxScaler(), memory=str(tmp_path / "inner"))
    pipeline = make_pipeline(inner, GaussianNB(), memory=str(tmp_path / "outer"))
    fresh = refit(EstimatorModel(pipeline), noisy[0], noisy[1], seed=0)
    assert not [*tmp_path.iterdir()]
    assert fresh.answer(noisy[0])["probabilities"].shape == (300, 2)


@pytest.mark.parametrize("grid", [{"memory": ["there"]}, {"steps": [[("a", ANY_PIPELINE)]]}])
def test_a_search_for_the_best_cache_is_refused(grid, noisy):
    search = GridSearchCV(make_pipeline(GaussianNB()), grid)
    with pytest.raises(AuditError, match=r"A014 .*'param_grid' would try folders"):
        refit(EstimatorModel(search), noisy[0], noisy[1], seed=0)


def test_lightgbm_is_not_trained_by_files_and_machines_of_its_maker(noisy, tmp_path):
    from lightgbm import Booster, Dataset, LGBMClassifier, train

    model = LGBMClassifier(n_estimators=2, machines="10.0.0.1:1", verbosity=-1)
    with pytest.raises(AuditError, match="A014 The model's setting 'machines' names files"):
        refit(EstimatorModel(make_pipeline(model)), noisy[0], noisy[1], seed=0)
    (tmp_path / "splits.json").write_text("{}")
    settings = {"objective": "binary", "num_threads": 1, "verbosity": -1}
    booster = train(settings, Dataset(noisy[0], noisy[1]), 2)
    text = booster.model_to_string()
    place = str(tmp_path / "splits.json")
    held = text.replace("[forcedsplits_filename: ]", f"[forcedsplits_filename: {place}]")
    evil = Booster(model_str=held)
    assert evil.params["forcedsplits_filename"] == place
    fresh = refit(LightgbmModel(evil), noisy[0], noisy[1], seed=0)
    assert "forcedsplits_filename" not in fresh.booster.params
    assert fresh.booster.num_trees() == 2


def test_references_that_saw_no_record_serve_attacks_that_compare(noisy):
    random = np.random.default_rng(2)
    others = random.normal(size=(600, 4))
    truth = (others[:, 0] > 0).astype(int)
    references = tuple(
        ExtraTreesClassifier(20, random_state=n).fit(others[n::3], truth[n::3]) for n in range(3)
    )
    fitted = FittedModel(fit(noisy), references=references)
    audit = audit_membership(noisy, fitted=fitted)
    for name in ("lira-offline", "rmia", "calibrated-loss"):
        assert audit.attack(name).figures.auc.low > 0.7, name
        assert audit.attack(name).shadow_models == 3
    assert not {"shokri", "lira-online"} & {one.attack for one in audit.attacks}
    assert "shokri" in {one.attack for one in audit.conduct.skipped}


def test_attacks_that_compare_are_refused_without_company(noisy):
    with pytest.raises(AuditError, match=r"A007 .*'lira-offline'"):
        audit_membership(noisy, fitted=fit(noisy), settings=COMPARING)


def test_company_of_two_origins_is_refused(noisy):
    fitted = FittedModel(TREES, retrain=True, references=(TREES, TREES))
    with pytest.raises(AuditError, match=r"A014 .*retrain and references"):
        audit_membership(noisy, fitted=fitted)
    with pytest.raises(AuditError, match=r"A007 .*at least 2 reference models"):
        audit_membership(noisy, fitted=FittedModel(TREES, references=(TREES,)))


def test_a_model_that_does_not_tell_its_recipe_is_not_trained_anew(noisy):
    def answer(features):
        return features[:, :2] ** 2 / (features[:, :2] ** 2).sum(axis=1, keepdims=True)

    with pytest.raises(AuditError, match=r"A014 A answer of Python does not tell how"):
        audit_membership(noisy, fitted=FittedModel(answer, retrain=True))


def test_halves_are_of_every_class_and_complement_one_another():
    labels = np.array([0] * 7 + [1] * 4)
    one, other, *_ = halves_of(labels, 6, seed=3)
    assert sorted([*one, *other]) == list(range(11))
    assert [(labels[half] == 1).sum() for half in (one, other)] == [2, 2]
    assert {(labels[half] == 0).sum() for half in (one, other)} == {3, 4}
    assert len(halves_of(labels, 5, seed=3)) == 6


def test_views_of_images_are_flips_and_shifts():
    image = np.arange(6).reshape(1, 2, 3)
    seen = [one[0].tolist() for one in views_of(image, 4, seed=0)]
    assert seen[:2] == [[[0, 1, 2], [3, 4, 5]], [[2, 1, 0], [5, 4, 3]]]
    assert seen[2] == [[1, 2, 2], [4, 5, 5]]
    assert seen[3] == [[1, 0, 0], [4, 3, 3]]
    assert strengths_of(image, 4) == (0.5, 1.0, 1.0)
    colours = np.random.default_rng(0).normal(size=(2, 4, 4, 3))
    assert len({one.tobytes() for one in views_of(colours, 18, seed=0)}) == 18


def test_views_of_other_records_are_noisy_and_the_same_for_every_model():
    table = pa.table({"n": [1.0, 2, 3, 4] * 50, "bit": [0, 1] * 100, "city": ["a", "b"] * 100})
    first, *others = views_of(table, 21, seed=0)
    assert first.equals(table)
    assert strengths_of(table, 21) == tuple(np.repeat([0.05, 0.1, 0.2, 0.4, 0.8], 4))
    changed = [(one["city"].to_numpy() != table["city"].to_numpy()).mean() for one in others]
    assert changed[0] < 0.05 < changed[-1] < 0.2
    assert {*others[-1]["bit"].to_pylist()} == {0, 1}
    moved = others[-1]["n"].to_numpy() - table["n"].to_numpy()
    assert 0.7 < moved.std() / 1.118 < 0.9
    assert [*views_of(table, 21, seed=0)][-1].equals(others[-1])


def test_there_are_not_more_views_than_there_are():
    with pytest.raises(AuditError, match=r"A003 There are 1 to 18 views .*19"):
        list(views_of(np.zeros((2, 4, 4)), 19, seed=0))
    with pytest.raises(AuditError, match=r"A003 There are 1 to 21 views"):
        list(views_of(np.zeros((2, 4)), 22, seed=0))


def test_images_are_asked_about_in_several_views_and_keep_their_shape():
    asked = []

    def answer(images):
        asked.append(images.shape)
        return np.full((len(images), 2), 0.5)

    images = np.zeros((8, 5, 6, 1), np.uint8)
    records = images, np.arange(8) % 2, np.arange(8) < 4
    audit = audit_membership(records, fitted=FittedModel(answer, views=3))
    assert asked == [(8, 5, 6, 1)] * 3
    assert audit.fitted.views == 3


def test_several_views_serve_the_attacks_on_views(noisy):
    settings = Settings(attacks=("lira-views", "label-only-boundary"), shadows=4)
    fitted = FittedModel(fit(noisy), retrain=True, views=11)
    audit = audit_membership(noisy, fitted=fitted, settings=settings)
    assert audit.attack("lira-views").figures.auc.low > 0.7
    assert audit.attack("label-only-boundary").figures.auc.low > 0.6


def test_a_model_that_gives_labels_alone_is_asked_where_its_labels_change(noisy):
    features, labels, is_member = noisy
    nearest = NearestNeighbor(features[is_member], labels[is_member])
    settings = Settings(attacks=("label-only-boundary",))
    audit = audit_membership(noisy, fitted=nearest, settings=settings)
    assert audit.fitted.gives == ("labels", "views")
    assert audit.fitted.views == 21
    boundary, baseline = (
        audit.attack(one).figures for one in ("label-only-boundary", "label-only")
    )
    assert boundary.auc.value > baseline.auc.value


class NearestNeighbor:
    """Answers with the label of the member that is nearest."""

    def __init__(self, features, labels):
        self.features, self.labels = features, labels

    def predict(self, features):
        apart = ((features[:, None] - self.features) ** 2).sum(axis=2)
        return self.labels[apart.argmin(axis=1)]


@pytest.mark.nightly
def test_a_model_is_not_compared_with_itself(tmp_path):
    paths = [tmp_path / name for name in ("model.pkl", "one.pkl", "other.pkl")]
    for path in paths:
        path.write_bytes(pickle.dumps(Memory()))
    fitted = FittedModel(paths[0], trust_pickle=True, references=tuple(paths[1:]))
    with pytest.raises(AuditError, match="A014 The same file is given twice"):
        audit_membership((np.zeros((8, 2)), [0] * 8, [0, 1] * 4), fitted=fitted)


def test_references_that_saw_the_members_are_told_of(noisy):
    model = fit(noisy)
    audit = audit_membership(noisy, fitted=FittedModel(model, references=(model, model)))
    assert any("2 of 2 reference models answer better" in one for one in audit.warnings)


def answer(features):
    sure = 0.5 + 0.4 / (1 + np.exp(-np.asarray(features, float).reshape(len(features), -1)[:, 0]))
    return np.stack([sure, 1 - sure], axis=1)


def warned(features, labels, is_member, **how):
    how = {"settings": Settings(attacks=("loss",)), **how}
    records = (np.asarray(features), labels, is_member)
    return " ".join(audit_membership(records, fitted=answer, **how).warnings)


@pytest.mark.nightly
def test_records_of_a_fitted_model_are_looked_at_as_those_of_one_that_is_trained(noisy):
    features, labels, is_member = noisy
    sound = warned(*noisy)
    said = "exactly", "distinguish them with", "distributed", "follows from", "in their labels"
    assert not any(one in sound for one in said)
    twice = np.concatenate([features[is_member]] * 2)
    again = warned(twice, np.tile(labels[is_member], 2), np.arange(300) < 150)
    assert "150 of the 150 members are repeated exactly" in again
    shifted = warned(features + 4 * is_member[:, None], labels, is_member)
    assert "Members differ from the non-members in kind" in shifted
    assert all(f"'features {place}'" in shifted for place in range(4))
    contained = warned(np.column_stack([features, 3.0 * labels]), labels, is_member)
    assert "The label follows from 'features 4' alone" in contained
    unlike = (is_member ^ (RANDOM.random(300) < 0.1)).astype(int)
    differ = warned(features, unlike, is_member)
    assert "differ in their labels (at 5% over 5 columns)" in differ


def test_tables_of_a_fitted_model_may_lack_numbers_and_have_other_columns(noisy):
    features, labels, is_member = noisy
    ages = pa.array(features[:, 0], mask=RANDOM.random(300) < 0.2)
    table = {"age": ages, "city": np.where(labels, "Rome", "Oslo"), "when": np.arange(300) // 2}
    late = np.argsort(~is_member, kind="stable")
    table = pa.table({**table, "ill": labels, "m": is_member[late].astype(int)})
    fitted = FittedModel(lambda given: answer(given[["age"]].fillna(0)), features=("age", "city"))
    settings = Settings(attacks=("loss",))
    found = audit_membership(table, "ill", fitted=fitted, members="m", settings=settings)
    said = " ".join(found.warnings)
    assert "The label follows from 'city' alone" in said
    assert "distributed differently in 'when' (at 5% over 4 columns)" in said
    assert "not tested" not in said


@pytest.mark.nightly
def test_large_images_are_compared_by_the_means_of_their_numbers():
    images = np.random.default_rng(3).integers(0, 256, (60, 20, 20), np.uint8)
    is_member = np.arange(60) < 30
    assert "'features by 2, number " in warned(
        np.where(is_member[:, None, None], images // 2, images), np.arange(60) % 2, is_member
    )
    again = warned(np.concatenate([images[:30]] * 2), np.arange(60) % 30 % 2, is_member)
    assert "30 of the 30 members are repeated exactly" in again


def test_names_are_given_as_tuples():
    with pytest.raises(ArgumentError, match="U002 features is of the wrong type"):
        FittedModel(TREES, features="age")
    assert FittedModel(TREES, classes=[0, 1]).classes == ("0", "1")
