"""Records and labels as networks take them."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.material import Floats, Ints
from policy_engine.errors import AuditError


def one_hot(labels: Ints, classes: int) -> NDArray[np.float32]:
    """Return a column for each class, 1 in that of each label; none below two classes.

    Raises AuditError (A002) for labels that are no classes of the model.
    """
    if classes < 2:
        return np.zeros((len(labels), 0), np.float32)
    if len(labels) and not 0 <= labels.min() <= labels.max() < classes:
        message = f"The labels are from {labels.min()} to {labels.max()}. The model has {classes} "
        raise AuditError.of("A002", f"{message}classes, counted from 0.")
    codes = np.zeros((len(labels), classes), np.float32)
    codes[np.arange(len(labels)), labels] = 1
    return codes


def shares_of(values: Floats, features: int) -> NDArray[np.float32]:
    """Return records as flat rows, (n, features).

    Raises AuditError (A003) where a value is missing, or is not between 0 and 1.
    """
    flat = np.asarray(values, np.float32).reshape(len(values), features)
    if not (flat.min(initial=0) >= 0 and flat.max(initial=0) <= 1):
        message = "Some values are missing, or are not between 0 and 1."
        raise AuditError.of("A003", message, "Divide the values of images by 255.")
    return flat


def labels_of(label: Ints | int | None, count: int, classes: int) -> Ints:
    """Return a label for each of some records.

    Raises AuditError (A002) where there is none, and the model has classes.
    """
    if label is None and classes > 1:
        message = "The model was trained with classes, and the records have none."
        raise AuditError.of("A002", message, "Give the label of each record.")
    return np.broadcast_to(np.asarray(0 if label is None else label, np.int64), (count,))
