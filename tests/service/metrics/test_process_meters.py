import json

from policy_engine.service.metrics.call_meter import CallMeter, EventTally
from policy_engine.service.metrics.process_meters import ProcessMeters


def meters(folder, **given):
    own = ProcessMeters(folder, CallMeter(), EventTally(), lambda: 3, **given)
    own.calls.add("GET", "/runs", 200, 0.002)
    own.decisions.add("permit")
    return own


def of_another(folder, number, **changes):
    """Write what another process has counted: what this one has, under its own number."""
    own = meters(folder, is_shared=True)
    own.keep()
    [path] = (folder / "meters").glob("*.json")
    document = {**json.loads(path.read_text()), "process": number, **changes}
    path.rename(folder / "meters" / f"{number}.json").write_text(json.dumps(document))


def test_one_process_tells_of_itself_and_writes_nothing(tmp_path):
    totals = meters(tmp_path).totals()
    assert totals.calls == {("GET", "/runs", "200"): 1}
    assert totals.streams == 3
    assert [*tmp_path.iterdir()] == []


def test_several_processes_are_counted_together(tmp_path):
    of_another(tmp_path, 1)
    totals = meters(tmp_path, is_shared=True).totals()
    assert totals.calls == {("GET", "/runs", "200"): 2}
    assert totals.decisions == {("permit",): 2}
    durations = totals.durations["GET", "/runs"]
    assert (durations.counts[0], sum(durations.counts)) == (2, 2)
    assert abs(durations.seconds - 0.004) < 1e-9
    assert totals.streams == 6


def test_what_a_process_counted_that_has_ended_counts_but_its_streams_do_not(tmp_path):
    of_another(tmp_path, 2**22 + 1)
    totals = meters(tmp_path, is_shared=True).totals()
    assert totals.decisions == {("permit",): 2}
    assert totals.streams == 3


def test_a_process_that_ends_leaves_its_counts_without_streams(tmp_path):
    with meters(tmp_path, is_shared=True).kept():
        pass
    [path] = (tmp_path / "meters").glob("*.json")
    document = json.loads(path.read_text())
    assert document["decisions"] == [[["permit"], 1]]
    assert document["streams"] == 0


def test_what_was_counted_before_a_start_is_forgotten(tmp_path):
    own = meters(tmp_path, is_shared=True)
    own.keep()
    own.forget()
    assert [*tmp_path.iterdir()] == []
