"""Several models of one generator: given as lists, or fitted on random halves."""

import numpy as np
import pandas as pd
import pytest

from policy_engine import audit_generative
from policy_engine.errors import AuditError

ONE = {"attacks": ["exact-copies", "nearest-sample"]}


def people(seed, count=120):
    random = np.random.default_rng(seed)
    jobs = random.choice(["cook", "clerk", "nurse"], count)
    return pd.DataFrame({"age": random.integers(20, 9000, count), "job": jobs})


class Memory:
    """A generator that releases what it has learnt, as a model of tables."""

    def fit(self, features, labels, seed):  # noqa: ARG002
        self.table = features.to_pandas()

    def sample(self, n, *, label=None, seed):  # noqa: ARG002
        return self.table.sample(n, replace=True, random_state=seed % 2**32)


def make():
    return Memory()


def halves(features, labels, seed):  # noqa: ARG001
    """A generator that releases half of what it has learnt, without being asked."""
    return features.to_pandas().sample(frac=0.5, random_state=seed % 2**32)


@pytest.mark.nightly
@pytest.mark.parametrize("generator", [Memory, Memory(), halves, make])
def test_models_are_fitted_on_random_halves(generator):
    audit = audit_generative(people(1), people(2), model=generator, models=3, samples=300, **ONE)
    assert [one.members.records for one in audit.models] == [120, 120, 120]
    assert len({one.members.digest for one in audit.models}) == 3
    assert audit.attack("exact-copies").over_models.models == 3
    assert audit.attack("exact-copies").auc.low > 0.6
    assert audit.discloses


@pytest.mark.nightly
def test_the_same_seed_fits_the_same_models():
    audits = [
        audit_generative(people(1), people(2), model=halves, models=2, seed=4, **ONE)
        for _ in range(2)
    ]
    assert audits[0] == audits[1]


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["sequential-trees", "gaussian-copula", "independent-marginals"])
def test_generators_of_the_product_are_fitted_by_name(name, tmp_path):
    files = [tmp_path / "members.csv", tmp_path / "holdout.csv"]
    for seed, file in enumerate(files):
        people(seed).to_csv(file, index=False)
    audit = audit_generative(*files, generator=name, models=2, **ONE)
    assert [one.synthetic.records for one in audit.models] == [120, 120]
    assert audit.attack("nearest-sample").over_models.models == 2
    fewer = audit_generative(*files, generator=name, samples=30, **ONE)
    assert fewer.synthetic.records == 30
    assert fewer.models == ()


class Pixels:
    """A generator of images that draws those it has learnt, of a class."""

    def __init__(self, asked=None):
        self.asked = [] if asked is None else asked

    def fit(self, features, labels, seed):  # noqa: ARG002
        fitted = Pixels(self.asked)
        fitted.features, fitted.labels = features, labels
        return fitted

    def sample(self, n, *, label=None, seed):
        self.asked.append(n)
        own = self.features[self.labels == label]
        return own[np.random.default_rng(seed).integers(0, len(own), n)]


@pytest.fixture
def images(tmp_path):
    random = np.random.default_rng(1)
    for name in ("members", "holdout"):
        pixels = random.integers(0, 256, (60, 6, 7), dtype=np.uint8)
        np.savez(tmp_path / f"{name}.npz", features=pixels, labels=random.integers(3, 5, 60))
    return [tmp_path / f"{name}.npz" for name in ("members", "holdout")]


@pytest.mark.nightly
def test_arrays_are_learnt_as_shares_with_classes_counted_from_0(images, tmp_path):
    out = tmp_path / "audit"
    options = {"attacks": "nearest-sample", "models": 2, "out": out}
    audit = audit_generative(*images, model=Pixels(), samples=500, **options)
    assert audit.attack("nearest-sample").auc.value > 0.9
    assert {one.name for one in out.iterdir()} == {
        *("generative.json", "generative.html", "samples.npz", "samples-2.npz")
    }
    again, anew = Pixels(), Pixels()
    longer = audit_generative(*images, model=again, samples=1500, **options)
    assert [one.samples for one in longer.growth] == [1000, 1500]
    audit_generative(*images, model=anew, samples=1500, **{**options, "out": None})
    # 500 are from before, on both models.
    assert sum(again.asked) == sum(anew.asked) - 2 * 500


