"""What runs can be asked for, as forms and programs read it."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from policy_engine.service.runs.kinds.settings import RunSettings


class RunKindView(BaseModel):
    """A kind of runs: what it does, and the JSON Schema of its settings.

    Where a setting is the identifier of something that the service has, its schema says of what, as
    `resource`: a policy, a dataset, a fitted model, a description of one, or a release, which is
    named by the run that made it.
    """

    kind: str
    about: str
    settings: dict[str, Any]


def kind_views(kinds: Mapping[str, type[RunSettings]]) -> list[RunKindView]:
    """Return what each kind of runs is asked for."""
    return [
        RunKindView(kind=name, about=kind.about, settings=kind.model_json_schema())
        for name, kind in kinds.items()
    ]
