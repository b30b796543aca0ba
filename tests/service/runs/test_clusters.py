import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from followed import cheap, ended, steward, supervised
from served import service

from policy_engine.service.runs.clusters import Cluster, is_master
from policy_engine.service.runs.landlock import CONFINED
from policy_engine.service.runs.limits import OPEN
from policy_engine.service.runs.namespaces import LOOPBACK_ALONE, OWN_LOOPBACK
from policy_engine.service.runs.preparing import NOT_ON_SPARK

FAR = "spark://spark.example:7077"
SET = {
    "JAVA_HOME": "/opt/some/java",
    "SPARK_CONF_DIR": "/opt/some/conf",
    "SPARK_LOCAL_DIRS": "/elsewhere",
    "SPARK_LOCAL_IP": "10.0.0.1",
    "SPARK_REMOTE": "sc://other.example",
    "AWS_SECRET_ACCESS_KEY": "hush",
    "PYSPARK_SUBMIT_ARGS": "--master yarn",
}


@pytest.mark.parametrize(
    "master",
    ["local", "local[2]", "local[*]", "local[4,2]", FAR, "spark://a:1,b:2", "yarn", "k8s://a:6443"],
)
def test_masters_are_those_of_spark(master):
    assert is_master(master)


@pytest.mark.parametrize(
    "master",
    [
        *("", "local[0]", "local[two]", "local-cluster[2,1,1024]", "spark://", "spark://a"),
        *("sc://a:15002", "mesos://a:5050", "spark://me:secret@a:7077", "yarn-client", "k8s://"),
        f"{FAR}\n",
    ],
)
def test_nothing_else_is_a_master(master):
    assert not is_master(master)


@pytest.fixture
def environment(monkeypatch):
    for name, value in SET.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(("master", "address"), [("local[2]", "127.0.0.1"), (FAR, "10.0.0.1")])
def test_a_driver_gets_what_operators_set_for_spark_and_no_secret(master, address, tmp_path):
    given = Cluster.of(master, 2**31).environment(tmp_path)
    kept = {name: SET[name] for name in ("JAVA_HOME", "SPARK_CONF_DIR")}
    own = {"SPARK_LOCAL_IP": address, "SPARK_LOCAL_DIRS": str(tmp_path)}
    spark_names = {name for name in os.environ if name.startswith("SPARK_")} - {"SPARK_REMOTE"}
    assert kept.items() | own.items() <= given.items()
    assert set(given) == {"JAVA_HOME", "PATH"} | spark_names
    assert given["PATH"] == os.environ["PATH"]


@pytest.mark.usefixtures("environment")
def test_a_driver_may_read_its_java_and_the_settings_of_spark(monkeypatch, tmp_path):
    program = tmp_path / "java-17" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    libraries = Cluster.of(FAR, 2**31).libraries()
    assert {tmp_path / "java-17", Path("/opt/some/java"), Path("/opt/some/conf")} <= {*libraries}
    assert Path("/elsewhere") not in libraries


def test_half_of_the_memory_of_a_run_is_for_the_heap(tmp_path):
    engine = Cluster.of("local[2]", 3 * 2**30).engine(tmp_path)
    assert engine.master == "local[2]"
    assert engine.conf["spark.driver.memory"] == "1536m"
    assert f"-Djava.io.tmpdir={tmp_path}" in engine.conf["spark.driver.extraJavaOptions"]


def test_operators_are_told_what_runs_reach():
    assert "no network but a loopback" in Cluster.of("local[2]", 2**31).reach
    far = Cluster.of(FAR, 2**31).reach
    assert FAR in far
    assert "they have the network of this machine" in far


def pried(folder, master):
    """Return what a run with a master reached, what its log says of it, and of one without."""
    secret = folder / "secret.txt"
    secret.write_text("secret")
    engine = {"engine": "spark", "master": master}
    with (
        socket.create_server(("127.0.0.1", 0)) as elsewhere,
        service(folder, **engine) as services,
        supervised(services),
    ):
        actor, runs = steward(services), cheap(services)
        about = {"path": str(secret), "port": elsewhere.getsockname()[1]}
        made = [runs.create(actor, "pry-on-spark", about), runs.create(actor, "wait", {})]
        results = [ended(services, one.id) for one in made]
        assert [one.state for one in results] == ["succeeded"] * 2
        logs = [runs.log(actor, one.id) for one in made]
    return results[0].result, *logs


@pytest.mark.nightly
@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("master", ["local[2]", FAR])
def test_a_run_on_spark_reaches_its_master_and_nothing_else_of_the_service(
    master, tmp_path, monkeypatch
):
    monkeypatch.setenv("PRY_PASSWORD", "secret")
    told, log, local_log = pried(tmp_path, master)
    assert (told["master"], told["own"]) == (master, "done")
    assert told["secrets"] == []
    assert (told["java"], told["path"]) == (SET["JAVA_HOME"], os.environ["PATH"])
    assert "PRY_PASSWORD" not in told["names"]
    if CONFINED in log:
        assert [told[one] for one in ("reading", "listing", "writing")] == ["PermissionError"] * 3
    if master == FAR:
        assert told["others"] == "done"
        assert OPEN in log
    elif OWN_LOOPBACK in log:
        assert told["others"] == "ConnectionRefusedError"
    else:
        assert LOOPBACK_ALONE in log
    assert NOT_ON_SPARK in local_log
    assert NOT_ON_SPARK not in log


UNSHARED = """
import socket, sys
from policy_engine.service.runs import namespaces

namespaces._unshare = lambda _flags: False
print(namespaces.leave_for_loopback() == namespaces.LOOPBACK_ALONE)
with socket.create_server(("127.0.0.1", 0)) as own:
    client = socket.create_connection(own.getsockname(), 1)
    client.sendmsg([b"x"])
    client.close()
for far in (("192.0.2.1", 1), ("data.example", 1)):
    try:
        socket.create_connection(far, 0.1)
    except PermissionError:
        print("refused")
try:
    socket.socket().bind(("0.0.0.0", 0))
except PermissionError:
    print("refused")
"""


def test_without_namespaces_python_has_the_loopback_alone():
    command = [sys.executable, "-c", UNSHARED]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.split() == ["True", *["refused"] * 3]
