"""Change a workload before it is served: fewer requests, other gaps, other lengths.

Every shaping is a frozen dataclass that checks its parameters when it is made and leaves the workload
it is applied to as it is; `shape` applies several and says what each did to the number of requests.
"""

from workloads.shaping.choice import Head, Only, Thin
from workloads.shaping.chunks import PromptChunks
from workloads.shaping.context import ContextLimit, TooLong
from workloads.shaping.gaps import Load, Rate, ShuffleGaps
from workloads.shaping.repeat import Repeat
from workloads.shaping.shaping import Shaped, Shaping, Step, shape
from workloads.shaping.split import split
from workloads.shaping.window import Window

__all__ = [
    "ContextLimit",
    "Head",
    "Load",
    "Only",
    "PromptChunks",
    "Rate",
    "Repeat",
    "Shaped",
    "Shaping",
    "ShuffleGaps",
    "Step",
    "Thin",
    "TooLong",
    "Window",
    "shape",
    "split",
]
