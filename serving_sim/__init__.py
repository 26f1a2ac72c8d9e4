"""Discrete-event simulation of batched LLM serving: what happens in simulated time."""

from serving_sim.audit import Audit, Violation
from serving_sim.epoch import Epoch
from serving_sim.errors import PolicyError, ServingSimError, SourceError
from serving_sim.explanation import Explanation
from serving_sim.policy import Admission, Policy
from serving_sim.record import Batches, Run, Served, Sink, Totals
from serving_sim.request import Workload
from serving_sim.rule import Order, Rule
from serving_sim.simulate import simulate
from serving_sim.source import OpenSource, ReactiveSource
from serving_sim.steptime import StepTime

__all__ = [
    "Admission",
    "Audit",
    "Batches",
    "Epoch",
    "Explanation",
    "OpenSource",
    "Order",
    "Policy",
    "PolicyError",
    "ReactiveSource",
    "Rule",
    "Run",
    "Served",
    "ServingSimError",
    "Sink",
    "SourceError",
    "StepTime",
    "Totals",
    "Violation",
    "Workload",
    "simulate",
]
