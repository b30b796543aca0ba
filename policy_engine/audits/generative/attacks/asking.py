"""What attacks ask a model about audited records, and what of its answers can be used."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import Floats, Ints, Material
from policy_engine.audits.generative.models.own_code import own_array, own_code
from policy_engine.errors import AuditError


def shaped(material: Material, values: Floats) -> Floats:
    """Return records as models take them, (n, *shape); rows of tables as they are."""
    return values.reshape(len(values), *(material.shape or values.shape[1:]))


def mean_square_errors(
    material: Material, model: Any, records: Floats, labels: Ints | None, *, passes: int, seed: int
) -> NDArray[np.float64]:
    """Return how far a model's reconstructions are from records (n, d), (n,): means over features.

    With several passes it is the mean of their errors, not the error of their mean. Raises
    AuditError (A032) for reconstructions that are not numbers of the shape of the records.
    """
    errors = np.zeros(len(records))
    for turn in range(max(passes, 1)):
        with own_code("A032", "The model", "as it reconstructs"):
            answer = model.reconstruct(
                shaped(material, records), label=labels, passes=min(passes, 1), seed=seed + turn
            )
        answers = checked(answer, (len(records), *material.shape), "reconstructions")
        errors += np.square(answers.reshape(records.shape) - records).mean(axis=1)
    return errors / max(passes, 1)


def checked(answer: Any, shape: tuple[int, ...], kind: str) -> NDArray[np.float64]:
    """Return a model's answer. Raises AuditError (A032) where it is of no use."""
    numbers = own_array(answer, "The model")
    if numbers.dtype.kind not in "biuf" or numbers.shape != shape:
        message = f"The model's {kind} are {numbers.dtype} of shape {numbers.shape}."
        raise AuditError.of("A032", message, f"Allowed are numbers of shape {shape}.")
    if not np.isfinite(numbers).all():
        raise AuditError.of("A032", f"Some of the model's {kind} are missing or infinite.")
    return numbers.astype(np.float64)
