"""Pictures of runs; the only place that draws."""

from matplotlib.figure import Figure

from analysis.plots.bars import quantile_bars
from analysis.plots.extent import gap_against_throughput, gap_over_time
from analysis.plots.length import Bins, latency_against_length, length_bins
from analysis.plots.save import save_figure, to_svg
from analysis.plots.tail import latency_tail
from analysis.plots.timeline import load_over_time

__all__ = [
    "Bins",
    "Figure",
    "gap_against_throughput",
    "gap_over_time",
    "latency_against_length",
    "latency_tail",
    "length_bins",
    "load_over_time",
    "quantile_bars",
    "save_figure",
    "to_svg",
]
