"""Names of the files that a run writes to its folder."""

from __future__ import annotations

SUFFIXES = (".parquet", ".csv")
REQUESTS = "requests"
BATCHES = "batches"
SUMMARY = "summary.json"
TIMELINE = "timeline.json.gz"
ESTIMATES = "replications.json"

RUN_FILES = (*(stem + suffix for stem in (REQUESTS, BATCHES) for suffix in SUFFIXES), SUMMARY, TIMELINE)
"""All that the folder of one run may hold."""

REPLICATION = "replication-"
"""How folders of the runs begin where there are several; their number follows."""

PATTERNS = (*RUN_FILES, *(f"{REPLICATION}[0-9]*/{name}" for name in RUN_FILES), ESTIMATES)
"""All that the folder of one policy may hold."""
