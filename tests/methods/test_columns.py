from policy_engine.methods.columns import Columns, QuasiIdentifier, Sensitive

WHOLE = Columns(
    **{
        "identifier": ("name",),
        "pseudonymize": ("card",),
        "redact": ("note",),
        "quasi-identifier": (QuasiIdentifier(name="age"), QuasiIdentifier(name="zip")),
        "sensitive": (Sensitive(name="disease"),),
        "insensitive": ("row",),
        "privacyUnit": "person",
    }
)


def test_what_is_released_is_all_but_identifiers_and_the_unit_of_privacy():
    assert WHOLE.released == ("card", "note", "age", "zip", "disease", "row")
    assert WHOLE.dropped == ("name", "person")


def test_a_unit_of_privacy_that_is_an_identifier_is_dropped_once():
    assert WHOLE.model_copy(update={"identifier": ("person",)}).dropped == ("person",)


def test_names_stand_without_settings():
    assert WHOLE.quasi_names == ("age", "zip")
    assert WHOLE.sensitive_names == ("disease",)


def test_taxonomies_are_named_once():
    generalised = QuasiIdentifier(name="job", generalization="taxonomy", taxonomy="jobs.csv")
    kept = Sensitive(name="trade", distance="hierarchical", taxonomy="jobs.csv")
    columns = Columns(**{"quasi-identifier": (generalised,), "sensitive": (kept,)})
    assert columns.taxonomies == ("jobs.csv",)
    assert WHOLE.taxonomies == ()


def test_columns_come_back_from_their_json():
    assert Columns.model_validate_json(WHOLE.model_dump_json()) == WHOLE
    assert Columns.model_validate_json(WHOLE.model_dump_json(by_alias=True)) == WHOLE
