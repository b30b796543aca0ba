"""Who is stated to own an asset, and whose rules count for it."""

import json

import pytest

from policy_engine import terms
from policy_engine.errors import DataError, RequestError
from policy_engine.policy import Action, Asset, Constraint, Party, Policy, Rule
from policy_engine.policy.owners import Owners, OwnerStatement, Standing, load_owners, read_owners

H, B, R = "http://h.org/Hospital", "http://b.org/Broker", "http://r.org/Regulator"
VISITS, NAME = "http://h.org/Visits", "http://h.org/Visits/Name"


def standing(given, *edges):
    return Standing(read_owners(given), edges)


def policy(uid, *assigners, refinements=()):
    parties = tuple(Party(one, refinements) for one in assigners)
    rule = Rule("permission", (Asset(VISITS),), (Action(f"{terms.ODRL}read"),), assigners=parties)
    return Policy(uid, f"{terms.ODRL}Set", "prohibit", "d", permissions=(rule,))


# -- whose rules count ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asset", "owner"),
    [
        (VISITS, H),
        (NAME, H),
        (f"{VISITS}/2026/Name", H),
        (f"{VISITS}#part", H),
        ("http://h.org/Visits2", ""),
        ("http://h.org", ""),
        ("http://b.org/Visits", ""),
    ],
)
def test_an_asset_is_owned_as_the_nearest_statement_says(asset, owner):
    assert "".join(standing({VISITS: H}).of(asset).owners) == owner


def test_a_nearer_statement_takes_a_column_from_the_owner_of_its_dataset():
    found = standing({VISITS: H, NAME: B})
    assert found.of(NAME).permit([B])
    assert not found.of(NAME).permit([H])
    assert found.known_parts(VISITS) == [NAME]
    assert [one.owners for one in found.all_of(VISITS)] == [(H,), (B,)]


def test_a_namespace_is_stated_with_its_slash():
    found = standing({"http://h.org/data/": H})
    assert found.of("http://h.org/data/Visits/Name").owners == (H,)
    assert found.of("http://h.org/data").owners == ()


def test_a_part_is_owned_by_whoever_owns_what_the_caller_says_that_it_is_in():
    assert standing({VISITS: H}, ("http://x.org/Doc", VISITS)).of("http://x.org/Doc").own([H])
    stated = {VISITS: H, "http://x.org/Doc": {"partOf": VISITS}}
    assert standing(stated).of("http://x.org/Doc/1").own([H])
    assert not standing({VISITS: H}).of("http://x.org/Doc").own([H])


def test_what_is_in_the_collections_of_two_owners_is_known_to_be_nobodys():
    edges = [("http://x.org/Doc", VISITS), ("http://x.org/Doc", "http://b.org/Mine")]
    found = standing({VISITS: H, "http://b.org/Mine": B}, *edges).of("http://x.org/Doc")
    assert not found.permit([H, B])
    assert found.prohibit([H])
    assert found.prohibit(["http://anybody"])
    assert found.denied([H]) == "nobody is known to own http://x.org/Doc"


def test_a_circle_of_parts_has_an_end():
    found = standing({VISITS: H}, (VISITS, "urn:a"), ("urn:a", VISITS))
    assert found.of("urn:a").owners == (H,)
    assert found.known_parts("urn:a") == [VISITS]


def test_of_an_asset_without_an_owner_no_permission_counts_and_every_prohibition_does():
    found = standing({VISITS: H}).of("http://e.org/Other")
    assert not found.permit([H])
    assert found.prohibit([H])
    assert found.prohibit([])


def test_only_who_owns_an_asset_and_whom_the_owner_delegated_permits_it():
    found = standing({VISITS: {"owner": H, "delegates": B, "regulators": [R]}}).of(NAME)
    assert found.permit([H])
    assert found.permit([B])
    assert not found.permit([R])
    assert not found.permit([])
    assert [found.prohibit([one]) for one in (H, B, R, "http://other")] == [True, True, True, False]


def test_why_a_rule_does_not_count_is_said_by_name():
    found = standing({VISITS: H}).of(VISITS)
    assert found.denied([B]) == f"{B} does not own {VISITS}"
    assert found.denied([B, R]) == f"{B} and {R} do not own {VISITS}"
    assert found.denied([]) == f"it names no assigner, and {H} owns {VISITS}"


def test_a_delegate_of_a_dataset_does_not_speak_for_the_column_of_another_owner():
    stated = {VISITS: {"owner": H, "delegates": [B]}, NAME: R}
    assert not standing(stated).of(NAME).permit([B])
    assert not standing(stated).of(NAME).prohibit([B])


