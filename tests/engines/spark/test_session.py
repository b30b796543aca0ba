import os
import signal
import socket
import subprocess
import sys
import textwrap

import pytest
from standalone import cluster, connect_server

from policy_engine.engines.spark import session as sessions
from policy_engine.engines.spark.jobs import running
from policy_engine.engines.spark.session import (
    check_java,
    check_master_answers,
    check_pyspark,
    java_version,
    start,
)
from policy_engine.engines.spark.workers import Worker, check_worker, check_workers
from policy_engine.errors import EngineError

HEAD = """
from policy_engine.engines.spark.jobs import running
from policy_engine.engines.spark.session import start, stop
from policy_engine.engines.spark.workers import check_workers
from policy_engine.errors import PolicyEngineError
"""


def run_alone(code, *arguments, **environment):
    """Run Python code in a process of its own, as sessions need; return what it printed."""
    ran = subprocess.run(
        [sys.executable, "-c", HEAD + textwrap.dedent(code), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        text=True,
        timeout=180,
    )
    assert ran.stderr == ""
    return ran.stdout.splitlines()


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "21-ea"', 21),
        ('java version "1.8.0_402"', 8),
        ("no such thing", 0),
    ],
)
def test_java_version_is_the_major_one(text, version):
    assert java_version(text) == version


def test_check_java_says_which_java_is_too_old(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EngineError, match=r"S002 Java 17 or later is needed\. Found: Java 11"):
        check_java()


def test_check_java_says_how_to_get_it_when_there_is_none(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match=r"S001 Java 17 or later is needed.*or set JAVA_HOME"):
        check_java()


def test_check_java_names_a_java_home_without_java(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EngineError, match=r"S001 .* JAVA_HOME is '/"):
        check_java()


def test_check_pyspark_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(EngineError, match=r"S001 .*pip install 'policy-engine\[spark\]'"):
        check_pyspark()


def test_check_pyspark_refuses_an_older_one(monkeypatch):
    monkeypatch.setattr("pyspark.__version__", "3.5.10")
    with pytest.raises(EngineError, match=r"S001 .* Found: 3\.5\.10\. Needed: 4\.1 or later"):
        check_pyspark()


@pytest.mark.parametrize("kind", ["spark", "sc"])
def test_check_answers_refuses_a_port_that_nobody_listens_on(kind):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(EngineError, match=rf"S003 The master '{kind}://127\.0\.0\.1:{port}' does"):
        check_master_answers(f"{kind}://127.0.0.1:{port}", 5)


def test_check_answers_is_content_with_one_master_of_several():
    with socket.create_server(("127.0.0.1", 0)) as server:
        check_master_answers(f"spark://127.0.0.1:1,127.0.0.1:{server.getsockname()[1]}", 5)


def test_check_answers_gives_up_in_time(monkeypatch):
    def late(*_):
        raise TimeoutError

    monkeypatch.setattr(sessions.socket, "create_connection", late)
    with pytest.raises(EngineError, match=r"does not answer within 5 s\."):
        check_master_answers("spark://10.0.0.1:7077", 5)


HERE = Worker("here", "/bin/python", "3.11", {"numpy": "2.0", "policy_engine": "1.0"})


@pytest.mark.parametrize(
    ("python", "versions", "said"),
    [
        ("3.11", {"numpy": "", "policy_engine": ""}, "cannot import 'numpy' and 'policy_engine'"),
        ("3.11", {"numpy": "2.0", "policy_engine": "0.9"}, "policy_engine 0.9, and the driver 1.0"),
        ("3.12", {"numpy": "2.0", "policy_engine": "1.0"}, "Python 3.12, the driver 3.11"),
    ],
)
def test_check_worker_names_host_and_difference(python, versions, said):
    with pytest.raises(EngineError, match=f"S004 .*'there' .*{said}"):
        check_worker(Worker("there", "/bin/python", python, versions), HERE)


def test_check_worker_allows_another_numpy():
    check_worker(Worker("there", "/x", "3.11", {"numpy": "2.1", "policy_engine": "1.0"}), HERE)


def test_check_workers_is_content_with_this_machine(spark):
    check_workers(spark)


def test_check_workers_names_a_package_that_is_missing(spark):
    with pytest.raises(EngineError, match=r"S004 The Python on .* cannot import 'no_such_one'\."):
        check_workers(spark, ("numpy", "no_such_one"))


def test_running_tags_its_jobs_and_no_others(spark):
    with running(spark, "counting, twice") as tag:
        assert tag in spark.sparkContext.getJobTags()
        assert spark.range(3).count() == 3
    assert set(spark.sparkContext.getJobTags()) == set()


@pytest.mark.usefixtures("java")
@pytest.mark.nightly
def test_running_ends_its_jobs_on_ctrl_c():
    code = """
        import os, signal, threading, time

        def sleeping(batches):
            for _ in batches:
                time.sleep(20)
            yield from ()

        session = start("local[2]", {})
        threading.Timer(2, os.kill, [os.getpid(), signal.SIGINT]).start()
        began = time.monotonic()
        try:
            with running(session, "sleeping"):
                session.range(2).mapInArrow(sleeping, "id long").collect()
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - began < 14)
        print(session.range(3).count())
        print(list(session.sparkContext.statusTracker().getActiveJobsIds()))
        stop(session)
    """
    assert run_alone(code) == ["interrupted True", "3", "[]"]


