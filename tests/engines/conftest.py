from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("both")

_FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items):
    ignored = pytest.mark.filterwarnings(
        "ignore:PySpark does not yet fully support pandas:FutureWarning"
    )
    for item in items:
        if item.path.is_relative_to(_FOLDER):
            item.add_marker(ignored)


@pytest.fixture(scope="session")
def spark(java, tmp_path_factory):  # noqa: ARG001
    """One session on two cores of this machine, for all tests."""
    from policy_engine.engines.spark.session import start, stop

    warehouse = str(tmp_path_factory.mktemp("warehouse"))
    conf = {"spark.sql.shuffle.partitions": "4", "spark.sql.warehouse.dir": warehouse}
    # Hundreds of small jobs do not live to see what the second compiler of the JVM is good for:
    # without it, a third less of Spark's CPU. The first has too little room by default for what
    # they need, and would throw it away and compile it again. Nor need Spark's own classes be
    # verified: a tenth.
    options = (
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:ReservedCodeCacheSize=256m",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:-BytecodeVerificationRemote",
    )
    conf["spark.driver.extraJavaOptions"] = " ".join(options)
    conf["spark.python.daemon.module"] = "forking"  # in the folder beside
    conf["spark.executorEnv.PYTHONPATH"] = str(_FOLDER / "spark")
    session = start("local[2]", conf)
    yield session
    stop(session)


@pytest.fixture(scope="session")
def cluster(spark):
    """The Spark engine on that session, its executors looked at once."""
    from policy_engine.engines.spark.engine import SparkEngine

    return SparkEngine(session=spark).started()


# A few rows do not repay what Spark does for many: it plans the rest of a query again after each of
# its stages, and generates and compiles code for each query.
_FEW_STAGES = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
}
_FOR_FEW_ROWS = _FEW_STAGES | {"spark.sql.codegen.factoryMode": "NO_CODEGEN"}


@pytest.fixture(scope="module")
def few_rows(spark):
    """Let Spark neither compile queries nor plan them again, except in the nightly profile.

    Files that list tables of the catalog cannot use it, but `few_stages`: Spark lists them with
    compiled code alone.
    """
    with _chosen(spark, _FOR_FEW_ROWS):
        yield


@pytest.fixture(scope="module")
def few_stages(spark):
    """Let Spark compile less of queries and not plan them again, except in the nightly profile."""
    with _chosen(spark, _FEW_STAGES):
        yield


@contextmanager
def _chosen(spark, settings_of_a_day):
    is_nightly = settings.get_current_profile_name() == "nightly"
    chosen = {} if is_nightly else settings_of_a_day
    before = {name: spark.conf.get(name, None) for name in chosen}
    for name, value in chosen.items():
        spark.conf.set(name, value)
    yield
    for name, value in before.items():
        spark.conf.unset(name) if value is None else spark.conf.set(name, value)
