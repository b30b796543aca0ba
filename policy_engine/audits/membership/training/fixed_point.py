"""Sums of clipped gradients as integers: a record changes them by no more than its clipped norm.

Floats do not add up: in another order, or beside another record, a sum of them is another one, so
that a record's share in it may be larger than what it was clipped to (Casacuberta, Shoaff, Vadhan
and Zhang, CCS 2022, of sums; the products of a network have the same fault). Here every number
that is summed over anything is a whole one, and float64 adds and multiplies whole numbers below
2**53 without an error, in any order and any block:

- Activations, weights and backpropagated errors are cut to whole numbers on grids of their own,
  their sizes bounded, so that a layer's products and the squares in a norm stay below 2**53.
- All else, such as an activation function, is computed of one number alone. So what a record
  adds to the sum is a function of that record and of the weights, whoever is in its batch.
- Of layer l a record adds the products of its inputs A_l, and of a 1 for the bias, by its errors
  D_l, whose norm is sqrt(1 + |A_l|^2) |D_l| (Goodfellow, arXiv:1510.01799); its errors are scaled
  until the norm over all layers is at most C, and then cut towards zero, which lengthens nothing.
  What rounding can add on the way is a few parts in 2**50, and is taken off beforehand.

So the sum lies on a grid, and one record more or less moves it by C at most: the sensitivity is C
exactly, in every dimension, with nothing to be added for rounding. Noise `floor(X)` on that grid,
of a normal X, is as good as X: the sum is on the grid, so floor(sum + X) = sum + floor(X), and
what is learnt from floor(sum + X) can be learnt from sum + X. Every figure of the accountant,
which speaks of X, holds as it is; a discrete Gaussian would need figures of its own.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.training.parameters import (
    SELU_ALPHA,
    SELU_SCALE,
    Design,
    activate,
)
from policy_engine.errors import AuditError
from policy_engine.methods.audits.classifier import Activation

Floats = NDArray[np.float64]
"""What they hold is whole, where it is called whole."""

_EXACT = 53
_INPUTS, _WEIGHTS, _ERRORS = 9, 5, 4
"""Inputs of a layer are kept within 2**9, weights within 2**5, errors within 2**4."""
_MOST_BITS, _LEAST_BITS = 30, 12
_TAKEN_OFF = 1 - 2.0**-40


@dataclass(frozen=True)
class Grids:
    """How fine numbers are: 2**-inputs, 2**-weights and 2**-errors are the steps of their grids.

    On the grid of the sum the noise has a deviation of 2**bits steps.
    """

    inputs: int
    weights: int
    errors: int
    bits: int
    noise_multiplier: float
    clipping_norm: float

    @classmethod
    def of(
        cls, design: Design, records: int, noise_multiplier: float, clipping_norm: float
    ) -> "Grids":
        """Return the finest grids on which a batch of so many records is summed exactly.

        Raises AuditError (A006) where there is so little noise that they would be coarse.
        """
        wide = math.ceil(math.log2(max(design.widths) + 1))
        whole_bits = (_EXACT - wide) // 2
        ratio = math.ceil(math.log2(max(1.0, records / noise_multiplier)))
        bits = min(_MOST_BITS, _EXACT - 1 - ratio)
        if bits < _LEAST_BITS:
            message = f"A noise multiplier of {noise_multiplier:g} on {records:,} records is too "
            message += "little for a sum without an error."
            raise AuditError.of("A006", message, "Take more noise.")
        weights = _EXACT - wide - whole_bits - _WEIGHTS
        return cls(
            whole_bits - _INPUTS,
            weights,
            whole_bits - _ERRORS,
            bits,
            noise_multiplier,
            clipping_norm,
        )

    @property
    def step(self) -> float:
        """The step of the sum's grid, in the units of the gradient."""
        return self.noise_multiplier * self.clipping_norm * 2.0**-self.bits

    @property
    def longest(self) -> float:
        """What a record may add, in steps of the sum's grid."""
        return 2.0**self.bits / self.noise_multiplier


def to_grid(values: NDArray[np.floating], fraction: int, size: int) -> Floats:
    """Return numbers cut towards zero to whole multiples of 2**-fraction, within 2**size of 0."""
    bounded = np.clip(np.nan_to_num(values.astype(np.float64)), -(2.0**size), 2.0**size)
    return np.trunc(bounded * 2.0**fraction)


@dataclass(frozen=True, eq=False)
class ExactPass:
    """What each layer makes of some records: its whole inputs (n, in), its outputs (n, out)."""

    inputs: list[Floats]
    outputs: list[Floats]


