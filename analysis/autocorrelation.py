"""How many observations of a correlated series count as one independent observation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from serving_sim.request import FloatArray

_ROUNDING = 1e-9
"""Relative spread below which a series counts as constant."""

_FIRST_LAGS = 2048
_GROWTH = 8
_BLOCK = 8  # transforms of 8 times the lags: a longer one leaves the cache, a shorter one repeats more

_WINDOW = 5.0  # Sokal's c; 4 to 6 balance the bias of a short window against the noise of a long one


def integrated_autocorrelation_time(values: FloatArray | NDArray[np.bool_], *, least: float = 1.0) -> float:
    """Integrated autocorrelation time, tau = 1 + 2 * sum of all autocorrelations.

    Parameters
    ----------
    values : ndarray of float or bool, shape (n,)
        Stationary series in time order, n >= 1.
    least : float
        Shortest time worth to be known, >= 1: a series that shows it to be no longer costs no transforms.

    Returns
    -------
    float
        ``least`` or more, so at least 1: a negatively correlated series is not credited with more than n
        observations. A constant series has tau = 1.

    Notes
    -----
    The sum stops at the smallest lag M with M >= 5 tau(M), the automatic window of Sokal (1997),
    "Monte Carlo methods in statistical mechanics", section 3. A trend makes tau a fixed share of n,
    so a run without a steady state never seems to hold many observations.
    """
    count = len(values)
    if is_constant(values):
        return least
    centred = values - np.mean(values)
    totals = np.cumsum(centred)
    if _has_closed(centred, totals, int(min(_WINDOW * least, count - 1))):
        return least
    lags = min(_FIRST_LAGS, count)
    while lags < count and not _has_closed(centred, totals, lags - 1):
        lags = min(_GROWTH * lags, count)
    covariance = autocovariances(centred, lags)
    tau = 2 * np.cumsum(covariance / covariance[0]) - 1
    closed = np.arange(lags) >= _WINDOW * tau
    closed[-1] = True  # so it was seen above, and over the whole series, where products sum to 0, it must be
    return max(least, float(tau[np.argmax(closed)]))


def _has_closed(centred: FloatArray, totals: FloatArray, lag: int) -> bool:
    """Whether M >= 5 tau(M) at M = ``lag`` >= 1: the window closes there or before, and tau is at most M / 5.

    One tau(M) takes no transform. As all values sum to 0, the products of those up to M apart are twice the
    products of each with the sum of all from the first to the M-th behind it. ``totals`` holds these sums.
    """
    apart = 2 * np.einsum("i,i", centred[:-lag], totals[lag:])
    return bool(lag * np.einsum("i,i", centred, centred) >= _WINDOW * apart)


def is_constant(values: FloatArray | NDArray[np.bool_]) -> bool:
    """Whether all values, shape (n,), n >= 1, are equal but for rounding."""
    low, high = float(np.min(values)), float(np.max(values))
    return high - low <= _ROUNDING * max(-low, high)


def autocovariances(centred: FloatArray, lags: int) -> FloatArray:
    """Sums of ``centred[i] * centred[i + lag]``, undivided, for lag = 0 .. lags - 1.

    Parameters
    ----------
    centred : ndarray of float, shape (n,)
        Series minus its mean.
    lags : int
        From 1 to n.

    Returns
    -------
    ndarray of float, shape (lags,)

    Notes
    -----
    The window closes after few lags of a long series, so the series is cut into blocks of a few times
    that length: their transforms fit the cache and are added up before the one way back. O(n log lags).
    """
    size = next_fast_len(min(_BLOCK * lags, 2 * len(centred)), real=True)
    step = size - lags + 1  # a block and the lags behind it fill one transform: its ends never meet
    spectrum = np.zeros(size // 2 + 1, dtype=np.complex128)
    for begin in range(0, len(centred), step):
        block = centred[begin : begin + step]
        ahead = centred[begin : begin + size]
        spectrum += np.conj(rfft(block, size)) * rfft(ahead, size)
    return np.asarray(irfft(spectrum, size)[:lags])
