import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from policy_engine.errors import ServiceError
from policy_engine.service.calls.rates import RateLimit
from policy_engine.service.workers import sharing
from policy_engine.service.workers.sharing import Shared

_TAKES = """
import sys
from policy_engine.service.workers.sharing import Shared
shared = Shared(int(sys.argv[1]))
print(sum(shared.take("ada", 100, 0.0, 1.0) for _ in range(80)))
"""


@pytest.fixture
def shared():
    with closing(Shared.make()) as made:
        yield made


def taken_elsewhere(shared):
    command = [sys.executable, "-c", _TAKES, str(shared.number)]
    return int(subprocess.run(command, pass_fds=[shared.number], stdout=-1, check=True).stdout)


def test_a_bucket_is_taken_from_by_several_processes_at_once(shared):
    with ThreadPoolExecutor() as pool:
        taken = pool.map(lambda _: taken_elsewhere(shared), range(2))
        own = sum(shared.take("ada", 100, 0.0, 1.0) for _ in range(80))
        assert own + sum(taken) == 100
    assert shared.take("bob", 100, 0.0, 1.0)


def test_a_bucket_fills_again_up_to_what_it_holds(shared):
    assert [shared.take("ada", 2, 0.5, moment) for moment in (0, 0, 0, 2, 2)] == [
        *(True, True, False),
        *(True, False),
    ]
    assert [shared.take("ada", 2, 0.5, 1000.0) for _ in range(3)] == [True, True, False]


def test_who_called_longest_ago_is_forgotten(shared, monkeypatch):
    monkeypatch.setattr(sharing, "_SETS", 1)
    for number in range(sharing._WAYS):
        assert shared.take(str(number), 1, 0.0, 1.0 + number)
    assert not shared.take("0", 1, 0.0, 20.0)
    assert shared.take("new", 1, 0.0, 21.0)
    assert shared.take("1", 1, 0.0, 22.0)
    assert not shared.take("0", 1, 0.0, 23.0)


def test_limits_that_share_buckets_do_not_mix(shared):
    few = RateLimit(1, clock=lambda: 0.0, shared=shared, name="few")
    again = RateLimit(1, clock=lambda: 0.0, shared=shared, name="few")
    many = RateLimit(1, clock=lambda: 0.0, shared=shared, name="many")
    few.spend("ada")
    many.spend("ada")
    with pytest.raises(ServiceError, match="N006"):
        again.spend("ada")


def test_the_file_is_private_and_has_no_name(shared):
    assert os.fstat(shared.number).st_nlink == 0
