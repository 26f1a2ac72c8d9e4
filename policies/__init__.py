"""Who is admitted, when: the policies, one rule a file."""

from policies.as_printed import ISJLAsPrinted
from policies.bucketed import Bucketed
from policies.continuous import FCFS, LPT, SJF
from policies.fair import Fair
from policies.isjl import ISJL
from policies.ljf import LJF
from policies.registry import PolicyEntry, catalogue, make_policy, modules_of, parse_policy, states
from policies.robust import RobustISJL
from policies.waiting import Delayed, Windowed

__all__ = [
    "FCFS",
    "ISJL",
    "LJF",
    "LPT",
    "SJF",
    "Bucketed",
    "Delayed",
    "Fair",
    "ISJLAsPrinted",
    "PolicyEntry",
    "RobustISJL",
    "Windowed",
    "catalogue",
    "make_policy",
    "modules_of",
    "parse_policy",
    "states",
]
