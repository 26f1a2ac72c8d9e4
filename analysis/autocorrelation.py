"""How many observations of a correlated series count as one independent observation."""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from serving_sim.request import FloatArray

_ROUNDING = 1e-9
"""Relative spread below which a series counts as constant."""

_WINDOW = 5.0  # Sokal's c; 4 to 6 balance the bias of a short window against the noise of a long one
_ROUNDING = 1e-9  # relative spread below which a series is constant, but for the rounding of clocks


def integrated_autocorrelation_time(values: FloatArray) -> float:
    """Integrated autocorrelation time, tau = 1 + 2 * sum of all autocorrelations.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        Stationary series in time order, n >= 1.

    Returns
    -------
    float
        At least 1: a negatively correlated series is not credited with more than n observations.
        A constant series has tau = 1.

    Notes
    -----
    The sum stops at the smallest lag M with M >= 5 tau(M), the automatic window of Sokal (1997),
    "Monte Carlo methods in statistical mechanics", section 3. A trend makes tau a fixed share of n,
    so a run without a steady state never seems to hold many observations.
    """
    count = len(values)
    centred = values - np.mean(values)
    if np.ptp(values) <= _ROUNDING * np.max(np.abs(values)):
        return 1.0
    size = next_fast_len(2 * count, real=True)  # zero padding keeps the ends from meeting
    spectrum = rfft(centred, size)
    covariance = irfft(spectrum * np.conj(spectrum), size)[:count]
    tau = 2 * np.cumsum(covariance / covariance[0]) - 1
    closed = np.arange(count) >= _WINDOW * tau
    return max(1.0, float(tau[np.argmax(closed)] if closed.any() else tau.max()))
