"""Logarithm and exponential, the same to the bit on every machine.

Those of the system's libraries, and numpy's, differ in the last bit from one processor to the next.
These use sums, products and quotients alone, which IEEE 754 defines to the bit.
"""

from typing import Any

import numpy as np

from policy_engine.kernels.compiled import compiled


@compiled
def logarithm(value: float) -> Any:
    """Return the natural logarithm of a positive, normal float; the error is below 1 unit in the
    last place (Sun Microsystems, fdlibm 5.3, e_log.c).
    """
    bits = np.float64(value).view(np.uint64)
    # Of 2**power (1 + rest), 1 + rest lies between the roots of 1/2 and 2.
    power = np.int64(bits >> _MANTISSA) - _BIAS
    mantissa = bits & _MANTISSA_BITS
    carry = mantissa > _ROOT_OF_2
    power += np.int64(carry)
    exponent_bits = _HALF if carry else _ONE
    rest = np.uint64(mantissa | exponent_bits).view(np.float64) - 1.0
    s = rest / (2.0 + rest)
    z = s * s
    w = z * z
    even = w * (_L2 + w * (_L4 + w * _L6))
    odd = z * (_L1 + w * (_L3 + w * (_L5 + w * _L7)))
    half_square = 0.5 * rest * rest
    tail = s * (half_square + (even + odd)) + power * _LN2_LOW
    return power * _LN2_HIGH - ((half_square - tail) - rest)


@compiled
def exponential(value: float) -> Any:
    """Return e to the power of a value, from -708 to 709 (less and more are taken for those); the
    error is below 1 unit in the last place (Sun Microsystems, fdlibm 5.3, e_exp.c).
    """
    value = min(max(value, _LEAST), _GREATEST)
    power = np.int64(_LOG2_E * value + (0.5 if value > 0.0 else -0.5))
    high = value - power * _LN2_HIGH
    low = power * _LN2_LOW
    rest = high - low
    z = rest * rest
    c = rest - z * (_E1 + z * (_E2 + z * (_E3 + z * (_E4 + z * _E5))))
    mantissa = 1.0 - ((low - (rest * c) / (2.0 - c)) - high)
    # In two steps: 2**1024 is not a float, but the mantissa may be below 1.
    half = power // 2
    return mantissa * _power_of_2(half) * _power_of_2(power - half)


@compiled
def _power_of_2(power: int) -> Any:
    return np.uint64((power + _BIAS) << np.int64(52)).view(np.float64)


_BIAS: Any = np.int64(1023)
_MANTISSA: Any = np.uint64(52)
_MANTISSA_BITS: Any = np.uint64(2**52 - 1)
_ROOT_OF_2: Any = np.uint64(0x6A09E667F3BCD)
_ONE: Any = np.uint64(1023 << 52)
_HALF: Any = np.uint64(1022 << 52)

_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_LOG2_E = 1.44269504088896338700
_LEAST, _GREATEST = -708.0, 709.0

_L1 = 6.666666666666735130e-01
_L2 = 3.999999999940941908e-01
_L3 = 2.857142874366239149e-01
_L4 = 2.222219843214978396e-01
_L5 = 1.818357216161805012e-01
_L6 = 1.531383769920937332e-01
_L7 = 1.479819860511658591e-01

_E1 = 1.66666666666666019037e-01
_E2 = -2.77777777770155933842e-03
_E3 = 6.61375632143793436117e-05
_E4 = -1.65339022054652515390e-06
_E5 = 4.13813679705723846039e-08
