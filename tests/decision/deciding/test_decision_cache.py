"""What is judged once on the way to a decision, and what is judged again for every way."""

from policy_engine.decision.deciding.cache import DecisionCache


def judge_twice(*, above, cut, before=()):
    """Return how often something was judged that is asked twice, and what is cut after that."""
    cache, times = DecisionCache(cut={*before}), []

    def judge():
        times.append(len(times))
        cache.cut.update(cut)
        return None, f"target {len(times)}"

    found = [cache.get_or_compute("key", frozenset(above), judge) for _ in range(2)]
    assert found[0] == (None, "target 1")
    assert found[1] == (None, f"target {len(times)}")
    return len(times), cache.cut


def test_what_depends_on_no_way_is_judged_once():
    assert judge_twice(above=(), cut=()) == (1, set())
    assert judge_twice(above=("a",), cut=()) == (1, set())


def test_what_was_cut_short_of_what_lies_above_is_judged_for_every_way():
    assert judge_twice(above=("a",), cut=("a",)) == (2, {"a"})
    assert judge_twice(above=("a", "b"), cut=("b", "c")) == (2, {"b"})


def test_what_was_cut_short_of_what_was_judged_itself_is_judged_once():
    assert judge_twice(above=(), cut=("a",)) == (1, set())


def test_what_was_cut_before_stays_cut_and_does_not_matter_here():
    assert judge_twice(above=("a",), cut=(), before=("a",)) == (1, {"a"})


def test_what_is_asked_otherwise_is_judged_by_itself():
    cache = DecisionCache()
    for key in ("one", "other"):
        assert cache.get_or_compute(key, frozenset(), lambda key=key: (None, key)) == (None, key)
