import time

import pytest

from policy_engine.kernels.output_checks.highs_models import new_model, run_until_optimal
from policy_engine.kernels.output_checks.table_system import flat_dimension, lay_out
from policy_engine.kernels.output_checks.work_time import UNLIMITED, TimeUpError, WorkTime


def test_time_is_up_after_its_seconds():
    WorkTime.of_seconds(60).check()
    with pytest.raises(TimeUpError):
        WorkTime.of_seconds(-1).check()


def test_time_without_an_end_is_never_up():
    UNLIMITED.check()
    assert UNLIMITED.share(2) == 0
    assert 29 < WorkTime.of_seconds(60).share(2) <= 30


def test_time_in_which_the_processor_does_something_else_does_not_count(monkeypatch):
    limit = WorkTime.of_seconds(60)
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 3600)
    limit.check()


def test_a_programme_is_not_solved_once_time_is_up():
    layout = lay_out([flat_dimension(2)])
    ones = [1.0, 1.0, 1.0]
    solver = new_model(ones, [0.0] * 3, ones, layout.equations)
    with pytest.raises(TimeUpError):
        run_until_optimal(solver, WorkTime.of_seconds(-1))
    # The time of runs before does not count.
    assert run_until_optimal(solver, WorkTime.of_seconds(60))
    assert run_until_optimal(solver)
