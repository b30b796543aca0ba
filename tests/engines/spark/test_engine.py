import pytest

from policy_engine.engines.spark import engine as engines
from policy_engine.engines.spark.coding import Coding
from policy_engine.errors import EngineError
from policy_engine.launch import launched


@pytest.fixture
def stopped(java, monkeypatch):  # noqa: ARG001
    """The sessions that were stopped; none is really started."""
    found = []
    monkeypatch.setattr(engines, "start", lambda *_: "a session of our own")
    monkeypatch.setattr(engines, "runs_here", lambda *_: False)
    monkeypatch.setattr(engines, "check_workers", lambda _: None)
    monkeypatch.setattr(engines, "stop", found.append)
    monkeypatch.setattr("policy_engine.engines.spark.session.stop", found.append)
    return found


def test_a_session_of_our_own_ends_where_its_executors_lack_something(stopped, monkeypatch):
    def lacking(_):
        raise EngineError.of("S004", "The executors lack numba.")

    monkeypatch.setattr(engines, "check_workers", lacking)
    with pytest.raises(EngineError, match="S004"):
        engines.SparkEngine().started()
    assert stopped == ["a session of our own"]
    with pytest.raises(EngineError, match="S004"):
        engines.SparkEngine("a session of somebody's").started()
    assert len(stopped) == 1


@pytest.mark.parametrize("keep", [False, True])
def test_a_session_of_our_own_ends_where_a_run_fails(stopped, keep):
    with pytest.raises(ValueError, match="it failed"), launched("spark", keep=keep):
        raise ValueError("it failed")
    assert stopped == ["a session of our own"]


def test_a_session_of_our_own_stays_where_a_release_lies_on_its_cluster(stopped):
    with launched("spark", keep=True) as launcher:
        assert launcher.name == "spark"
    assert stopped == []


def test_a_session_that_was_given_is_never_stopped(stopped):
    with launched(engines.SparkEngine("a session of somebody's")):
        pass
    assert stopped == []


def test_a_key_is_not_shown():
    assert "secret" not in repr(Coding({}, {}, (), key=b"secret"))
