"""What is made is held against what an owner asks, bound by bound."""

import pytest
from building import DATASET, OUTPUT, anonymize, column, permission, policy

from policy_engine import terms
from policy_engine.plan.consenting import bounds_of, shortfalls
from policy_engine.plan.reading_anonymization import consents, transformations
from policy_engine.policy import read_policy

OWNER = "http://x.org/owner"
ROLES = {"quasi": ["age", "city"], "sensitive": ["disease"]}


def asking(**how):
    """Return the consent of an owner that asks for some parameters."""
    rule = permission(action=anonymize(**{"k": 4, **ROLES, **how}))
    [found] = consents(read_policy(policy([rule], assigner=OWNER)))
    return found


def making(**how):
    rule = permission(action=anonymize(**{"k": 4, **ROLES, **how}), output=OUTPUT)
    [found] = transformations(read_policy(policy([rule])))
    return found


def short(asked, made):
    return [one.message for one in shortfalls(asking(**asked), making(**made), DATASET)]


PARAMETERS = {
    "k-anonymity": {"k": (3, 4, 5)},
    "l-diversity": {"l": (2, 3, 4)},
    "entropy-l-diversity": {"l": (1.5, 2, 2.5)},
    "recursive-l-diversity": {"c": (4, 3, 2), "l": (2, 3, 4)},
    "alpha-k-anonymity": {"alpha": (0.6, 0.5, 0.4)},
    "t-closeness": {"t": (0.3, 0.2, 0.1)},
    "beta-likeness": {"beta": (3, 2, 1)},
    "enhanced-beta-likeness": {"beta": (3, 2, 1)},
    "delta-disclosure": {"delta": (3, 2, 1)},
    "probabilistic-k-anonymity": {"k": (3, 4, 5)},
}
"""For each model its parameters: less than is asked, what is asked, and more."""


def test_every_model_is_held_against_what_is_asked():
    assert PARAMETERS.keys() == terms.privacy_models().keys()


@pytest.mark.parametrize("method", PARAMETERS)
def test_as_much_or_more_is_enough_and_less_is_not(method):
    less, same, more = (
        {"method": method, **{name: values[place] for name, values in PARAMETERS[method].items()}}
        for place in range(3)
    )
    assert short(same, same) == short(same, more) == []
    for name in PARAMETERS[method]:
        assert len(short(same, {**same, name: less[name]})) == 1


@pytest.mark.parametrize(
    "method", sorted(PARAMETERS.keys() - {"k-anonymity", "probabilistic-k-anonymity"})
)
def test_another_model_is_not_enough_but_for_k(method):
    given = {"method": method, **{name: one[1] for name, one in PARAMETERS[method].items()}}
    alone = {"method": "k-anonymity", "k": 9}
    assert len(short(given, alone)) == 1
    assert short({**alone, "k": 4}, given) == []


def test_a_distance_and_settings_are_those_of_the_owner():
    t = {"method": "t-closeness", "t": 0.2}
    ordered = {**t, "sensitive": [column("disease", distance="ordered")]}
    assert short(t, t) == short(ordered, ordered) == []
    assert "distance" in short(t, ordered)[0]
    assert "distance" in short(ordered, t)[0]
    k = {"method": "k-anonymity"}
    heavy = {**k, "quasi": [column("age", weight=3), "city"]}
    assert short(heavy, {**k, "quasi": ["age", "city"]}) == []


SECOND = {"pseudonymScope": "cohort"}
SUPPRESSING = {"algorithm": "local-suppression"}