def test_arrays_may_be_released_as_they_are(images):
    def fit(features, labels, seed):  # noqa: ARG001
        return features, labels

    audit = audit_generative(*images, model=fit, models=2, attacks="nearest-sample")
    assert audit.attack("nearest-sample").auc.value > 0.9


def test_the_budget_is_that_of_all_models_together(images):
    with pytest.raises(AuditError, match="A033"):
        audit_generative(*images, model=Pixels(), models=2, samples=500, seconds=1e-9)


def test_scores_have_the_places_of_records_in_both_files(tmp_path):
    file = tmp_path / "scores.csv"
    audit_generative(people(1), people(2), model=halves, models=2, records=file, **ONE)
    scores = pd.read_csv(file)
    assert sorted(scores["row"]) == [*range(240)]
    assert scores["member"].sum() == 120


def test_given_models_are_paired():
    members, holdout = [people(1), people(3)], [people(2), people(4)]
    released = [one.head(60) for one in members]
    audit = audit_generative(members, holdout, released, **ONE)
    assert audit.attack("exact-copies").auc.value == pytest.approx(0.75, abs=0.01)
    assert audit.attack("exact-copies").over_models.models == 2


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"holdout": people(2)}, "members 2, holdout 1, synthetic 2"),
        ({"synthetic": [people(1).head(60)] * 2}, "models 1 and 2 release, or draw, the same"),
        ({"models": 2, "model": halves}, "members and holdout together, which are given once"),
    ],
)
def test_models_that_are_not_several_are_refused(changes, message):
    sides = {
        "members": [people(1), people(3)],
        "holdout": [people(2), people(4)],
        "synthetic": [people(1).head(60), people(3).head(60)],
    }
    with pytest.raises(AuditError, match="A034") as error:
        audit_generative(**{**sides, **changes}, **ONE)
    assert message in str(error.value)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ({"models": 2}, "A034", "Give a model, or the name of a generator"),
        ({"generator": "trees"}, "A034", "There is no generator 'trees'"),
        ({"models": -1, "model": halves}, "A034", "-1"),
        ({"models": 2, "model": halves, "synthetic": people(9)}, "A034", "are given, too"),
        ({"models": 2, "model": 3}, "A014", "cannot be fitted"),
        ({"models": 2, "model": object}, "A014", "cannot be fitted"),
        ({"models": 2, "model": lambda *_: 1 / 0}, "A014", "ZeroDivisionError"),
        ({"models": 2, "model": lambda *_: 7}, "A032", "not a model, nor a table"),
        ({"models": 2, "model": lambda *_: people(7)}, "A034", "a fit must use records"),
    ],
)
def test_models_that_cannot_be_fitted_are_refused(options, code, message):
    with pytest.raises(AuditError, match=code) as error:
        audit_generative(people(1), people(2), **options, **ONE)
    assert message in str(error.value)


def test_generators_of_tables_learn_no_arrays(images):
    with pytest.raises(AuditError, match="A034 The generator sequential-trees makes tables"):
        audit_generative(*images, generator="sequential-trees", models=2)


@pytest.mark.nightly
def test_files_of_two_formats_are_divided_like_one(tmp_path):
    frames = people(1), people(2).assign(day=pd.Timestamp("2020-02-01"), ok=True)
    frames = frames[0].assign(day="2020-01-01", ok="false"), frames[1]
    frames[0].to_csv(tmp_path / "members.csv", index=False)
    frames[1].to_parquet(tmp_path / "holdout.parquet", index=False)
    files = [tmp_path / "members.csv", tmp_path / "holdout.parquet"]
    options = {"generator": "sequential-trees", "models": 2, "attacks": "exact-copies"}
    audits = [audit_generative(*one, **options) for one in (files, files[::-1])]
    assert [len(one.models) for one in audits] == [2, 2]


def test_columns_that_cannot_be_put_together_are_refused():
    lists = people(2).assign(age=[[1]] * 120)
    for one in (people(1).assign(age="1"), people(1)):
        with pytest.raises(AuditError, match="A031 Members and holdout have columns of other"):
            audit_generative(one, lists, generator="sequential-trees", models=2, **ONE)


def test_rows_of_one_file_alone_cannot_be_divided():
    with pytest.raises(AuditError, match="A031 1 columns are in one of"):
        audit_generative(people(1), people(2)[["age"]], generator="sequential-trees", models=2)
    with pytest.raises(AuditError, match=r"A031 .*Needed are at least 20"):
        audit_generative(people(1, 5), people(2, 5), generator="sequential-trees", models=2)
