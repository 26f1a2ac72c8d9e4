"""Exact values of queueing theory that simulations are held against."""

from analysis.queueing.formulas import (
    delay_probability,
    heavy_traffic_wait,
    priority_waits,
    single_server_wait,
)
from analysis.queueing.latency import SlottedLatency
from analysis.queueing.recursion import continuous_starts
from analysis.queueing.slotted import slotted_fcfs

__all__ = [
    "SlottedLatency",
    "continuous_starts",
    "delay_probability",
    "heavy_traffic_wait",
    "priority_waits",
    "single_server_wait",
    "slotted_fcfs",
]
