from policy_engine import terms
from policy_engine.methods.output_checks.profiles import PROFILES


def test_profiles_are_those_of_the_vocabulary():
    known = terms.instances(f"{terms.PE}OutputProfile").values()
    assert sorted(str(one.facts["notation"]) for one in known) == sorted(PROFILES)


def test_every_profile_says_where_it_comes_from():
    assert all(one.source and one.version for one in PROFILES.values())


def test_thresholds_are_those_that_are_published():
    found = {name: (one.min_units, one.max_two_largest_share) for name, one in PROFILES.items()}
    assert found == {
        "dwb-2015": (10, None),
        "sacro": (10, 0.9),
        "abs": (10, 0.67),
        "bundesbank": (5, 0.85),
        "iab": (20, None),
        "statcan": (5, None),
        "fsrdc": (3, None),
    }
