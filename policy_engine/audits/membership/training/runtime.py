"""TensorFlow and Keras, imported when they are first needed, quiet, and set to few threads."""

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

from policy_engine.errors import DataError

_HINT = "pip install 'policy-engine[audits]', or 'policy-engine[audits-gpu]' for a GPU."


def need_tensorflow() -> ModuleType:
    """Return TensorFlow, its log silenced unless the environment says otherwise.

    Raises DataError (C011) where it is not installed.
    """
    loaded = sys.modules.get("tensorflow")
    if loaded is not None:
        return loaded
    try:
        with _quiet():
            import tensorflow as tf  # noqa: PLC0415 (slow to import, an extra)
    except ImportError:
        raise DataError.of("C011", "TensorFlow is not installed.", _HINT) from None
    _repeat_on_devices(tf)
    return tf  # type: ignore[no-any-return]


def gpus(tf: ModuleType) -> list[Any]:
    """Return the GPUs that TensorFlow can use."""
    devices: list[Any] = tf.config.list_physical_devices("GPU")
    return devices


def _repeat_on_devices(tf: ModuleType) -> None:
    """Have a GPU do the same each time: sums in one order, or the same seed has other figures.

    A device takes memory as it needs it, for others may use it too. Where TensorFlow already runs
    on it, its memory is not changed.
    """
    for one in gpus(tf):
        with suppress(RuntimeError):
            tf.config.experimental.set_memory_growth(one, True)  # noqa: FBT003 (not ours)
    if gpus(tf):
        tf.config.experimental.enable_op_determinism()


def need_keras() -> ModuleType:
    """Return Keras on TensorFlow. Raises DataError (C011) where it is not installed."""
    need_tensorflow()
    try:
        import keras  # noqa: PLC0415 (slow to import, an extra)
    except ImportError:
        raise DataError.of("C011", "Keras is not installed.", _HINT) from None
    return keras  # type: ignore[no-any-return]


@contextmanager
def ignore_deprecations() -> Iterator[None]:
    """Pass over the warnings that Keras itself causes where it turns its variables into arrays."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "__array__ implementation", DeprecationWarning)
        yield


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep from the screen what TensorFlow writes while it starts, before its log level counts."""
    if "TF_CPP_MIN_LOG_LEVEL" in os.environ:
        yield
        return
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    with suppress(OSError), open(os.devnull, "wb") as nowhere:  # noqa: PTH123 (no file)
        stderr = os.dup(2)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


def use_few_threads() -> None:
    """Give every operation of TensorFlow one thread: stacks of models run side by side instead.

    Two threads for each of these small products cost a third more processor time, waiting for
    each other. Nothing changes where TensorFlow already runs, or is configured otherwise.
    """
    threading = need_tensorflow().config.threading
    with suppress(RuntimeError):
        if threading.get_intra_op_parallelism_threads() == 0:
            threading.set_intra_op_parallelism_threads(1)
            threading.set_inter_op_parallelism_threads(cores())
