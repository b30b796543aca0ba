"""Short and distinct labels for IRIs."""

from collections.abc import Iterable, Mapping

from policy_engine.policy.wording import printable, short_name

_LONGEST = 60


class Labels:
    """The label of every IRI in a picture: its last part, or all of it if two would be equal."""

    def __init__(self, iris: Iterable[str]) -> None:
        distinct = tuple(dict.fromkeys(iris))
        self._labels = _number(_lengthen({iri: shorten(short_name(iri)) for iri in distinct}))

    def __call__(self, iri: str) -> str:
        """Return the label of an IRI."""
        return self._labels.get(iri) or shorten(short_name(iri))


def _lengthen(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels, with the whole IRI where the last part is not unique."""
    times = _count_labels(labels)
    return {iri: label if times[label] == 1 else shorten(iri) for iri, label in labels.items()}


def _number(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels with a number after those that are still equal."""
    times, counters, unique = _count_labels(labels), dict.fromkeys(labels.values(), 0), {}
    for iri, label in labels.items():
        counters[label] += 1
        unique[iri] = label if times[label] == 1 else f"{label} ({counters[label]})"
    return unique


def _count_labels(labels: Mapping[str, str]) -> dict[str, int]:
    times: dict[str, int] = {}
    for label in labels.values():
        times[label] = times.get(label, 0) + 1
    return times


def shorten(text: str) -> str:
    """Return a text, with its middle left out if it is too long."""
    printed = printable(text)
    half = _LONGEST // 2
    return printed if len(printed) <= _LONGEST else f"{printed[: half - 1]}…{printed[-half:]}"
