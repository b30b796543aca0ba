"""Adam and gradient descent on stacked parameters, with Keras's definitions and defaults."""

from collections.abc import Callable
from typing import Any

Tensor = Any
Update = Callable[[Any, list[Tensor], Tensor, Tensor, Tensor], None]
"""Applies gradients: of a state, gradients, the learning rate, and (S,) steps taken, active."""

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-7


def optimizer_of(tf: Any, name: str, momentum: float, *, even: bool) -> Update:
    """Return an optimizer's update.

    Where every model takes part in every step, TensorFlow's fused operations do; elsewhere the
    models that sit a step out keep their parameters and slots as they are.
    """
    if even:
        return _fused_adam(tf) if name == "adam" else _fused_descent(tf, momentum)
    return _masked(tf, _adam(tf) if name == "adam" else _descent(momentum))


def _fused_adam(tf: Any) -> Update:
    def update(
        state: Any, gradients: list[Tensor], rate: Tensor, steps_taken: Tensor, _: Tensor
    ) -> None:
        powers = {"beta1_power": BETA_1 ** steps_taken[0], "beta2_power": BETA_2 ** steps_taken[0]}
        for var, m, v, gradient in zip(state.parameters, *state.slots, gradients, strict=True):
            tf.raw_ops.ResourceApplyAdam(
                var=var,
                m=m,
                v=v,
                **powers,
                lr=rate,
                beta1=BETA_1,
                beta2=BETA_2,
                epsilon=EPSILON,
                grad=gradient,
            )

    return update


def _fused_descent(tf: Any, momentum: float) -> Update:
    def update(state: Any, gradients: list[Tensor], rate: Tensor, *_: Tensor) -> None:
        accumulated = state.slots[0] if momentum else [None] * len(gradients)
        for var, accum, grad in zip(state.parameters, accumulated, gradients, strict=True):
            if accum is None:
                tf.raw_ops.ResourceApplyGradientDescent(var=var, alpha=rate, delta=grad)
            else:
                tf.raw_ops.ResourceApplyKerasMomentum(
                    var=var, accum=accum, lr=rate, grad=grad, momentum=momentum
                )

    return update


def _masked(tf: Any, rule: Callable[..., list[Tensor]]) -> Update:
    read_variable = tf.raw_ops.ReadVariableOp

    def update(
        state: Any, gradients: list[Tensor], rate: Tensor, steps_taken: Tensor, active: Tensor
    ) -> None:
        for handle, slots, grad in zip(
            state.parameters, _slots_by_parameter(state), gradients, strict=True
        ):
            values = [read_variable(resource=one, dtype=tf.float32) for one in (handle, *slots)]
            wide = (-1, *(1,) * (grad.shape.rank - 1))
            changed = rule(values, grad, rate, tf.reshape(steps_taken, wide))
            for one, old, new in zip((handle, *slots), values, changed, strict=True):
                value = tf.where(tf.reshape(active, wide), new, old)
                tf.raw_ops.AssignVariableOp(resource=one, value=value)

    return update


def _slots_by_parameter(state: Any) -> list[tuple[Tensor, ...]]:
    return list(zip(*state.slots, strict=True)) or [()] * len(state.parameters)


def _adam(tf: Any) -> Callable[..., list[Tensor]]:
    def rule(values: list[Tensor], grad: Tensor, rate: Tensor, steps_taken: Tensor) -> list[Tensor]:
        var, m, v = values
        m = m + (grad - m) * (1 - BETA_1)
        v = v + (tf.square(grad) - v) * (1 - BETA_2)
        # A model that has not begun has taken no step, for which the correction is 0 / 0.
        steps_taken = tf.maximum(steps_taken, 1.0)
        rate = rate * tf.sqrt(1 - BETA_2**steps_taken) / (1 - BETA_1**steps_taken)
        return [var - rate * m / (tf.sqrt(v) + EPSILON), m, v]

    return rule


def _descent(momentum: float) -> Callable[..., list[Tensor]]:
    def rule(values: list[Tensor], grad: Tensor, rate: Tensor, _: Tensor) -> list[Tensor]:
        if not momentum:
            return [values[0] - rate * grad]
        velocity = momentum * values[1] - rate * grad
        return [values[0] + velocity, velocity]

    return rule
