# %% [markdown]
# # Online-ISJL, watched step by step
#
# Three slots, a budget of alpha = 4 tokens, fifteen requests that keep coming. What does the policy
# see at each instant, what does it do, and why? Change a length or a release, run all cells, and
# watch again; the assertions are about the numbers as they stand here.

# %%
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np

from policies import FCFS, ISJL
from serving_sim import Admission, Epoch, Run, Workload, simulate
from serving_sim.testing import PassThrough

ALPHA, SLOTS = 4, 3
WORKLOAD = Workload(
    release=[0, 0, 0, 0, 0, 2, 3, 5, 6, 11, 12, 12, 13, 15, 16],
    length=[12, 10, 4, 3, 2, 3, 6, 2, 9, 8, 7, 2, 3, 1, 5],
)

# %% [markdown]
# A policy may be wrapped: `PassThrough` hands every call on. This one keeps the reason that the
# policy gives for its answer when it is asked for one.


# %%
class Watched(PassThrough):
    """What the inner policy says of its answer at each instant."""

    def begin(self, slots: int) -> None:
        """A new run, nothing said yet."""
        super().begin(slots)
        self.said: dict[float, str] = {}

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        """The answer of the inner policy, with a note of its reason."""
        answer = super().decide(epoch)
        reason = self.explain(epoch, answer)
        self.said[epoch.now] = "" if reason is None else reason.rule
        return answer


policy = Watched(ISJL(ALPHA))
run = simulate(WORKLOAD, policy, slots=SLOTS)

# %% [markdown]
# A run holds who started and finished when, so the worker can be drawn at any instant: `#` is a token
# made, `.` one to come, `>` a request that enters now. The policy is not asked while the door is
# shut, which it is as long as the furthest request has more than alpha tokens.


# %%
def furthest(run: Run, now: float) -> int:
    """A_max, the tokens of the furthest request that was there before ``now`` and still is."""
    there = (run.start < now) & (run.finish > now)
    return int((now - run.start[there]).max(initial=0))


def frame(run: Run, now: float, said: str | None) -> str:
    """The worker at an instant, as text."""
    release, length = WORKLOAD.release, WORKLOAD.length
    a_max = furthest(run, now)
    lines = [f"step {now:g}: A_max {a_max} {'<=' if a_max <= ALPHA else '>'} {ALPHA}"]
    for slot in range(SLOTS):
        here = np.flatnonzero((run.slot == slot) & (run.start <= now) & (run.finish > now))
        for request in here:
            made = int(now - run.start[request])
            bar = "#" * made + "." * (int(length[request]) - made)
            lines.append(f"  {'>' if made == 0 else ' '} slot {slot}  request {request:2}  {bar}")
        if not len(here):
            lines.append(f"    slot {slot}  empty")
    waiting = np.flatnonzero((release <= now) & (run.start > now))
    lines.append("    waiting " + (", ".join(f"{each} ({length[each]})" for each in waiting) or "nobody"))
    lines.append(f"    {said}" if said else "    not asked")
    return "\n".join(lines)


instants = [float(now) for now in np.unique(np.concatenate([run.start, run.finish]))]
for now in instants[:8]:
    print(frame(run, now, policy.said.get(now)), end="\n\n")

# %% [markdown]
# - **Step 0.** Two waiting requests and more exceed alpha, so ISJL plans: the longest, 0 and 1, are
#   held, and short ones are packed in front of them.
# - **Step 1.** The packs will end at step 5. Who enters from step 1 on is within 4 tokens of whoever
#   enters then, so request 0 may start.
# - **Step 5.** Request 1 enters at the last moment, beside a request with 4 tokens.
# - **Steps 10 and 13.** The door is shut until the batch has drained. Slots are empty, requests wait,
#   and nobody is asked: this is what fairness costs.
# - **Step 15.** The worker is empty, and with all that came meanwhile ISJL plans again.

# %%
assert run.max_gap == ALPHA
assert run.start[[0, 1]].tolist() == [1, 5]
assert all(furthest(run, float(now)) <= ALPHA for now in run.start)

# %% [markdown]
# How much of it is the price of fairness? First come, first served fills every slot, and pays in
# gaps.

# %%
fcfs = simulate(WORKLOAD, FCFS(), slots=SLOTS)
for each in (run, fcfs):
    wait = (each.start - WORKLOAD.release).mean()
    print(f"{each.policy:12}  {each.steps} steps, mean wait {wait:.1f}, largest gap {each.max_gap}")

assert (run.steps, fcfs.steps) == (33, 28)
assert (run.max_gap, fcfs.max_gap) == (4, 10)

# %% [markdown]
# The same as a picture: bars are requests in their slots, and the door is shut where the ground is
# grey. The line below is A_max, which may be above alpha, but never when somebody enters.

# %%
figure, (bars, line) = plt.subplots(2, sharex=True, figsize=(8, 4), layout="constrained")
for request, (slot, start, finish) in enumerate(zip(run.slot, run.start, run.finish, strict=True)):
    bars.barh(slot, finish - start, left=start, height=0.8, color="#56B4E9", edgecolor="white")
    bars.text((start + finish) / 2, slot, str(request), ha="center", va="center", fontsize=8)
steps = range(run.steps + 1)
a_max = [furthest(run, step) for step in steps]
for step in steps:
    if a_max[step] > ALPHA:
        bars.axvspan(step, step + 1, color="#DDDDDD", linewidth=0, zorder=0)
        line.axvspan(step, step + 1, color="#DDDDDD", linewidth=0, zorder=0)
bars.set(yticks=range(SLOTS), ylabel="slot")
bars.invert_yaxis()
line.step(steps, a_max, where="post", color="#0072B2")
line.axhline(ALPHA, color="#D55E00", linestyle="--")
line.text(run.steps, ALPHA, " alpha", color="#D55E00", va="center")
line.set(xlabel="step", ylabel="A_max (tokens)", xlim=(0, run.steps), yticks=range(0, 13, ALPHA))
figure.savefig("watch_isjl.png", dpi=150)
