import re
import signal
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from policy_engine.errors import EngineError, ServiceError
from policy_engine.service.serving import listen, prepare_folder, serve
from policy_engine.service.settings import ServiceSettings


def test_the_command_prints_a_line_answers_and_ends(tmp_path):
    command = [sys.executable, "-m", "policy_engine", "serve", "--port", "0", "--folder"]
    process = subprocess.Popen([*command, tmp_path / "kept"], stdout=subprocess.PIPE, text=True)
    try:
        address, link = re.fullmatch(
            r"(http://127\.0\.0\.1:\d+/) - sign in once, within 15 minutes: (\S+)\n",
            process.stdout.readline(),
        ).groups()
        with urllib.request.urlopen(f"{address}healthz") as answer:
            assert answer.status == 200
        assert becomes_ready(address)
        with urllib.request.urlopen(f"{address}metrics") as answer:
            assert b"policy_engine_supervisor_silent_seconds" in answer.read()
        cookies = urllib.request.HTTPCookieProcessor()
        opener = urllib.request.build_opener(cookies)
        with opener.open(link) as page, opener.open(f"{address}api/v1/me") as answer:
            assert (page.url, answer.status) == (address, 200)
        with pytest.raises(urllib.error.HTTPError, match="401") as error:
            urllib.request.urlopen(link)
        error.value.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert process.returncode in (0, 143)
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o700


def becomes_ready(address):
    """Tell whether the supervisor of runs shows life within half a minute."""
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{address}readyz"):
                return True
        except urllib.error.HTTPError as error:
            error.close()
            time.sleep(0.1)
    return False


def test_beyond_this_machine_a_public_address_is_needed(tmp_path):
    with pytest.raises(ServiceError, match="N012"):
        serve(ServiceSettings(folder=tmp_path / "kept", host="0.0.0.0"), print)
    assert not (tmp_path / "kept").exists()


def test_without_java_a_service_with_spark_does_not_start(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    settings = ServiceSettings(folder=tmp_path / "kept", engine="spark", master="local[2]")
    with pytest.raises(EngineError, match="S001"):
        serve(settings, print)
    assert not (tmp_path / "kept").exists()


def test_without_pyspark_a_service_with_spark_does_not_start(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    settings = ServiceSettings(folder=tmp_path / "kept", engine="spark", master="local[2]")
    with pytest.raises(EngineError, match="S001"):
        serve(settings, print)
    assert not (tmp_path / "kept").exists()


@pytest.mark.nightly
@pytest.mark.parametrize(
    "options", [["--master", "local[2]"], ["--engine", "spark", "--master", "mesos://a:1"]]
)
def test_the_command_refuses_masters_that_it_cannot_use(tmp_path, options):
    command = [sys.executable, "-m", "policy_engine", "serve", "--folder", tmp_path / "kept"]
    done = subprocess.run([*command, *options], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode != 0
    assert "N012" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "kept").exists()


def test_a_port_that_is_taken_is_named(tmp_path):
    with listen(ServiceSettings(folder=tmp_path, port=0)) as first:
        port = first.getsockname()[1]
        with pytest.raises(ServiceError, match=f"127.0.0.1:{port} cannot be listened at"):
            listen(ServiceSettings(folder=tmp_path, port=port))


def test_a_folder_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ServiceError, match="N013"):
        prepare_folder(tmp_path / "file")


@pytest.mark.nightly
def test_the_service_starts_without_what_only_some_calls_need():
    """The first page waits for all that is imported with the routes."""
    words = "import sys, policy_engine.service.workers.answering; print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", words], stdout=subprocess.PIPE, check=True)
    names = {*process.stdout.decode().split()}
    assert names.isdisjoint({"numba", "pyarrow", "sqlglot", "duckdb", "alembic", "scipy"})
