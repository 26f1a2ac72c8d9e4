"""A run as it can be watched: epoch by epoch, with the reasons that the policy gives."""

from analysis.watch.frame import Active, Frame, Waiting
from analysis.watch.observer import MOST_EPOCHS, Observer
from analysis.watch.recording import Recording, record

__all__ = ["MOST_EPOCHS", "Active", "Frame", "Observer", "Recording", "Waiting", "record"]
