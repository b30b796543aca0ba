"""Calls of a fitted model's library, whose failures become errors of one sentence."""

import re
import warnings
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.fitted.blocks import Block
from policy_engine.audits.membership.fitted.model import Answer, AskableModel
from policy_engine.audits.membership.fitted.refitting import refit
from policy_engine.errors import AuditError, PolicyEngineError

_T = TypeVar("_T")
_VALUES = re.compile(r"(?<!\w)(['\"]).*\1(?!\w)|-?\d+\.\d\S*")
"""All from the first quotation mark to the last, for values may hold some; and fractions."""
_LONGEST = 300


def ask_in_process(model: AskableModel, block: Block) -> Answer:
    """Return a model's answers about records. Raises AuditError (A008, A009)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call_library(lambda: model.answer(block), "A009", "The model refuses the data")


def fit(model: AskableModel, block: Block, labels: NDArray[np.int64], seed: int) -> AskableModel:
    """Return the same kind of model, retrained. Raises AuditError (A008, A009, A014)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failure = "The model cannot be retrained"
        return call_library(lambda: refit(model, block, labels, seed), "A009", failure)


def call_library(function: Callable[[], _T], code: str, failure: str) -> _T:
    """Return the result of a function; whatever it raises becomes an AuditError of one sentence.

    Too little memory has a code of its own (A008). Texts and fractions that a library quotes are
    left out: they may be values of the data.
    """
    try:
        return function()
    except PolicyEngineError:
        raise
    except MemoryError:
        message = "The model needs more memory than there is."
        raise AuditError.of("A008", message, "Give fewer records.") from None
    except Exception as error:  # noqa: BLE001 (code of any library, and of the user's own)
        raise AuditError.of(code, f"{failure}: {first_line(error)}") from None


def first_line(error: object) -> str:
    """Return the first line of what a library says, without the values that it quotes."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return f"{type(error).__name__}."
    text = _VALUES.sub("...", lines[0].rstrip("."))[:_LONGEST]
    return text if text.endswith("...") else f"{text}."