def test_a_regulator_of_a_collection_is_one_of_all_that_is_in_it_whoever_owns_that():
    stated = {VISITS: {"owner": H, "partOf": "urn:health"}, "urn:health": {"regulators": [R]}}
    found = standing({**stated, NAME: B}).of(NAME)
    assert found.prohibit([R])
    assert not found.permit([R])
    assert not found.prohibit([H])


def test_what_several_own_together_only_all_of_them_permit():
    found = Standing(Owners((OwnerStatement(VISITS, (H, B)),))).of(NAME)
    assert not found.permit([H])
    assert found.permit([B, H])
    assert found.prohibit([H])


def test_owners_without_a_statement_are_none():
    assert not Owners()
    assert Owners((OwnerStatement(VISITS, (H,)),))


# -- by the policies of assets --------------------------------------------------------------------


def test_the_assigner_of_an_assets_policy_owns_it():
    owners = Owners((OwnerStatement(VISITS, policy="urn:p"),))
    known = owners.known_by([policy("urn:p", H), policy("urn:q", B)])
    assert Standing(known).of(VISITS).owners == (H,)


@pytest.mark.parametrize("given", [[], [policy("urn:p")], [policy("urn:q", B)]])
def test_an_asset_whose_policy_names_nobody_is_nobodys_though_its_collection_is_owned(given):
    owners = Owners((OwnerStatement(NAME, policy="urn:p"), OwnerStatement(VISITS, (H,))))
    assert Standing(owners.known_by(given)).of(NAME).owners == ()


def test_some_members_of_a_party_are_not_the_party():
    some = (Constraint(f"{terms.ODRL}spatial", f"{terms.ODRL}eq"),)
    assert policy("urn:p", H, refinements=some).issued_by == frozenset()
    assert policy("urn:p", H).issued_by == {H}


# -- reading ---------------------------------------------------------------------------------------


def test_owners_are_read_in_one_spelling():
    found = read_owners({"HTTP://H.org:80/%56isits": "http://h.org/x/../Hospital"})
    assert found.statements == (OwnerStatement(VISITS, (H,)),)


def test_owners_are_read_from_a_file_with_the_places_of_their_statements(tmp_path):
    file = tmp_path / "owners.json"
    file.write_text(json.dumps({VISITS: H, NAME: B}, indent=1))
    found = load_owners(file)
    assert [(one.place.line, one.place.column) for one in found.statements] == [(2, 2), (3, 2)]
    assert load_owners(found) is found
    assert load_owners(None) == Owners()
    assert load_owners({VISITS: H, NAME: B}) == found


def test_owners_without_a_file_are_an_error(tmp_path):
    with pytest.raises(DataError, match="C002"):
        load_owners(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("[]", "Given: none"),
        ("{}", "Given: an empty one"),
        ("null", "Given: none"),
        ("{", "are not JSON"),
        (f'{{"{VISITS}": "{H}", "{VISITS}": "{B}"}}', "twice"),
        (f'{{"{VISITS}": "{H}", "http://H.org/Visits": "{H}"}}', "described twice"),
        ('{"Visits": "http://h.org"}', "'Visits' is neither a whole IRI"),
        (f'{{"{VISITS}": "Hospital"}}', "'Hospital' is neither a whole IRI"),
        (f'{{"{VISITS}": ["{H}", "{B}"]}}', "the IRI of its owner, or an object"),
        (f'{{"{VISITS}": null}}', "the IRI of its owner, or an object"),
        (f'{{"{VISITS}": {{}}}}', "the IRI of its owner, or an object"),
        (f'{{"{VISITS}": {{"owner": ["{H}"]}}}}', "one owner"),
        (f'{{"{VISITS}": {{"owner": 7}}}}', "a text, an IRI"),
        (f'{{"{VISITS}": {{"regulator": "{R}"}}}}', "Did you mean 'regulators'"),
        (f'{{"{VISITS + "/" * 300}": "{H}"}}', "levels"),
        (f'{{"{VISITS} ": "{H}"}}', "not allowed in an IRI"),
        (f'{{"{VISITS}": "{H}\x85"}}', "not allowed in an IRI"),
    ],
)
def test_owners_that_cannot_be_understood_are_refused(given, told):
    with pytest.raises(RequestError, match=told) as error:
        read_owners(given)
    assert {one.code for one in error.value.problems} == {"D004"}


def test_all_that_is_wrong_is_told_with_its_place():
    with pytest.raises(RequestError) as error:
        read_owners('{\n"Visits": "h",\n"urn:a": {"regulators": ["urn:b", 3]}}')
    assert [one.place.line for one in error.value.problems] == [2, 3]


def test_names_that_are_parts_of_one_another_are_of_one_asset():
    other = "http://h.org/Visits/NAME"
    found = standing({VISITS: H, other: B}, (NAME, other), (other, NAME))
    assert found.of(NAME).owners == (B,)
