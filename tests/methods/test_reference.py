from itertools import chain

from policy_engine import terms
from policy_engine.methods import reference


def test_a_method_has_its_own_parameters_with_their_limits():
    found = {one.name: one for one in reference.method_parameters("t-closeness")}
    assert list(found) == ["mosaicrown:k", "pe:t", "mosaicrown:sensitive"]
    assert found["mosaicrown:k"].type == "an integer from 2"
    assert found["pe:t"].type == "a number above 0 and up to 1"
    assert {one.default for one in found.values()} == {"required"}


def test_a_parameter_of_two_methods_has_the_limits_of_each():
    kinds = {
        name: next(
            one.type for one in reference.method_parameters(name) if one.name == "mosaicrown:l"
        )
        for name in ("l-diversity", "entropy-l-diversity")
    }
    assert kinds == {"l-diversity": "an integer from 2", "entropy-l-diversity": "a number above 1"}


def test_what_methods_share_has_its_defaults():
    listed = (*reference.shared_parameters(), *reference.model_parameters())
    found = {one.name: (one.type, one.default) for one in listed}
    assert found["mosaicrown:quasi-identifier"] == ("columns", "required")
    assert found["pe:privacyUnit"] == ("one column", "none")
    assert found["pe:partitioning"] == ("'strict' or 'relaxed'", "'strict'")
    assert found["pe:polish"] == ("true or false", "false")
    assert found["pe:maxSuppression"] == ("a number from 0 to below 1", "0")


def test_masking_has_columns_and_samples_alone():
    needed, *samples = reference.method_parameters("masking")
    assert (needed.name, needed.type) == ("pe:masked", "columns")
    assert [one.name for one in samples] == ["pe:sampleShare", "pe:sampleSize"]
    assert {one.default for one in (needed, *samples)} == {reference.ONE_NEEDED}
    names = {one.name for one in reference.shared_parameters()}
    assert {"mosaicrown:identifier", "pe:insensitive", "pe:joinOn"} < names
    assert not names & {one.name for one in reference.model_parameters()}


def test_settings_stand_under_the_operand_of_their_column():
    found = reference.column_parameters()
    names = {role: {one.name for one in parameters} for role, parameters in found.items()}
    assert names["mosaicrown:sensitive"] == {"pe:taxonomy", "pe:distance"}
    assert {"pe:generalization", "pe:weight", "pe:mask"} < names["mosaicrown:quasi-identifier"]


def test_a_setting_that_names_columns_says_so():
    masked = {one.name: one.type for one in reference.column_parameters()["pe:masked"]}
    assert masked["pe:given"] == "columns"


def test_every_parameter_says_what_it_is_and_what_it_may_be():
    listed = reference.column_parameters().values()
    for one in chain(reference.shared_parameters(), reference.model_parameters(), *listed):
        assert one.type
        assert one.default
        assert "Undefined" not in one.default
        assert one.definition.endswith(".")
        assert one.engines


def test_a_parameter_says_which_engines_have_it():
    listed = (*reference.shared_parameters(), *reference.model_parameters())
    found = {one.name: one.engines for one in listed}
    both = found["pe:partitioning"], found["pe:redact"], found["pe:algorithm"]
    assert set(both) == {("local", "spark")}
    assert found["pe:polish"] == found["pe:dimensionality"] == ("local",)


def test_a_parameter_of_a_method_is_had_by_the_engines_of_the_method():
    term = terms.privacy_models()["t-closeness"]
    assert {one.engines for one in reference.method_parameters("t-closeness")} == {
        term.texts("engine")
    }
