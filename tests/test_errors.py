import pickle
import re
from pathlib import Path

import pytest

from policy_engine import errors
from policy_engine.errors import Place, PolicyError, Problem, did_you_mean, join_names, locate


def test_locate_names_what_is_known():
    placed = Problem("J001", "Wrong.", "Mend it.", Place("/a", 3, 7))
    assert locate(placed, "p.jsonld") == "p.jsonld:3:7: J001 Wrong. Mend it."
    assert locate(Problem("J001", "Wrong."), "p.jsonld") == "p.jsonld: J001 Wrong."
    assert locate(Problem("J001", "Wrong."), "") == "J001 Wrong."


def test_an_error_shows_every_problem():
    error = PolicyError(Problem("P002", "One."), Problem("P003", "Two."), source="x")
    assert str(error) == "x: P002 One.\nx: P003 Two."


@pytest.mark.parametrize(
    ("names", "text"),
    [(["a"], "'a'"), (["a", "b"], "'a' and 'b'"), (["a", "b", "c"], "'a', 'b' and 'c'")],
)
def test_listed(names, text):
    assert join_names(names) == text


def test_did_you_mean_only_what_is_near():
    assert did_you_mean("constrant", ["constraint", "action"]) == "Did you mean 'constraint'?"
    assert did_you_mean("xyz", ["constraint"]) == ""


NO_CODES = {"S256"}  # a code challenge method of RFC 7636


def test_every_code_in_use_is_known_and_every_code_known_is_in_use():
    sources = Path(errors.__file__).parent.rglob("*.py")
    text = "\n".join(p.read_text() for p in sources if p.name != "errors.py")
    used = set(re.findall(r'"([A-Z]\d{3})"', text)) - NO_CODES
    assert used | {"X001"} == set(errors.CODES)


def test_what_was_given_is_never_suggested():
    assert did_you_mean("rel", ["rel"]) == ""
    assert did_you_mean("rel", ["rel", "rels"]) == "Did you mean 'rels'?"


def drawn(text):
    """Return the class above each one that a tree of classes is drawn with."""
    found, path = {}, []
    for line in text.splitlines():
        name = re.match(r"[ │├└─]*", line).end()
        if match := re.match(r"[A-Z]\w+Error\b", line[name:]):
            path = [one for one in path if one[0] < name]
            found[match[0]] = path[-1][1] if path else "Exception"
            path.append((name, match[0]))
    return found


def test_the_tree_that_is_drawn_is_that_of_the_classes():
    classes = [one for one in vars(errors).values() if isinstance(one, type)]
    own = [one for one in classes if issubclass(one, Exception)]
    assert drawn(errors.__doc__) == {one.__name__: one.__base__.__name__ for one in own}
    assert drawn(errors.__doc__)["AuditError"] == "PolicyEngineError"


def test_a_place_that_is_sought_is_found_once_and_equals_the_one_found():
    asked = []

    def seek(*by):
        asked.append(by)
        return Place("/a", 3, 7)

    place = Place.sought(seek, "", "target", 2)
    assert asked == []
    assert (place.line, place.pointer, place.column) == (3, "/a", 7)
    assert place == Place("/a", 3, 7)
    assert hash(place) == hash(Place("/a", 3, 7))
    assert pickle.loads(pickle.dumps(place)) == place
    assert place.moved("/b") == Place("/b", 3, 7)
    assert place != ("/a", 3, 7)
    assert asked == [("", "target", 2)]
