"""The size queue against a plain list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policies.queues import SizeQueue

ACTIONS = st.one_of(st.integers(1, 6), st.sampled_from(["smallest", "largest", "earliest"]))


@given(st.lists(ACTIONS, max_size=60))
def test_size_queue_agrees_with_a_sorted_list(actions: list[int | str]) -> None:
    queue, waiting, joined = SizeQueue(), list[tuple[int, int]](), 0
    for action in actions:
        if isinstance(action, int):
            queue.push(joined, action)
            waiting.append((action, joined))
            joined += 1
        elif waiting:
            if action == "smallest":
                expected = min(waiting)
                assert queue.smallest() == expected[0]
                assert queue.pop_smallest() == expected[1]
            elif action == "largest":
                expected = min(waiting, key=lambda item: (-item[0], item[1]))
                assert queue.largest() == expected[0]
                assert queue.pop_largest() == expected[1]
            else:
                expected = min(waiting, key=lambda item: item[1])
                assert queue.earliest_size() == expected[0]
                assert queue.pop(expected[0]) == expected[1]
            waiting.remove(expected)
        sizes = sorted(size for size, _ in waiting)
        assert len(queue) == len(sizes)
        assert queue.second_largest() == (sizes[-2] if len(sizes) > 1 else None)
        for bound in range(8):
            assert queue.count(bound) == sizes.count(bound)
            assert queue.largest_up_to(bound) == max((s for s in sizes if s <= bound), default=None)


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=40),
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(0, 10),
)
def test_the_earliest_requests_of_a_range_of_sizes(sizes: list[int], low: int, high: int, count: int) -> None:
    queue = SizeQueue()
    for request, size in enumerate(sizes):
        queue.push(request, size)
    expected = [request for request, size in enumerate(sizes) if low <= size <= high][:count]
    assert queue.pop_earliest(low, high, count) == expected
    assert len(queue) == len(sizes) - len(expected)
