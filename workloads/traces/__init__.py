"""Request logs of real systems: one file per format, one border for all."""

from workloads.traces.formats import FORMATS
from workloads.traces.reading import LogStream, log_files, read_lengths, read_requests
from workloads.traces.request_log import LogFormat
from workloads.traces.wanted import Wanted

__all__ = ["FORMATS", "LogFormat", "LogStream", "Wanted", "log_files", "read_lengths", "read_requests"]
