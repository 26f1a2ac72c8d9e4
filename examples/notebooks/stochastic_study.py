# %% [markdown]
# # A stochastic study: what does a budget cost at which load?
#
# Random lengths and arrivals, independent replications, the same arrivals for every policy, and
# intervals on the differences. This is the pattern of any question of the kind "which is better on
# average, for sure".

# %%
from collections import defaultdict
from collections.abc import Iterable

import matplotlib.pyplot as plt
import numpy as np

from analysis.replications import interval
from policies import make_policy
from serving_sim import simulate
from workloads import make_workload, parse_arrivals, parse_lengths, rate_for_load

SLOTS, REQUESTS, WARMUP, REPLICATIONS = 16, 2_000, 200, 6
LOADS = (0.2, 0.3, 0.4, 0.5)
LENGTHS = parse_lengths("lmsys-like")
POLICIES = [make_policy("fcfs"), make_policy("isjl", alpha=200), make_policy("isjl", alpha=100)]
FCFS, LOOSE, TIGHT = NAMES = [policy.describe() for policy in POLICIES]

# %% [markdown]
# One child of the seed for each replication. The policy has no part in it, so all policies meet the
# same requests in the same rhythm, and the load only stretches the gaps: *common random numbers*.
# Differences are then between policies, not between draws.

# %%
latency = defaultdict(list)  # mean end-to-end latency by policy and load, one value a replication
for load in LOADS:
    rate = rate_for_load(load, slots=SLOTS, mean_length=LENGTHS.mean)
    arrivals = parse_arrivals("poisson", rate=rate)
    for seed in np.random.SeedSequence(1).spawn(REPLICATIONS):
        workload = make_workload(REQUESTS, LENGTHS, arrivals, seed)
        for policy in POLICIES:
            run = simulate(workload, policy, slots=SLOTS)
            mean = (run.finish - workload.release)[WARMUP:].mean()
            latency[policy.describe(), load].append(float(mean))

# %% [markdown]
# Replications are independent, so Student's interval over their means is right without more ado.


# %%
def student(values: Iterable[float]) -> tuple[float, float]:
    """Mean and half of its 95 % interval."""
    found = interval(list(values))
    assert found.value is not None
    assert found.half_width is not None
    return found.value, found.half_width


means = {key: student(values) for key, values in latency.items()}
print("mean end-to-end latency in steps, with 95 % intervals")
print("load".rjust(16), *(f"{load:>12}" for load in LOADS))
for name in NAMES:
    cells = ("{:.0f} ± {:.0f}".format(*means[name, load]) for load in LOADS)
    print(name.rjust(16), *(cell.rjust(12) for cell in cells))

# %% [markdown]
# ## Paired differences
#
# What does the tighter budget cost more? The question is the difference, and taken within a
# replication it is far more certain than two intervals side by side: the draw that made one budget
# slow made the other slow as well. How much that helps is measured, since it need not: `fcfs` hardly
# varies, so against it there is nothing to cancel.


# %%
def paired(ours: str, theirs: str, load: float) -> tuple[float, float, float]:
    """Difference of means, half of its interval, and by how much pairing divides the variance."""
    x, y = np.array(latency[ours, load]), np.array(latency[theirs, load])
    return *student(x - y), (x.var(ddof=1) + y.var(ddof=1)) / (x - y).var(ddof=1)


for ours, theirs in ((TIGHT, LOOSE), (LOOSE, FCFS)):
    print(f"{ours} less {theirs}, on the same arrivals")
    for load in LOADS:
        price, half, gain = paired(ours, theirs, load)
        cell = f"{price:.0f} ± {half:.0f} steps"
        print(f"{load:>16}  {cell:16}  pairing divides the variance by {gain:.1f}")

# %% [markdown]
# ## Findings
#
# 1. A budget costs at every load, even on a worker that is four fifths empty: whoever arrives while a
#    request is more than alpha tokens ahead waits for it to end.
# 2. The price rises with the load.
# 3. The tighter budget costs more at every load; pairing divides the variance of that by four to
#    eleven.

# %%
for ours, theirs in ((TIGHT, LOOSE), (LOOSE, FCFS)):
    prices = [paired(ours, theirs, load) for load in LOADS]
    assert all(price > half for price, half, _ in prices)
    assert sum(prices[0][:2]) < prices[-1][0] - prices[-1][1]
assert all(3.5 < paired(TIGHT, LOOSE, load)[2] < 11 for load in LOADS)
assert all(paired(LOOSE, FCFS, load)[2] < 1.2 for load in LOADS)

# %%
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
for name, colour, marker in zip(NAMES, ("#0072B2", "#D55E00", "#009E73"), "os^", strict=True):
    found, halves = zip(*(means[name, load] for load in LOADS), strict=True)
    axes.errorbar(LOADS, found, halves, label=name, color=colour, marker=marker, capsize=3)
axes.set(xlabel="load", ylabel="mean end-to-end latency (steps)", xticks=LOADS, ylim=(0, None))
axes.legend(frameon=False)
figure.savefig("stochastic_study.png", dpi=150)
