"""Makes an output visible beside its certificate, completely or not at all."""

from collections.abc import Mapping
from typing import Any

from policy_engine.certificate.publication.databases import DatabasePublication
from policy_engine.certificate.publication.destinations import (
    check_model_folder,
    check_not_input,
    destination,
    model_destination,
    plan_destination,
    plan_destinations,
)
from policy_engine.certificate.publication.files import Publication
from policy_engine.certificate.publication.renewing import renew
from policy_engine.certificate.publication.tables import TablePublication
from policy_engine.data.catalog import TABLE
from policy_engine.data.places.spelling import is_database
from policy_engine.data.storage import Location
from policy_engine.engines.engine import Progress, silent

AnyPublication = Publication | TablePublication | DatabasePublication


def publication(
    locations: Mapping[str, Location],
    session: Any,
    *,
    overwrite: bool,
    wait: bool = False,
    progress: Progress = silent,
) -> AnyPublication:
    """Return the publication for outputs in one folder, or for one table in a session's catalog or
    in the file of a database.

    One run at a time writes to a destination: with `wait`, others wait for it and report that to
    `progress`.
    """
    options: dict[str, Any] = {"overwrite": overwrite, "wait": wait, "progress": progress}
    [*_, last] = locations.values()
    if str(last).startswith(TABLE):
        return TablePublication(session, str(last), **options)
    if is_database(last):
        return DatabasePublication(last, **options)
    return Publication(*locations.values(), assets=tuple(locations), **options)


__all__ = [
    "AnyPublication",
    "DatabasePublication",
    "Publication",
    "TablePublication",
    "check_model_folder",
    "check_not_input",
    "destination",
    "model_destination",
    "plan_destination",
    "plan_destinations",
    "publication",
    "renew",
]
