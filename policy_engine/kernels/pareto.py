"""What no other is better than, by two figures of which less is better."""

from collections.abc import Sequence


def pareto_front(points: Sequence[tuple[float, float]]) -> tuple[int, ...]:
    """Return the places of the points that no other one dominates, by their first figure.

    A point dominates another one if neither of its figures is larger and one is smaller; points
    that are equal are both there. Less of either is better.
    """
    front: list[int] = []
    for place in sorted(range(len(points)), key=lambda one: points[one]):
        last = points[front[-1]] if front else None
        if last is None or points[place][1] < last[1] or points[place] == last:
            front.append(place)
    return tuple(front)
