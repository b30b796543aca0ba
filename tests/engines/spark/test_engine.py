import json

import pytest
from applying import asking
from both import released, rows_of
from building import ANALYST, DATASET, OUTPUT, anonymize, column, permission, policy
from everyday import everyday

from policy_engine import apply_policy, certify_output, explore_policy, plan_policy
from policy_engine.decision import World
from policy_engine.decision.log import read_log
from policy_engine.engines.launching import launch_engine
from policy_engine.engines.spark import engine as engines
from policy_engine.engines.spark.coding import Coding
from policy_engine.errors import CertificateError, DeniedError, EngineError, PolicyEngineError
from policy_engine.plan.lineage import Maker

pytestmark = pytest.mark.usefixtures("few_rows")


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
    with pytest.raises(ValueError, match="it failed"), launch_engine("spark", keep=keep):
        raise ValueError("it failed")
    assert stopped == ["a session of our own"]


def test_a_session_of_our_own_stays_where_a_release_lies_on_its_cluster(stopped):
    with launch_engine("spark", keep=True) as launcher:
        assert launcher.name == "spark"
    assert stopped == []


def test_a_session_that_was_given_is_never_stopped(stopped):
    with launch_engine(engines.SparkEngine("a session of somebody's")):
        pass
    assert stopped == []


def test_a_key_is_not_shown():
    assert "secret" not in repr(Coding({}, {}, (), key=b"secret"))


ROWS = "age,sex,who\n20,f,1\n21,m,2\n40,f,3\n41,m,4\n"
OTHERS = "age,sex,who\n20,f,1\n21,f,2\n40,m,3\n41,m,4\n"
ASKED = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "insensitive": ["sex"]}


def cached(engine):
    return engine.spark._jsparkSession.sharedState().cacheManager().numCachedEntries()


PERSONS = {"cells": "bounds", "privacyUnit": "who"}


ROUNDED = {"method": "masking", "masked": [column("age", masking="rounding", base=10)]}
KINDS = {"classes": ASKED, "persons": ASKED | PERSONS, "rows": ROUNDED | {"insensitive": ["sex"]}}


@pytest.fixture(params=everyday(KINDS, "rows"))
def in_memory(request, cluster, tmp_path):
    """A release in memory whose source has changed since, and its rows."""
    source = tmp_path / "people.csv"
    source.write_text(ROWS)
    release = released(cluster, str(source), **KINDS[request.param])
    expected = rows_of(release.table.toArrow())
    source.write_text(OTHERS)
    return release, expected


@pytest.mark.nightly
def test_what_is_written_of_a_release_in_memory_is_what_was_measured(in_memory, tmp_path):
    release, expected = in_memory
    written = release.write(tmp_path / "out" / "o.parquet")
    assert rows_of(written.table.toArrow()) == rows_of(release.table.toArrow()) == expected


@pytest.mark.nightly
def test_nothing_is_written_of_a_release_in_memory_that_was_lost(cluster, in_memory, tmp_path):
    release, _ = in_memory
    release.write(tmp_path / "out" / "o.parquet")
    cluster.spark.catalog.clearCache()  # as if the executors were lost
    with pytest.raises(CertificateError, match="V004 The rows of the release are not those"):
        release.write(tmp_path / "again" / "o.csv")
    assert not (tmp_path / "again").exists()
    assert cached(cluster) == 0


def test_nothing_is_held_behind_a_release_that_fails(cluster, tmp_path):
    before = cached(cluster)
    (tmp_path / "people.csv").write_text(ROWS)
    data = {DATASET: str(tmp_path / "people.csv")}
    with pytest.raises(PolicyEngineError, match="R002"):
        apply_policy(asking(**ASKED | {"k": 9}), data, engine=cluster)
    assert cached(cluster) == before


