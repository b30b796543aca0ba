"""One ODRL policy from text to a verified, anonymised release and the decisions about it."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from policy_engine.api import (
        VerifiedRelease,
        apply_policy,
        certify_output,
        check_policy,
        compare_release,
        decide_request,
        explore_policy,
        load_policy,
        plan_policy,
        read_request,
        suggest_hierarchy,
    )
    from policy_engine.engines.spark.engine import SparkEngine
    from policy_engine.errors import PolicyEngineError

__all__ = [
    "PolicyEngineError",
    "SparkEngine",
    "VerifiedRelease",
    "apply_policy",
    "certify_output",
    "check_policy",
    "compare_release",
    "decide_request",
    "explore_policy",
    "load_policy",
    "plan_policy",
    "read_request",
    "suggest_hierarchy",
]


def __getattr__(name: str) -> Any:
    """Import the public names when they are first used: the package itself loads at once."""
    from importlib import import_module  # noqa: PLC0415

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = {"PolicyEngineError": "errors", "SparkEngine": "engines.spark.engine"}.get(name, "api")
    if name == "SparkEngine":
        from policy_engine.engines.spark.session import check_pyspark  # noqa: PLC0415

        check_pyspark()
    return getattr(import_module(f"{__name__}.{home}"), name)
