"""Tables of Spark's catalog as inputs and outputs."""

import json

import pytest
from applying import asking
from building import DATASET
from everyday import everyday
from signing import key_of, trust_text

from policy_engine import SparkEngine, apply_policy, audit_disclosure, certify_output
from policy_engine.certificate.certificate import read_certificate
from policy_engine.engines.snapshots import TableSnapshot
from policy_engine.engines.spark import engine as engines
from policy_engine.engines.spark.catalog_tables import sql_name
from policy_engine.errors import CertificateError, OutputError, PolicyEngineError
from policy_engine.trust.trust_file import read_trust

pytestmark = pytest.mark.usefixtures("few_stages")
POLICY = asking(method="k-anonymity", k=2, quasi=["age"], insensitive=["row"])


@pytest.fixture(scope="module")
def catalog(spark, tmp_path_factory):
    """A session whose catalog holds `folk`, and nothing of it afterwards."""
    rows = [(20, 1), (21, 2), (40, 3), (41, 4)]
    place = tmp_path_factory.mktemp("catalog") / "folk"
    spark.createDataFrame(rows, "age int, row int").write.saveAsTable("folk", path=str(place))
    yield spark
    spark.sql("DROP TABLE folk")


@pytest.fixture
def engine(catalog):
    """An engine whose catalog holds `folk` alone, and does so again afterwards."""
    engine = SparkEngine(catalog, is_checked=True)
    yield engine
    for table in {*names(engine)} - {"folk"}:
        catalog.sql(f"DROP TABLE {table}")


def names(engine):
    tables = engine.session.catalog.listTables()
    return sorted(table.name for table in tables if not table.isTemporary)


def apply(engine, output, **options):
    return apply_policy(POLICY, {DATASET: "table:folk"}, output, engine=engine, **options)


def test_a_table_becomes_a_table_with_its_certificate(engine):
    # Spark takes credentials for secrets, which it does not show.
    release = apply(engine, "table:anonymous", sign=key_of(1))
    assert names(engine) == ["anonymous", "folk"]
    rows = engine.session.table("anonymous").collect()
    assert sorted(map(tuple, rows)) == [
        *(("[20 - 21]", 1), ("[20 - 21]", 2), ("[40 - 41]", 3), ("[40 - 41]", 4))
    ]
    with pytest.raises(OutputError, match="O001 The output exists: 'table:anonymous'"):
        apply(engine, "table:anonymous")
    properties = dict(engine.session.sql("SHOW TBLPROPERTIES anonymous").collect())
    made = release.certificate
    read = read_certificate(properties["policy_engine.certificate"])
    assert read == made
    assert read.signature is not None
    trust = read_trust(trust_text(**{"unsigned-policies": ["*"]}))
    again = certify_output("table:anonymous", POLICY, engine=engine, trust=trust)
    assert again.measurements == made.measurements
    assert again.output_digest == made.output_digest
    assert again.tells_making
    engine.session.sql("INSERT INTO anonymous VALUES ('[20 - 21]', 5)")
    with pytest.raises(CertificateError, match="V004"):
        certify_output("table:anonymous", POLICY, engine=engine, trust=trust)


@pytest.mark.nightly
def test_a_certificate_binds_the_version_of_a_table_that_keeps_its_versions(engine, monkeypatch):
    assert apply(engine, "table:anonymous").certificate.snapshot is None
    snapshot = TableSnapshot(format="delta", version="3")
    monkeypatch.setattr(engines, "current_snapshot", lambda *_: snapshot)
    made = apply(engine, "table:versioned", sign=key_of(1)).certificate
    read = read_certificate(engine.certificate_text("table:versioned"))
    assert made.snapshot == read.snapshot == snapshot
    assert read.signature is not None


