"""One session of Spark is shared: another one takes as long as many tests, and as much memory."""

import re

from places import ROOT
from spark_files import ON_SPARK

ASKS = re.compile(r"def test_\w+\([^)]*\b(cluster|spark)\b|getfixturevalue\(.cluster.\)")


def test_every_file_that_asks_for_a_session_of_spark_shares_it():
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests" / "engines").rglob("test_*.py")
        if ASKS.search(path.read_text("utf-8"))
    }
    assert "tests/engines/test_joining.py" in files
    assert [path for path in sorted(files) if not path.startswith(ON_SPARK)] == []
