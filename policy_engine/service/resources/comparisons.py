"""The figures of two runs side by side."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from policy_engine.errors import ServiceError
from policy_engine.service.identity.actors import Actor
from policy_engine.service.resources.runs import Runs
from policy_engine.service.runs.states import RunState

_JSON = ("application/json", "application/ld+json")
_MOST = 2_000
"""So many figures of a run are compared."""
_LARGEST = 20 * 2**20


class ScaleView(BaseModel):
    """What both values of a figure are drawn on: shares from 0 to 1, others from 0 on."""

    low: float
    high: float


class FigureView(BaseModel):
    """A figure by the artefact and the place that it is at; None where a run does not have it."""

    artefact: str
    figure: str
    first: float | None = None
    second: float | None = None
    scale: ScaleView


class SettingView(BaseModel):
    """A setting that two runs do not have in common."""

    setting: str
    first: Any = None
    second: Any = None


class RunComparison(BaseModel):
    """Two runs of one kind: how their settings differ, and their figures; `is_cut` where there are
    more figures than are compared."""

    kind: str
    first: str
    second: str
    settings: list[SettingView]
    figures: list[FigureView]
    is_cut: bool = False


@dataclass(frozen=True)
class Comparisons:
    """Compares what runs left for who may read runs."""

    runs: Runs

    def compare(self, actor: Actor, first: str, second: str) -> RunComparison:
        """Return two runs side by side.

        Raises ServiceError: N003 for a run that is not there for the caller, N004 for two of
        different kinds, or one that has not succeeded.
        """
        one, other = (self.runs.read(actor, run_id) for run_id in (first, second))
        if one.kind != other.kind:
            message = f"Runs of one kind are compared. Given: {one.kind} and {other.kind}."
            raise ServiceError.of("N004", message)
        if not one.state == other.state == RunState.SUCCEEDED:
            raise ServiceError.of("N004", "Runs are compared that have succeeded.")
        figures = [dict(self._figures(actor, run_id)) for run_id in (first, second)]
        places = list(dict.fromkeys([*figures[0], *figures[1]]))
        names = sorted({*one.settings, *other.settings})
        return RunComparison(
            kind=one.kind,
            first=first,
            second=second,
            settings=[
                SettingView(setting=name, first=one.settings.get(name), second=changed)
                for name in names
                if one.settings.get(name) != (changed := other.settings.get(name))
            ],
            figures=[_figure(place, *(some.get(place) for some in figures)) for place in places],
            is_cut=any(len(some) >= _MOST for some in figures),
        )

    def _figures(self, actor: Actor, run_id: str) -> Iterator[tuple[tuple[str, str], float]]:
        """Yield the figures of a run by the artefact and the place that they are at."""
        left = _MOST
        for one in self.runs.artefacts(actor, run_id):
            if one.media_type not in _JSON or one.size > _LARGEST:
                continue
            _, path = self.runs.artefact(actor, run_id, one.name)
            for place, value in _numbers(json.loads(path.read_bytes())):
                if not left:
                    return
                left -= 1
                yield (one.name, place), value


def _numbers(document: Any, place: str = "") -> Iterator[tuple[str, float]]:
    """Yield the finite numbers of a document in JSON, by their pointers."""
    if isinstance(document, Mapping):
        for name, part in document.items():
            yield from _numbers(part, f"{place}/{name}")
    elif isinstance(document, list):
        for number, part in enumerate(document):
            yield from _numbers(part, f"{place}/{number}")
    elif type(document) in (int, float) and math.isfinite(document):
        yield place, float(document)


def _figure(place: tuple[str, str], first: float | None, second: float | None) -> FigureView:
    values = [one for one in (first, second) if one is not None]
    low, high = min(0.0, *values), max(0.0, *values)
    is_share = low == 0.0 and high <= 1.0
    scale = ScaleView(low=low, high=1.0 if is_share else high)
    artefact, figure = place
    return FigureView(artefact=artefact, figure=figure, first=first, second=second, scale=scale)
