"""One session of Spark is shared: another one takes as long as many tests, and as much memory."""

import re

from places import ROOT
from spark_files import ON_SPARK, scope

ASKS = re.compile(r"def test_\w+\([^)]*\b(cluster|spark)\b|getfixturevalue\(.cluster.\)")


def test_every_file_that_asks_for_a_session_of_spark_shares_it():
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests" / "engines").rglob("test_*.py")
        if ASKS.search(path.read_text("utf-8"))
    }
    assert "tests/engines/test_joining.py" in files
    assert [path for path in sorted(files) if not path.startswith(ON_SPARK)] == []


def test_files_that_import_tensorflow_share_a_process():
    files = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests" / "audits").rglob("test_*.py")
        if re.search(
            r"^(import|from) (keras|tensorflow)\b|need_keras\(",
            path.read_text("utf-8"),
            re.MULTILINE,
        )
    ]
    assert {scope(f"{path}::test") for path in files} == {"tensorflow"}
    assert scope("tests/audits/test_other.py::test") == "tests/audits/test_other.py"
