"""Which files of tests one process runs together, and which start processes of their own."""

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
_WITH_TENSORFLOW = (
    "tests/audits/generative/models/",
    *(f"tests/audits/membership/fitted/test_{name}.py" for name in ("code_free", "fitted_files")),
    "tests/audits/membership/learners/test_keras_learner.py",
    "tests/audits/membership/learners/test_network_learner.py",
    "tests/audits/membership/training/",
    "tests/audits/privacy/test_audited_training.py",
)


def scope(nodeid):
    """Return what a test shares with all that one process runs: a session, a library, or a file.

    To import TensorFlow takes as long as hundreds of tests.
    """
    if is_on_spark(nodeid):
        return "spark"
    return "tensorflow" if nodeid.startswith(_WITH_TENSORFLOW) else nodeid.partition("::")[0]


def is_on_spark(nodeid):
    """Return whether a test is in a file that shares the session."""
    return nodeid.startswith(ON_SPARK) and not is_on_its_own(nodeid)


def is_on_its_own(nodeid):
    """Return whether a test is in a file that starts Spark in processes of its own."""
    return nodeid.partition("::")[0].endswith(_ON_THEIR_OWN)