@pytest.mark.nightly
def test_nothing_is_held_behind_a_certification_that_fails(cluster, tmp_path):
    before = cached(cluster)
    policy = asking(method="l-diversity", k=2, l=2, quasi=["age"], sensitive=["sex"])
    (tmp_path / "people.csv").write_text(ROWS)
    data = {DATASET: str(tmp_path / "people.csv")}
    apply_policy(policy, data, tmp_path / "out" / "o.csv", engine=cluster)
    [file] = (tmp_path / "out" / "o.csv").glob("*.csv")
    (file.parent / f".{file.name}.crc").unlink()
    file.write_text("age,sex\n[20 - 21],f\n[20 - 21],f\n")
    with pytest.raises(CertificateError, match="V001"):
        certify_output(tmp_path / "out" / "o.csv", policy, engine=cluster)
    assert cached(cluster) == before


MAKE = "http://x.org/make"
ONCE = {"leftOperand": "count", "operator": "lteq", "rightOperand": 1}
NOON = World(time="2026-06-01T12:00:00Z")


def to_be_made(**parts):
    """Return a policy of which one party may make a release, once."""
    action = anonymize(**ASKED)
    rule = permission(uid=MAKE, action=action, output=OUTPUT, constraint=ONCE, **parts)
    return json.loads(policy([rule], uid="http://x.org/first"))


@pytest.mark.nightly
def test_who_may_make_a_release_on_spark_is_decided_and_certified(cluster, tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    data, log = {DATASET: str(tmp_path / "people.csv")}, tmp_path / "log.jsonl"
    acting = {"purpose": "marketing", "world": NOON, "log": log, "engine": cluster}
    source, out = to_be_made(), tmp_path / "out"
    with pytest.raises(DeniedError, match="D007"):
        apply_policy(source, data, out, party="http://x.org/bob", **acting)
    assert not out.exists()
    made = apply_policy(source, data, out, party=ANALYST, **acting).certificate
    assert made.made_by == Maker(
        party=ANALYST, purpose="https://www.mosaicrown.eu/ns/mosaicrown/1/marketing", rules=(MAKE,)
    )
    assert [one.decision.effect for one in read_log(log)] == ["deny", "permit"]
    with pytest.raises(DeniedError, match="count is 2"):
        apply_policy(source, data, tmp_path / "again", party=ANALYST, **acting)
    with pytest.raises(DeniedError, match="count is 2"):
        explore_policy(source, data, {"k": (2,)}, party=ANALYST, **acting)
    trial = {**acting, "log": None, "world": NOON.model_copy(update={"counts": {MAKE: 0}})}
    planned = plan_policy(source, data, party=ANALYST, **trial)
    assert planned.engine == "spark"
    again = certify_output(out, source, party=ANALYST, **trial)
    assert again.made_by == made.made_by


@pytest.mark.nightly
def test_what_a_party_makes_of_a_release_on_spark_needs_its_certificate(cluster, tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    first = json.loads(policy([permission(action=anonymize(**ASKED), output=OUTPUT)]))
    data = {DATASET: str(tmp_path / "people.csv")}
    apply_policy(first, data, tmp_path / "one" / "safe.parquet", engine=cluster)
    action = anonymize(method="k-anonymity", k=2, quasi=["sex"])
    action = json.loads(json.dumps(action).replace(DATASET, OUTPUT))
    rule = permission(action=action, target=OUTPUT, output="http://x.org/again", uid=MAKE)
    second = json.loads(policy([rule], uid="http://x.org/second"))
    acting = {"party": ANALYST, "purpose": "marketing", "policies": [first], "world": NOON}
    given = {OUTPUT: str(tmp_path / "one" / "safe.parquet")}
    made = apply_policy(second, given, tmp_path / "two", engine=cluster, **acting).certificate
    assert [one.asset for one in made.upstream] == [OUTPUT]
    assert made.made_by.party == ANALYST
    with pytest.raises(DeniedError, match=r"which is not in force|not among"):
        apply_policy(
            second, given, tmp_path / "three", engine=cluster, **{**acting, "policies": []}
        )
    assert not (tmp_path / "three").exists()