@pytest.mark.parametrize(
    ("asked", "made", "is_short"),
    [
        ({}, {"missing": "wildcard"}, True),
        ({"missing": "wildcard"}, {}, False),
        ({}, SUPPRESSING, False),
        ({}, {**SUPPRESSING, "missing": "wildcard"}, True),
        ({"missing": "wildcard"}, {**SUPPRESSING, "missing": "wildcard"}, True),
        ({**SUPPRESSING, "missing": "wildcard"}, {**SUPPRESSING, "missing": "wildcard"}, False),
        ({"partitioning": "relaxed"}, {}, True),
        ({"pseudonymize": ["name"]}, {"pseudonymize": ["name"]}, False),
        ({"pseudonymize": ["name"]}, {"pseudonymize": ["name"], **SECOND}, True),
        ({"pseudonymize": ["name"], **SECOND}, {"pseudonymize": ["name"]}, False),
        ({"pseudonymize": ["name"]}, {"redact": ["name"]}, False),
        ({"identifier": ["name"]}, {"pseudonymize": ["name"]}, True),
        ({"identifier": ["name"]}, {"redact": ["name"]}, False),
        ({"insensitive": ["phone"]}, {"quasi": ["age", "city", "phone"]}, False),
        ({"quasi": ["age", "city", "phone"]}, {"insensitive": ["phone"]}, True),
        ({"privacyUnit": "name"}, {"privacyUnit": "name"}, False),
        ({"privacyUnit": "name"}, {"privacyUnit": "phone"}, True),
        ({}, {"privacyUnit": "phone"}, True),
        ({"identifier": ["phone"]}, {"privacyUnit": "phone"}, False),
    ],
)
def test_roles_and_options_are_held_against_those_of_the_owner(asked, made, is_short):
    k = {"method": "k-anonymity"}
    assert bool(short({**k, **asked}, {**k, **made})) == is_short


def test_who_asks_for_nothing_is_satisfied_and_tells_nothing():
    rule = permission(action="anonymize")
    [consent] = consents(read_policy(policy([rule], assigner=OWNER)))
    assert shortfalls(consent, making(method="k-anonymity"), DATASET) == []
    assert bounds_of(consent) == ()


def test_both_places_are_told():
    asked = asking(method="k-anonymity", k=9)
    [found] = shortfalls(asked, making(method="k-anonymity"), DATASET)
    assert found.asked.line > 0
    assert found.place.line > 0
    assert bounds_of(asked) == ("k at least 9",)


def test_a_permission_of_nobody_is_no_leave():
    rule = permission(action="anonymize")
    assert consents(read_policy(policy([rule]))) == ()


def test_a_taxonomy_of_the_makers_is_never_taken_for_the_owners():
    ill = column("disease", distance="hierarchical", taxonomy="ill.csv")
    how = {"method": "t-closeness", "t": 0.2, "sensitive": [ill]}
    assert [f"of {DATASET}/disease is a file" in one for one in short(how, how)] == [True]
    city = {
        "method": "k-anonymity",
        "quasi": [column("city", generalization="taxonomy", taxonomy="cities.csv"), "age"],
    }
    assert [f"of {DATASET}/city is a file" in one for one in short(city, city)] == [True]


PAY = column("pay", masking="rounding", base=10)
PLAIN = {"method": "k-anonymity"}
"""What an owner asks of a column that is masked."""


@pytest.mark.parametrize(
    ("asked", "made", "message"),
    [
        ({"masked": [PAY]}, {"masked": [PAY]}, ""),
        ({"masked": [PAY]}, {"redact": ["pay"]}, ""),
        ({"masked": [PAY]}, {}, ""),
        ({"insensitive": ["pay"]}, {"masked": [PAY]}, ""),
        ({"masked": [PAY]}, {"insensitive": ["pay"]}, "is insensitive, and by the owner it is ma"),
        ({"masked": [PAY]}, {"quasi": ["age", "pay"]}, "is quasi-identifier, and by the owner"),
        ({"masked": [PAY]}, {"pseudonymize": ["pay"]}, "is pseudonymize, and by the owner"),
        ({"redact": ["pay"]}, {"masked": [PAY]}, "is masked, and by the owner it is redact"),
        ({"identifier": ["pay"]}, {"masked": [PAY]}, "is masked, and by the owner it is ident"),
        ({}, {"masked": [PAY]}, "is released as masked, and the owner lets it not be released"),
        (
            {"masked": [PAY]},
            {"masked": [column("pay", masking="rounding", base=20)]},
            "The base of http://x.org/People/pay is 20, and by the owner it is 10.",
        ),
        (
            {"masked": [PAY]},
            {"masked": [column("pay", masking="top-coding", threshold=10)]},
            "The base of http://x.org/People/pay is none, and by the owner it is 10.",
        ),
    ],
)
def test_a_masked_column_is_masked_as_the_owner_asks_or_less_is_told_of_it(asked, made, message):
    given = [{**PLAIN, "quasi": ["age"], "sensitive": [], **one} for one in (asked, made)]
    found = short(*({k: v for k, v in one.items() if v} | {"quasi": one["quasi"]} for one in given))
    assert bool(found) == bool(message)
    assert all(message in one for one in found[:1])


