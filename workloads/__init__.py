"""What arrives: lengths, arrival processes, presets, workload files and traces."""

from workloads.arrivals import Arrivals, parse_arrivals, rate_for_load
from workloads.client_file import read_clients
from workloads.closed_loop import ClosedLoop, think_times
from workloads.files import read_workload, write_workload
from workloads.generate import make_workload, replication_seed
from workloads.lengths import Lengths, parse_lengths
from workloads.predictions import Predictions, context_limit, parse_predictions, predict
from workloads.presets import PRESETS, Preset, get_preset
from workloads.report import ReadReport
from workloads.specification import Specification, read_specification, write_specification
from workloads.superposition import Client, Superposition
from workloads.traces import LogStream, read_requests

__all__ = [
    "PRESETS",
    "Arrivals",
    "Client",
    "ClosedLoop",
    "Lengths",
    "LogStream",
    "Predictions",
    "Preset",
    "ReadReport",
    "Specification",
    "Superposition",
    "context_limit",
    "get_preset",
    "make_workload",
    "parse_arrivals",
    "parse_lengths",
    "parse_predictions",
    "predict",
    "rate_for_load",
    "read_clients",
    "read_requests",
    "read_specification",
    "read_workload",
    "replication_seed",
    "think_times",
    "write_specification",
    "write_workload",
]
