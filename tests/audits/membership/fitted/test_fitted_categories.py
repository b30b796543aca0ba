"""Categories are told to boosters by the numbers that they have in the model."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from policy_engine.audits.membership.fitted.boosters import LightgbmModel, XgboostModel
from policy_engine.audits.membership.fitted.estimators import EstimatorModel
from policy_engine.audits.membership.fitted.model import softmax
from policy_engine.audits.membership.fitted.refitting import refit
from policy_engine.errors import AuditError

ZIPS = np.array([1010, 1000, 1030, 1020] * 25)
TABLE = pa.table({"zip": ZIPS, "age": np.arange(100.0)})
FRAME = TABLE.to_pandas().astype({"zip": "category"})
LABELS = np.isin(ZIPS, [1000, 1030]).astype(int)


def classifier(package):
    if package == "lightgbm":
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(
            n_estimators=3, min_child_samples=1, min_data_per_group=1, n_jobs=1, verbosity=-1
        )
    else:
        from xgboost import XGBClassifier

        model = XGBClassifier(n_estimators=3, enable_categorical=True, n_jobs=1)
    return model.fit(FRAME, LABELS)


def from_file(package, model, folder):
    if package == "lightgbm":
        import lightgbm

        text = model.booster_.model_to_string()
        return LightgbmModel(lightgbm.Booster(model_str=text))
    import xgboost

    model.save_model(folder / "model.ubj")
    return XgboostModel(xgboost.Booster(model_file=folder / "model.ubj"))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("package", ["lightgbm", "xgboost"])
def test_a_booster_and_its_classifier_say_of_a_table_what_they_say_of_categories(package, tmp_path):
    model = classifier(package)
    right = model.predict_proba(FRAME)
    booster = from_file(package, model, tmp_path)
    texts = TABLE.set_column(0, "zip", TABLE["zip"].cast(pa.string()))
    for table in (TABLE, texts):
        np.testing.assert_allclose(softmax(booster.answer(table)["logits"]), right, atol=1e-5)
        said = EstimatorModel(model).answer(table)["probabilities"]
        np.testing.assert_allclose(said, right, atol=1e-6)


@pytest.mark.parametrize("package", ["lightgbm", "xgboost"])
def test_values_that_are_no_category_of_the_model_are_refused(package, tmp_path):
    booster = from_file(package, classifier(package), tmp_path)
    other = TABLE.set_column(0, "zip", pa.array([7] * 100))
    with pytest.raises(AuditError, match=r"A003 No value of the column 'zip' is a category"):
        booster.answer(other)


def test_a_booster_trained_anew_knows_the_categories_of_its_like(tmp_path):
    booster = from_file("lightgbm", classifier("lightgbm"), tmp_path)
    like = refit(booster, TABLE, LABELS, seed=1)
    decided = like.answer(TABLE)["logits"][:, 1]
    assert decided[LABELS == 1].min() > decided[LABELS == 0].max()


def test_categories_of_which_a_booster_keeps_no_names_are_refused_in_a_table():
    import xgboost

    codes = pd.Categorical(ZIPS).codes
    matrix = np.stack([codes, np.arange(100)], axis=1).astype(np.float32)
    kinds = {"feature_types": ["c", "q"], "enable_categorical": True}
    given = xgboost.DMatrix(matrix, LABELS, **kinds)
    booster = xgboost.train({"objective": "binary:logistic", "nthread": 1}, given, 2)
    assert XgboostModel(booster).answer(matrix)["logits"].shape == (100, 2)
    with pytest.raises(AuditError, match=r"A014 The model takes categories by their numbers"):
        XgboostModel(booster).answer(TABLE)


def test_ordered_categories_are_refused_where_the_booster_does_not_tell_of_which_column():
    import lightgbm

    kind = pd.CategoricalDtype([1000, 1010, 1020, 1030], ordered=True)
    frame = FRAME.astype({"zip": kind})
    settings = {"objective": "binary", "verbosity": -1, "num_threads": 1}
    booster = lightgbm.train(settings, lightgbm.Dataset(frame, LABELS), 2)
    with pytest.raises(AuditError, match=r"A014 The model has categories of 1 features"):
        LightgbmModel(booster).answer(TABLE)
