"""Workloads out of the client tables of ServeGen.

Xiang et al., "ServeGen: Workload characterization and generation of large language model serving in
production", 2025. A folder holds two files for each client: ``chunk-N-trace.csv`` says how fast and how
bursty its requests come in each window of time, ``chunk-N-dataset.json`` how long they are.
"""

from workloads.servegen.clients import ServeGenClient, Window, read_servegen
from workloads.servegen.mix import client_workload
from workloads.servegen.token_tables import TokenTable

__all__ = ["ServeGenClient", "TokenTable", "Window", "client_workload", "read_servegen"]
