# %% [markdown]
# # Quantiles: how sure is a p99, and who is in the tail?
#
# One long run under each of three policies, latency quantiles with intervals, why textbook intervals
# are wrong here, and which requests the slowest thousandth is made of.

# %%
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from analysis import summarize
from policies import make_policy
from serving_sim import simulate
from workloads import make_workload, parse_arrivals, parse_lengths, rate_for_load

SLOTS, REQUESTS, WARMUP = 16, 30_000, 1_000
LENGTHS = parse_lengths("lmsys-like")
RATE = rate_for_load(0.5, slots=SLOTS, mean_length=LENGTHS.mean)
WORKLOAD = make_workload(REQUESTS, LENGTHS, parse_arrivals("poisson", rate=RATE), seed=3)
POLICIES = [make_policy("fcfs"), make_policy("isjl", alpha=200), make_policy("fair-sjf", alpha=200)]
FCFS, ISJL, SJF = (policy.describe() for policy in POLICIES)

runs = [simulate(WORKLOAD, policy, slots=SLOTS) for policy in POLICIES]
latency = {run.policy: (run.finish - WORKLOAD.release)[WARMUP:] for run in runs}

# %% [markdown]
# ## Quantiles with honest intervals
#
# `summarize` gives every metric its quantiles. An interval comes from batch means, so it allows for
# the long memory of a queue; where the run is too short for one, the note says so.

# %%
interval: dict[str, dict[str, tuple[float, float]]] = {}
for run in runs:
    print(run.policy)
    interval[run.policy] = {}
    for name, found in summarize(run, warmup=WARMUP).metrics["e2el"].quantiles.items():
        if found.low is not None and found.high is not None:
            interval[run.policy][name] = (found.low, found.high)
        between = found.note or "{:,.0f} to {:,.0f}".format(*interval[run.policy][name])
        print(f"  {name:6} {found.value:8,.0f} steps   {between}")

# %% [markdown]
# ## The textbook interval is too narrow
#
# For independent values the interval of a quantile is a pair of order statistics (binomial).
# Latencies in a row are not independent: a request that waits has neighbours that wait.


# %%
def textbook(values: NDArray[np.float64], share: float) -> tuple[float, float]:
    """Interval of a quantile as if the values were independent, at 95 %."""
    low, high = stats.binom.interval(0.95, len(values), share)
    ordered = np.sort(values)
    return float(ordered[int(low)]), float(ordered[int(high)])


wider = {}
for policy, values in latency.items():
    honest, narrow = interval[policy]["p50"], textbook(values, 0.5)
    wider[policy] = (honest[1] - honest[0]) / (narrow[1] - narrow[0])
    print(f"{policy:18} p50: the honest interval is {wider[policy]:.1f} times as wide")

# %% [markdown]
# ## Who is in the tail?
#
# Under the same budget of 200 tokens the smallest request first is faster than ISJL in the median and
# at p95, and the intervals say so. Its p99.9 looks worse, and carries no interval: from this run
# alone that is no finding. But who the slowest thousandth *are* can be counted. Under `fcfs` they are
# the long ones, served at once; under the smallest first long ones that others keep passing; under
# ISJL requests of any length, short ones among them.

# %%
TAIL = int(0.001 * (REQUESTS - WARMUP))
slowest = {}
for policy, values in latency.items():
    rows = np.argsort(values)[-TAIL:]
    slowest[policy] = WORKLOAD.length[WARMUP:][rows]
    stretch = np.median(values[rows] / slowest[policy])
    shortest, longest = slowest[policy].min(), slowest[policy].max()
    print(f"{policy:18} {shortest} to {longest} tokens, {stretch:.1f} times as long as alone in the median")

# %% [markdown]
# ## Findings

# %%
assert all(interval[SJF][name][1] < interval[ISJL][name][0] for name in ("p50", "p90", "p95"))
assert not any("p99.9" in known for known in interval.values())
assert 1 < wider[FCFS] < 1.5
assert 5 < wider[ISJL] < 7
assert slowest[FCFS].min() > slowest[SJF].min() > 400
assert slowest[ISJL].min() < 10

# %%
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
COLOURS, DASHES = ("#0072B2", "#D55E00", "#009E73"), ("-", "--", "-.")
for (policy, values), colour, dash in zip(latency.items(), COLOURS, DASHES, strict=True):
    beyond = 1 - np.arange(len(values)) / len(values)
    axes.step(np.sort(values), beyond, where="post", label=policy, color=colour, linestyle=dash)
    for name, ends in interval[policy].items():
        share = 1 - float(name[1:]) / 100
        axes.plot(ends, (share, share), color=colour, linewidth=5, alpha=0.5)
axes.set(xlabel="end-to-end latency (steps)", ylabel="share of requests beyond", yscale="log")
axes.set(xlim=(0, 2_000), ylim=(3e-4, 1))
axes.legend(frameon=False, title="thick: 95 % intervals of quantiles")
figure.savefig("quantiles.png", dpi=150)
