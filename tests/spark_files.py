"""Which files of tests share the one session of Spark, and which start processes of their own."""

ON_SPARK = (
    "tests/engines/spark/",
    "tests/engines/test_both_engines.py",
    "tests/engines/test_joining.py",
    "tests/engines/test_label_measuring.py",
)
_ON_THEIR_OWN = (
    *(f"spark/test_{name}.py" for name in ("cluster", "connect")),
    "service/routes/test_runs_on_spark.py",
)


def is_on_spark(nodeid):
    """Return whether a test is in a file that shares the session."""
    return nodeid.startswith(ON_SPARK) and not is_on_its_own(nodeid)


def is_on_its_own(nodeid):
    """Return whether a test is in a file that starts Spark in processes of its own."""
    return nodeid.partition("::")[0].endswith(_ON_THEIR_OWN)