@pytest.mark.nightly
def test_a_certificate_that_the_session_hides_is_not_published(engine):
    engine.session.conf.set("spark.sql.redaction.options.regex", "(?i)certificate")
    try:
        with pytest.raises(OutputError, match=r"O002 The session hides the certificate"):
            apply(engine, "table:anonymous")
    finally:
        engine.session.conf.unset("spark.sql.redaction.options.regex")
    assert names(engine) == ["folk"]


@pytest.mark.nightly
def test_a_format_that_the_session_lacks_is_told(engine):
    engine.session.conf.set("spark.sql.sources.default", "delta")
    try:
        with pytest.raises(PolicyEngineError, match="delta"):
            apply(engine, "table:anonymous")
    finally:
        engine.session.conf.unset("spark.sql.sources.default")


@pytest.mark.nightly
def test_a_table_is_attacked_by_who_knows_its_certificate(engine):
    apply(engine, "table:anonymous")
    attacks = ["distance-linkage", "likelihood-linkage"]
    audit = audit_disclosure("table:folk", "table:anonymous", attacks=attacks, engine=engine)
    assert (audit.known, audit.matched_by) == (("age",), ("row",))
    assert [(one.attack, one.linked.value) for one in audit.attacks] == [(a, 0.5) for a in attacks]


@pytest.mark.nightly
def test_the_making_of_a_table_without_a_certificate_is_not_known(engine):
    apply(engine, "table:anonymous")
    name = "policy_engine.certificate"
    engine.session.sql(f"ALTER TABLE anonymous UNSET TBLPROPERTIES ('{name}')")
    found = certify_output("table:anonymous", POLICY, engine=engine)
    assert found.holds
    assert not found.tells_making
    text = found.to_jsonld().replace("'", "\\'")
    engine.session.sql(f"ALTER TABLE anonymous SET TBLPROPERTIES ('{name}'='{text}')")
    again = POLICY.replace("anonPeople", "again").replace("x.org/People", "x.org/anonPeople")
    with pytest.raises(CertificateError, match="V016"):
        apply_policy(again, {"http://x.org/anonPeople": "table:anonymous"}, engine=engine)


@pytest.mark.nightly
def test_a_table_is_certified_against_the_certificate_among_its_properties(engine):
    apply(engine, "table:anonymous")
    engine.session.sql("INSERT INTO anonymous VALUES ('[20 - 21]', 9)")
    with pytest.raises(CertificateError, match="V004 The output is not the one that was certified"):
        certify_output("table:anonymous", POLICY, engine=engine)
    engine.session.sql("ALTER TABLE anonymous SET TBLPROPERTIES ('policy_engine.certificate'='')")
    with pytest.raises(CertificateError, match="V005"):
        certify_output("table:anonymous", POLICY, engine=engine)


@pytest.mark.nightly
def test_the_parts_of_a_name_are_quoted(engine):
    release = apply(engine, "table:`spark_catalog`.default.anonymous")
    assert release.table.count() == 4
    assert names(engine) == ["anonymous", "folk"]


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("a", "`a__x`"),
        ("a-b.c d.e", "`a-b`.`c d`.`e__x`"),
        ("`a.b`.`c``d`", "`a.b`.`c``d__x`"),
        ("a..b", "`a..b__x`"),
        ("a; DROP TABLE b`", "`a; DROP TABLE b``__x`"),
    ],
)
def test_a_name_is_quoted_part_by_part(name, quoted):
    assert sql_name(f"table:{name}", "__x") == quoted


@pytest.mark.nightly
def test_a_release_is_replaced_where_that_is_asked_for(engine):
    first = apply(engine, "table:anonymous").certificate
    assert apply(engine, "table:anonymous", overwrite=True).certificate.rows_out == 4
    assert first.rows_out == 4
    assert names(engine) == ["anonymous", "folk"]


def test_a_table_that_is_no_release_is_never_replaced(engine):
    engine.session.sql("CREATE TABLE other AS SELECT 1 AS x")
    with pytest.raises(OutputError, match="O001 'table:other' is not a release"):
        apply(engine, "table:other", overwrite=True)
    with pytest.raises(OutputError, match="O001"):
        apply(engine, "table:folk", overwrite=True)
    assert engine.session.table("other").collect() == [(1,)]


