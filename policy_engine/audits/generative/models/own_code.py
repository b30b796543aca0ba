"""Code of the user's own: whatever it raises is told by its type, its words to the owner alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.errors import AuditError, PolicyEngineError, Problem


@contextmanager
def own_code(code: str, subject: str, occasion: str, hint: str = "") -> Iterator[None]:
    """Report what code of the user's own raises, an exit too, as an AuditError of this code.

    What it says may quote a record, and is for the owner alone.
    """
    try:
        yield
    except (PolicyEngineError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        message = f"{subject} raises {type(error).__name__} {occasion}."
        raise AuditError(Problem(code, message, hint, values=(str(error),))) from error


def own_array(answer: Any, subject: str) -> NDArray[Any]:
    """Return what a model answers as an array. Raises AuditError (A032) where it is none."""
    with own_code("A032", subject, "as it is read", "Allowed are arrays of numbers."):
        return np.asarray(answer)
