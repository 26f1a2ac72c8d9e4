"""One slot, lengths of any distribution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from analysis.queueing.lengths import NEGLIGIBLE
from serving_sim.request import FloatArray


def one_slot(lengths: FloatArray, rate: float) -> Callable[[float], FloatArray]:
    """P(D = m) for an arrival at an instant of its step, see `SlottedLatency`.

    The steps of work U that are left when a step begins follow U' = (U - 1)^+ + (work that comes).

    An arrival finds (U - 1)^+ and what came before it in the step. The generating function of
    (U - 1)^+ is ``(1 - rho) (1 - z) / (A(z) - z)`` with A that of the work that comes in a step
    (Bruneel and Kim 1993, "Discrete-time models for communication systems including ATM", section
    1.2); its coefficients are read off on the unit circle.
    """
    load = rate * float(lengths @ np.arange(len(lengths)))
    size = 2 * len(lengths)
    while True:
        size *= 2
        circle = np.exp(-2j * np.pi * np.arange(size) / size)
        exponent = rate * (np.fft.fft(lengths, size) - 1)
        left = np.ones(size, dtype=complex)  # at z = 1 both sides of the fraction vanish; its limit is 1
        left[1:] = (1 - load) * (1 - circle[1:]) / (np.exp(exponent[1:]) - circle[1:])
        if np.fft.ifft(left).real[size // 2 :].sum() < NEGLIGIBLE * size:
            break

    def delay(instant: float) -> FloatArray:
        return np.maximum(np.fft.ifft(left * np.exp(instant * exponent)).real, 0.0)

    return delay
