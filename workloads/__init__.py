"""What arrives: lengths, arrival processes, presets, workload files and traces."""

from workloads.arrivals import Arrivals, parse_arrivals, rate_for_load
from workloads.files import read_workload, write_workload
from workloads.generate import make_workload
from workloads.lengths import Lengths, parse_lengths
from workloads.presets import PRESETS, Preset, get_preset
from workloads.report import ReadReport
from workloads.traces import read_requests

__all__ = [
    "PRESETS",
    "Arrivals",
    "Lengths",
    "Preset",
    "ReadReport",
    "get_preset",
    "make_workload",
    "parse_arrivals",
    "parse_lengths",
    "rate_for_load",
    "read_requests",
    "read_workload",
    "write_workload",
]
