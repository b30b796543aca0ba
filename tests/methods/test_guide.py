import pytest
from pydantic import ValidationError

from policy_engine.methods.audits.classifier import Estimator
from policy_engine.methods.conflicts import cell_conflicts, default_generalization
from policy_engine.methods.guide import Guide, guide_conflicts
from policy_engine.methods.recoding import RecodingOptions

TREE = Estimator(name="DecisionTreeClassifier")


def test_a_guide_is_a_column_or_a_model():
    assert not Guide(label="income", column="score").is_trained
    assert Guide(label="income", architecture=TREE, labels="hard").is_trained
    for other in ({"architecture": TREE}, {"labels": "hard"}):
        with pytest.raises(ValidationError, match="a column as it is, or a model"):
            Guide(label="income", column="score", **other)


@pytest.mark.parametrize("guide", [{"label": ""}, {}, {"label": "x", "labels": "softer"}])
def test_a_guide_has_a_label_and_labels_that_are_known(guide):
    with pytest.raises(ValidationError):
        Guide(**guide)


def test_accuracy_guided_classes_alone_have_a_guide():
    guide = Guide(label="income")
    assert RecodingOptions(algorithm="accuracy-guided", guide=guide).guide == guide
    for options in ({"algorithm": "accuracy-guided"}, {"guide": guide}):
        with pytest.raises(ValidationError, match="a guide is what"):
            RecodingOptions(**options)


def test_options_without_a_guide_are_written_as_before_there_were_any():
    assert "guide" not in RecodingOptions().model_dump()
    assert "guide" not in RecodingOptions(algorithm="bucketization").model_dump()


def test_a_guide_is_told_by_the_names_of_policies():
    guide = Guide(label="income", architecture=TREE, labels="hard", representative="cell")
    options = RecodingOptions(algorithm="accuracy-guided", guide=guide)
    assert RecodingOptions.model_validate_json(options.model_dump_json()) == options
    told = {
        name: options.options()[name]
        for name in ("label", "guide", "guideLabels", "representative")
    }
    model = {"kind": "estimator", "name": "DecisionTreeClassifier", "parameters": {}}
    assert told == {
        "label": "income",
        "guide": model,
        "guideLabels": "hard",
        "representative": "cell",
    }
    assert RecodingOptions().options()["label"] == ""


def conflicts(label="income", column="", unit="", **roles):
    by_role = {role.replace("_", "-"): tuple(names) for role, names in roles.items()}
    return [*guide_conflicts("accuracy-guided", label, column, by_role, unit)]


@pytest.mark.parametrize(
    "role", ["identifier", "pseudonymize", "redact", "quasi-identifier", "masked"]
)
def test_a_label_is_released_as_it_is(role):
    [finding] = conflicts(**{role: ["income"]})
    assert (finding.code, finding.parameter) == ("M003", "label")
    assert finding.message.startswith(f"The label 'income' is {role}. ")


@pytest.mark.parametrize(
    "role", ["identifier", "pseudonymize", "redact", "masked", "sensitive", "insensitive"]
)
def test_predictions_neither_name_persons_nor_are_masked_or_released(role):
    [finding] = conflicts(column="score", **{role: ["score"]})
    assert (finding.code, finding.parameter) == ("M003", "guide")


def test_predictions_may_be_generalised_and_are_not_released_as_they_are():
    assert conflicts(column="score", **{"quasi-identifier": ["score"]}) == []
    [finding] = conflicts(column="score", insensitive=["score"])
    assert "they tell which row is whose" in finding.message


def test_neither_a_label_nor_predictions_tell_persons_apart():
    found = conflicts("person", "person", "person")
    assert [one.parameter for one in found] == ["label", "guide"]
    assert conflicts("income", "", "person") == []


def test_classes_of_other_algorithms_have_no_label_to_be_wrong():
    roles = {"quasi-identifier": ("income",)}
    assert [*guide_conflicts("mondrian", "income", "", roles)] == []


@pytest.mark.parametrize(
    ("representative", "generalization", "is_made"),
    [
        (None, "median", True),
        ("median-mode", "mode", True),
        ("median-mode", "median-mode", True),
        ("median-mode", "range", False),
        ("median-mode", "mean", False),
        ("median-mode", "nearest", False),
        ("median-mode", "suppression", False),
        ("nearest", "nearest", True),
        ("nearest", "median", False),
        ("cell", "range", True),
        ("cell", "taxonomy", True),
        ("cell", "mean", True),
        ("cell", "median-mode", False),
        ("cell", "suppression", False),
    ],
)
def test_what_stands_for_a_class_decides_its_cells(representative, generalization, is_made):
    settings = {"generalization": generalization}
    found = [*cell_conflicts("accuracy-guided", settings, representative)]
    assert [one.parameter for one in found] == ([] if is_made else ["generalization"])


@pytest.mark.parametrize("algorithm", ["mondrian", "full-domain", "microaggregation"])
@pytest.mark.parametrize("generalization", ["median-mode", "nearest"])
def test_other_classes_have_no_such_cells(algorithm, generalization):
    [finding] = cell_conflicts(algorithm, {"generalization": generalization})
    assert finding.parameter == "generalization"


def test_the_order_of_texts_is_that_of_cells():
    assert [one.parameter for one in cell_conflicts("accuracy-guided", {"order": "frequency"})] == [
        "order"
    ]
    assert [*cell_conflicts("accuracy-guided", {"order": "frequency"}, "cell")] == []


def test_a_share_of_suppressed_cells_is_that_of_local_suppression():
    for representative in (None, "cell"):
        found = cell_conflicts("accuracy-guided", {"maxSuppression": 0.1}, representative)
        assert [one.parameter for one in found] == ["maxSuppression"]


def test_what_a_column_becomes_is_told_unless_its_values_decide():
    told = [
        default_generalization("accuracy-guided", one) for one in (None, "nearest", "cell", "x")
    ]
    assert told == ["median-mode", "nearest", None, None]
