"""Figures in the text format of Prometheus, version 0.0.4.

It is written here and not by prometheus-client, whose figures are of a process and not of a
service, in a registry that everything adds to.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from policy_engine.service.metrics.call_meter import BOUNDS, DurationTotals, Labels

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class MetricSample:
    """A figure, with the ending of its name, if any, and its labels."""

    value: float
    labels: Mapping[str, str]
    ending: str = ""


@dataclass(frozen=True)
class Metric:
    """The figures of a name."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    what: str
    samples: tuple[MetricSample, ...]

    @classmethod
    def gauge(cls, name: str, what: str, value: float) -> "Metric":
        """Return a single figure that rises and falls."""
        return cls(name, "gauge", what, (MetricSample(value, {}),))

    @classmethod
    def by(
        cls,
        name: str,
        kind: Literal["counter", "gauge"],
        what: str,
        labels: tuple[str, ...],
        values: Mapping[Labels, float],
    ) -> "Metric":
        """Return figures by what they are about, in its order."""
        pairs = sorted(values.items())
        samples = (MetricSample(value, dict(zip(labels, key, strict=True))) for key, value in pairs)
        return cls(name, kind, what, tuple(samples))

    @classmethod
    def histogram(
        cls, name: str, what: str, labels: tuple[str, ...], values: Mapping[Labels, DurationTotals]
    ) -> "Metric":
        """Return durations by what they are of."""
        samples = (
            one
            for key, totals in sorted(values.items())
            for one in _buckets(dict(zip(labels, key, strict=True)), totals)
        )
        return cls(name, "histogram", what, tuple(samples))

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text format."""
        yield f"# HELP {self.name} {self.what}"
        yield f"# TYPE {self.name} {self.kind}"
        for one in self.samples:
            labels = ",".join(f'{key}="{_escaped(text)}"' for key, text in one.labels.items())
            place = f"{{{labels}}}" if labels else ""
            yield f"{self.name}{one.ending}{place} {one.value:.15g}"


def exposition(metrics: Iterable[Metric]) -> str:
    """Return figures as text."""
    return "".join(f"{line}\n" for metric in metrics for line in metric.lines())


def _buckets(labels: Mapping[str, str], totals: DurationTotals) -> Iterator[MetricSample]:
    bounds = [*(f"{one:g}" for one in BOUNDS), "+Inf"]
    counts = [*accumulate(totals.counts)]
    for bound, count in zip(bounds, counts, strict=True):
        yield MetricSample(count, {**labels, "le": bound}, "_bucket")
    yield MetricSample(totals.seconds, labels, "_sum")
    yield MetricSample(counts[-1], labels, "_count")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