def summed_gradients(
    design: Design,
    parameters: list[Floats],
    records: tuple[NDArray[np.floating], NDArray[np.int64]],
    grids: Grids,
    masks: list[Floats] | None = None,
) -> list[Floats]:
    """Return the sum of the clipped gradients of some records, in whole steps of `grids.step`.

    One array for each of the parameters. `records` are features (n, d) and labels (n,), `masks`
    (n, units) multiply the outputs of the hidden layers.
    """
    weights = [to_grid(one, grids.weights, _WEIGHTS) for one in parameters]
    passed = _forward(design, weights, records[0], grids, masks)
    errors = _backward(design, weights, passed, records[1], grids, masks)
    one = 2.0**grids.inputs
    factor = (
        _TAKEN_OFF
        * grids.clipping_norm
        / np.maximum(_norms(passed.inputs, errors, grids), grids.clipping_norm)
    )
    scale = factor * 2.0**-grids.errors / (grids.step * one)
    sums = []
    for inputs, error in zip(passed.inputs, errors, strict=True):
        cut = np.trunc(error * scale[:, None])
        sums += [inputs.T @ cut, one * cut.sum(axis=0)]
    return sums


def _forward(
    design: Design,
    weights: list[Floats],
    features: NDArray[np.floating],
    grids: Grids,
    masks: list[Floats] | None,
) -> ExactPass:
    passed, values = ExactPass([], []), np.ascontiguousarray(features)
    for layer in range(len(design.widths) - 1):
        entering = to_grid(values, grids.inputs, _INPUTS)
        kernel, bias = weights[2 * layer : 2 * layer + 2]
        total = entering @ kernel + 2.0**grids.inputs * bias
        values = total * 2.0 ** -(grids.inputs + grids.weights)
        if layer < len(design.activations):
            values = _activate(design.activations[layer], values)
        passed.inputs.append(entering)
        passed.outputs.append(values)
        if masks and layer < len(design.activations):
            values = values * masks[layer]
    return passed


def _backward(
    design: Design,
    weights: list[Floats],
    passed: ExactPass,
    labels: NDArray[np.int64],
    grids: Grids,
    masks: list[Floats] | None,
) -> list[Floats]:
    """Return each layer's whole errors (n, out): the loss's gradients by its pre-activations."""
    errors = [to_grid(_logit_errors(passed.outputs[-1], labels), grids.errors, _ERRORS)]
    for layer in range(len(design.activations) - 1, -1, -1):
        back = (errors[0] @ weights[2 * layer + 2].T) * 2.0 ** -(grids.errors + grids.weights)
        if masks:
            back = back * masks[layer]
        error = back * _derivative(design.activations[layer], passed.outputs[layer])
        errors.insert(0, to_grid(error, grids.errors, _ERRORS))
    return errors


def _logit_errors(logits: Floats, labels: NDArray[np.int64]) -> Floats:
    """Return softmax less what is right; the sum in it is one of whole numbers."""
    raised = np.trunc(np.exp(logits - logits.max(axis=1, keepdims=True)) * 2.0**30)
    errors: Floats = raised / raised.sum(axis=1, keepdims=True)
    errors[np.arange(len(labels)), labels] -= 1
    return errors


def _norms(inputs: list[Floats], errors: list[Floats], grids: Grids) -> Floats:
    """Return the norms of the records' whole gradients, (n,)."""
    squares = np.zeros(len(inputs[0]))
    for a, error in zip(inputs, errors, strict=True):
        one = 4.0**grids.inputs + np.square(a).sum(axis=1)
        squares = squares + one * np.square(error).sum(axis=1)
    return np.sqrt(squares) * 2.0 ** -(grids.inputs + grids.errors)


def _activate(activation: Activation, z: Floats) -> Floats:
    return activate(activation, z).astype(np.float64)  # type: ignore[arg-type]


def _derivative(activation: Activation, output: Floats) -> Floats:  # noqa: PLR0911 (one for each)
    """Return the derivative of an activation, which its output tells."""
    match activation:
        case "relu":
            return (output > 0).astype(np.float64)
        case "tanh":
            return 1 - np.square(output)
        case "sigmoid":
            return output * (1 - output)
        case "elu":
            return np.where(output > 0, 1.0, output + 1)
        case "selu":
            return np.where(output > 0, SELU_SCALE, output + SELU_SCALE * SELU_ALPHA)
        case "softplus":
            return -np.expm1(-output)
        case "linear":
            return np.ones_like(output)