def test_a_sensitive_column_is_not_masked_in_its_place():
    asked = {"method": "l-diversity", "l": 2, "sensitive": ["pay"]}
    made = {"method": "l-diversity", "l": 2, "sensitive": ["disease"], "masked": [PAY]}
    assert any("is masked, and by the owner it is sensitive" in one for one in short(asked, made))


ALONE = {"method": "masking", "masked": [PAY]}
"""A transformation that bounds nothing, or an owner's leave to make one."""


def alone(**parts):
    """Return the rest of what `asking` and `making` give by default left out."""
    action = anonymize(**{**ALONE, **parts})
    consent = permission(action=action)
    [asked] = consents(read_policy(policy([consent], assigner=OWNER)))
    [made] = transformations(read_policy(policy([permission(action=action, output=OUTPUT)])))
    return asked, made


def test_who_asks_for_a_privacy_model_does_not_let_columns_be_masked_alone():
    asked, (_, made) = asking(method="k-anonymity", masked=[PAY]), alone()
    [shortfall] = shortfalls(asked, made, DATASET)
    assert shortfall.message == "The owner asks for k at least 4, and the policy for nothing."
    assert shortfall.place.line > 1


def test_who_lets_columns_be_masked_alone_asks_for_the_masking_and_no_more():
    asked, made = alone()
    assert shortfalls(asked, made, DATASET) == []
    assert bounds_of(asked) == ("pay (rounding, base 10)",)
    _, other = alone(masked=[column("pay", masking="rounding", base=5)])
    assert len(shortfalls(asked, other, DATASET)) == 1
    _, open_asked = alone(insensitive=["age"])
    assert len(shortfalls(asked, open_asked, DATASET)) == 1


def test_who_lets_columns_be_masked_alone_lets_a_model_be_asked_for_as_well():
    asked, _ = alone(insensitive=["age", "city", "disease"])
    made = making(method=["masking", "k-anonymity"], masked=[PAY])
    assert shortfalls(asked, made, DATASET) == []


def test_what_is_asked_of_masked_columns_is_told():
    assert "pay (rounding, base 10)" in bounds_of(asking(method="k-anonymity", masked=[PAY]))


CLASSES = {"method": "l-diversity", "l": 3}
BUCKETS = {**CLASSES, "algorithm": "bucketization"}


def test_buckets_are_not_classes_nor_classes_buckets():
    assert short(BUCKETS, BUCKETS) == short(CLASSES, CLASSES) == []
    assert "The owner asks for k at least 4, and the policy for nothing." in short(CLASSES, BUCKETS)
    found = short(BUCKETS, CLASSES)
    assert "The owner asks for bucket-k at least 4, and the policy for nothing." in found
    assert "algorithm is 'mondrian', and by the owner 'bucketization'." in found


def test_buckets_of_another_kind_fall_short():
    distinct = {**BUCKETS, "buckets": "distinct-l"}
    assert short(BUCKETS, distinct) == [
        "The owner asks for anatomy-l at least 3 of disease, and the policy for nothing."
    ]
    assert short(distinct, BUCKETS) == ["buckets is 'anatomy', and by the owner 'distinct-l'."]
    assert len(short(BUCKETS, {**BUCKETS, "l": 2})) == 2


def test_permuted_values_are_not_taken_for_k_anonymity():
    asked, made = {"method": "k-anonymity"}, {"method": "probabilistic-k-anonymity"}
    assert short(asked, made)


def test_a_share_of_unique_rows_is_held_against_that_of_the_owner():
    asked = {"method": "k-anonymity", "maxUniqueKept": 0.1}
    assert short(asked, asked) == short(asked, {**asked, "maxUniqueKept": 0.05}) == []
    for made, share in (
        ({**asked, "maxUniqueKept": 0.2}, "0.2"),
        ({"method": "k-anonymity"}, "nothing"),
    ):
        [message] = short(asked, made)
        assert message.endswith(f"asks for maxUniqueKept at most 0.1, and the policy for {share}.")