def test_nothing_is_left_where_a_release_is_refused(engine):
    policy = json.loads(POLICY)
    with pytest.raises(PolicyEngineError, match="R002"):
        apply_policy(
            json.dumps(policy).replace('"rightOperand": 2', '"rightOperand": 9'),
            {DATASET: "table:folk"},
            "table:anonymous",
            engine=engine,
        )
    assert names(engine) == ["folk"]


UNUSABLE = ("nothere.x", "a b", "x; DROP TABLE folk")


@pytest.mark.parametrize("name", everyday(UNUSABLE, "x; DROP TABLE folk"))
def test_a_name_that_spark_does_not_take_is_refused(engine, name):
    with pytest.raises(PolicyEngineError):
        apply(engine, f"table:{name}")
    assert names(engine) == ["folk"]


LOCK = "anonymous__policy_engine_lock"


LOCKS = ["VIEW {} AS SELECT 1 AS run", "TABLE {} (run INT) USING csv"]


@pytest.mark.parametrize("made", everyday(LOCKS, LOCKS[0]))
def test_a_second_run_is_told_of_the_first_whose_lock_stays(engine, made):
    session = engine.session
    session.sql(f"CREATE {made.format(LOCK)}")
    with pytest.raises(OutputError, match=f"O001 Another run .* drop '`{LOCK}`'"):
        apply(engine, "table:anonymous")
    assert names(engine) == [LOCK, "folk"]
    session.sql(f"DROP {made.split()[0]} {LOCK}")


@pytest.mark.nightly
def test_a_run_whose_lock_was_dropped_is_made_again(engine):
    engine.session.sql(f"CREATE {LOCKS[0].format(LOCK)}")
    with pytest.raises(OutputError, match="O001 Another run"):
        apply(engine, "table:anonymous")
    engine.session.sql(f"DROP VIEW {LOCK}")
    apply(engine, "table:anonymous")
    assert names(engine) == ["anonymous", "folk"]


@pytest.mark.nightly
def test_a_run_waits_for_another_where_it_is_asked_to(engine, monkeypatch):
    from policy_engine.certificate.publication import tables

    monkeypatch.setattr(tables, "_PAUSE", 0.01)
    told = []
    engine.session.sql(f"CREATE VIEW {LOCK} AS SELECT 1 AS run")

    def progress(stage, _done, _total):
        told.append(stage)
        if stage.startswith("waiting"):
            engine.session.sql(f"DROP VIEW {LOCK}")

    apply(engine, "table:anonymous", wait=True, progress=progress)
    assert told.count("waiting for another run") == 1


@pytest.mark.nightly
@pytest.mark.parametrize(("step", "number"), [("_rename", 2), ("_rename", 1), ("_drop", 1)])
def test_a_release_whose_replacement_is_killed_is_put_back_or_dropped(
    engine, monkeypatch, step, number
):
    from policy_engine.certificate.publication.tables import TablePublication

    class Killed(BaseException):
        """Ends a run as a kill would, without what it does on leaving."""

    before = apply(engine, "table:anonymous").certificate
    calls, call = [], getattr(TablePublication, step)

    def killed(self, *given):
        calls.append(given)
        if len(calls) >= number:
            raise Killed
        call(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(TablePublication, step, killed)
        patch.setattr(TablePublication, "_clean_up", lambda _self: None)
        with pytest.raises(Killed):
            apply(engine, "table:anonymous", overwrite=True)
    engine.session.sql(f"DROP VIEW {LOCK}")
    with pytest.raises(OutputError, match="O001 The output exists"):
        apply(engine, "table:anonymous")
    assert names(engine) == ["anonymous", "folk"]
    properties = dict(engine.session.sql("SHOW TBLPROPERTIES anonymous").collect())
    left = read_certificate(properties["policy_engine.certificate"])
    assert (left == before) == (step == "_rename")