@pytest.mark.usefixtures("spark")
def test_start_keeps_what_this_process_does_on_ctrl_c():
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("spark")
def test_start_refuses_a_second_session():
    with pytest.raises(EngineError, match="M003 There is a Spark session in this process already"):
        start("local[1]")


@pytest.mark.usefixtures("java")
@pytest.mark.nightly
def test_start_prints_nothing_and_stop_leaves_no_process():
    code = """
        import os
        for _ in range(2):
            session = start("local[1]")
            print(session.range(3).count(), session.conf.get("spark.sql.session.timeZone"))
            stop(session)
            try:
                os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                print("no child")
        print("PYSPARK_PYTHON" in os.environ)
    """
    assert run_alone(code) == ["3 UTC", "no child"] * 2 + ["False"]


@pytest.mark.usefixtures("java")
@pytest.mark.nightly
def test_start_takes_the_settings_of_the_user():
    code = """
        given = {"spark.sql.session.timeZone": "Asia/Tokyo", "spark.app.name": "mine"}
        session = start("local[1]", given)
        print(*(session.conf.get(key) for key in given))
        stop(session)
    """
    assert run_alone(code) == ["Asia/Tokyo mine"]


@pytest.mark.usefixtures("java")
@pytest.mark.nightly
def test_start_says_in_one_line_what_spark_refuses():
    code = """
        for master, key in (
            ("local[1]", "spark.driver.memory"), ("local[1]", "spark.task.cpus"), ("no", "x.y")
        ):
            try:
                start(master, {key: "abc"})
            except PolicyEngineError as error:
                print(error)
    """
    memory, cores, master = run_alone(code)
    assert memory.startswith("M003 Spark cannot be started. Invalid")
    assert cores.startswith("M003 Spark refuses the session. [INVALID_CONF_VALUE")
    assert master.startswith("M003 Spark")


@pytest.mark.usefixtures("java")
@pytest.mark.nightly
def test_start_uses_spark_connect_and_leaves_the_server():
    code = """
        import os, signal, sys, threading, time
        from policy_engine.engines.spark.failures import carry_errors
        from policy_engine.errors import DataError

        @carry_errors
        def failing(batches):
            raise DataError.of("R004", "long " * 1000, source="x")
            yield

        def sleeping(batches):
            for _ in batches:
                time.sleep(60)
            yield from ()

        def tried(what, task):
            try:
                with running(session, what):
                    session.range(2).mapInArrow(task, "id long").collect()
            except PolicyEngineError as error:
                print(type(error).__name__, len(error.problems[0].message), error.source)
            except KeyboardInterrupt:
                print("interrupted")

        session = start(sys.argv[1])
        check_workers(session)
        tried("failing", failing)
        began = time.monotonic()
        threading.Timer(2, os.kill, [os.getpid(), signal.SIGINT]).start()
        tried("sleeping", sleeping)
        print(session.range(3).count(), time.monotonic() - began < 20, session.getTags())
        try:
            check_workers(session, ["no_such_one"])
        except PolicyEngineError as error:
            print(str(error)[:4])
        stop(session)
        try:
            start(sys.argv[1], {"spark.task.cpus": "1"})
        except PolicyEngineError as error:
            print(error)
    """
    with connect_server() as url:
        *facts, refused = run_alone(code, url)
    assert facts == ["DataError 5000 x", "interrupted", "3 True set()", "S004"]
    assert refused.startswith("M003 Spark refuses the session. [CANNOT_MODIFY_CONFIG]")


@pytest.mark.nightly
@pytest.mark.usefixtures("java")
def test_start_gives_up_on_a_server_that_is_not_spark_connect():
    code = """
        import sys
        try:
            start(sys.argv[1], seconds=2)
        except PolicyEngineError as error:
            print(error)
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        [said] = run_alone(code, f"sc://127.0.0.1:{server.getsockname()[1]}")
    assert "does not answer as Spark Connect within 2 s" in said


@pytest.mark.usefixtures("java")
@pytest.mark.nightly
def test_check_workers_gives_up_on_a_master_without_executors():
    code = """
        import sys
        session = start(sys.argv[1])
        try:
            check_workers(session, seconds=3)
        except PolicyEngineError as error:
            print(error)
        stop(session)
    """
    with cluster(workers=0) as running_cluster:
        [said] = run_alone(code, running_cluster.url)
    assert said.startswith(f"S003 No executor of the master '{running_cluster.url}' has run a task")


def test_start_leaves_pandas_and_spark_alone_until_it_is_called():
    code = "import sys; print('pyspark' in sys.modules, 'pandas' in sys.modules)"
    assert run_alone(code) == ["False False"]
