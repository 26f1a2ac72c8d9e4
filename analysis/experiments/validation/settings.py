"""How much a validation simulates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Size of a validation.

    Attributes
    ----------
    seed : int
        Where all randomness comes from.
    replications : int
        Independent runs of each system, >= 2.
    requests : int
        Requests of each run; the first tenth is left out, while the queue fills.
    identity_requests : int
        Requests of each run that is compared request by request.
    other_requests : int
        Requests of each run of the independent simulator, which is slower.
    loads : tuple of float
        Loads on the way to the heavy-traffic limit; long queues need long runs.
    """

    seed: int = 0
    replications: int = 40
    requests: int = 500_000
    identity_requests: int = 1_000_000
    other_requests: int = 20_000
    loads: tuple[float, ...] = (0.8, 0.9, 0.95, 0.98)

    @property
    def warmup(self) -> int:
        """First requests of a run that are left out."""
        return self.requests // 10


def full(seed: int) -> Settings:
    """Everything the documentation shows; minutes."""
    return Settings(seed)


def quick(seed: int) -> Settings:
    """The same systems on shorter runs; a good quarter of a minute where numba is installed."""
    return Settings(
        seed,
        replications=20,
        requests=100_000,
        identity_requests=100_000,
        other_requests=2_000,
        loads=(0.8, 0.9),
    )
