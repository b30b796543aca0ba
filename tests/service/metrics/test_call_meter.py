from policy_engine.service.metrics.call_meter import BOUNDS, CallMeter, Durations, EventTally


def test_what_happens_is_counted_by_its_labels():
    tally = EventTally()
    for effect in ("permit", "deny", "permit"):
        tally.add(effect)
    assert tally.totals() == {("permit",): 2, ("deny",): 1}


def test_a_duration_is_counted_up_to_the_first_bound_that_it_is_within():
    durations = Durations()
    for seconds in (0.005, 0.006, 31.0):
        durations.add(seconds, "GET")
    [totals] = durations.totals().values()
    assert totals.counts == (1, 1, *[0] * (len(BOUNDS) - 2), 1)
    assert abs(totals.seconds - 31.011) < 1e-9


def test_methods_that_callers_make_up_are_counted_as_one():
    meter = CallMeter()
    for method in ("A", "B", "GET"):
        meter.add(method, "/", 405, 0.1)
    assert meter.calls.totals() == {("other", "/", "405"): 2, ("GET", "/", "405"): 1}
