"""Make an output visible: beside its certificate, whole or not at all."""

from typing import Any

from policy_engine.catalog import TABLE
from policy_engine.engines.engine import Progress, silent
from policy_engine.publication.destinations import destination, model_destination
from policy_engine.publication.files import Publication
from policy_engine.publication.renewing import renew
from policy_engine.publication.tables import TablePublication
from policy_engine.storage import Place


def publication(
    place: Place,
    session: Any,
    *,
    overwrite: bool,
    wait: bool = False,
    progress: Progress = silent,
) -> Publication | TablePublication:
    """Return the publication for a place; tables are published in the catalog of a session.

    One run at a time writes to a destination: with `wait` the others wait for it, and tell
    `progress`.
    """
    if str(place).startswith(TABLE):
        return TablePublication(
            session, str(place), overwrite=overwrite, wait=wait, progress=progress
        )
    return Publication(place, overwrite=overwrite, wait=wait, progress=progress)


__all__ = [
    "Publication",
    "TablePublication",
    "destination",
    "model_destination",
    "publication",
    "renew",
]
