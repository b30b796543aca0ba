"""Start the engine that a caller chose, give it its inputs, and stop it again."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.data.catalog import (
    Catalog,
    Dataset,
    find_keys,
    find_matrices,
    find_taxonomies,
    make_catalog,
)
from policy_engine.data.keys import Key, read_key
from policy_engine.data.places.spelling import is_database
from policy_engine.data.storage import Location, exists, read_errors
from policy_engine.data.table_files import file_format
from policy_engine.engines.engine import Engine, Progress, StoredData, silent
from policy_engine.errors import DataError, PlanError, PolicyEngineError
from policy_engine.plan.plan import EngineName
from policy_engine.plan.products import Product
from policy_engine.policy import Policy
from policy_engine.policy.datasets import named_data

if TYPE_CHECKING:
    from policy_engine.engines.spark.engine import SparkEngine


@dataclass(frozen=True)
class Launcher:
    """Where plans run: in this process, or on the cluster of a started Spark engine."""

    spark: "SparkEngine | None" = None

    @property
    def name(self) -> EngineName:
        """The engine's name in plans."""
        return "spark" if self.spark else "local"

    def dataset_describer(self) -> Callable[[str, Any], Dataset] | None:
        """Return Spark's function that describes a dataset; None for the local one."""
        return self.spark.describe_dataset if self.spark else None

    def stored_data(self, location: Location) -> StoredData:
        """Return the location and the digest of an output.

        Raises DataError where it does not exist (C002), or has an unknown format (C004).
        """
        if self.spark:
            return self.spark.stored_data(str(location))
        if is_database(location):
            from policy_engine.engines.database_tables import stored_rows  # noqa: PLC0415 (slow)

            return stored_rows(location)
        with read_errors(location):
            is_there = exists(location)
        if not is_there:
            raise DataError.of("C002", f"There is no file {str(location)!r}.")
        file_format(Path(location))
        return StoredData.from_file(location)

    def catalog(
        self,
        policy: Policy,
        products: Sequence[Product],
        data: Mapping[str, Any],
        taxonomies: Mapping[str, Any] | None,
    ) -> Catalog:
        """Return the data and the taxonomies that outputs of a policy need.

        Taxonomies are also looked for beside the policy's file.
        """
        data = named_data(data, (policy,))
        transformations = [
            item.transformation for item in products if item.transformation is not None
        ]
        aggregations = [one.statistics.aggregation for one in products if one.statistics]
        folder = Path(policy.source).parent if policy.source else None
        keys = find_keys(
            tuple(one.key_table for one in aggregations if one.key_table), taxonomies or {}, folder
        )
        if not transformations:
            return replace(make_catalog(data, describe=self.dataset_describer()), keys=keys)
        names = dict.fromkeys(name for item in transformations for name in item.taxonomies)
        taxonomy_sources = find_taxonomies(tuple(names), taxonomies or {}, folder)
        matrix_names = dict.fromkeys(name for item in transformations for name in item.matrices)
        matrices = find_matrices(tuple(matrix_names), taxonomies or {}, folder)
        catalog = make_catalog(data, taxonomy_sources, self.dataset_describer())
        return replace(catalog, matrices=matrices, keys=keys)

    def engine(
        self,
        catalog: Catalog,
        progress: Progress = silent,
        key: Key = None,
        time_limit: float | None = None,
        salt: str = "",
    ) -> Engine:
        """Return an engine for one run; `salt` is that of the release's pseudonyms, if known.

        Raises DataError (C013) for a key that cannot be read or is not one.
        """
        arguments = catalog.tables, progress, catalog.taxonomies, read_key(key)
        if self.spark:
            from policy_engine.engines.spark.run import SparkRun  # noqa: PLC0415 (pyspark)

            return SparkRun(
                self.spark, *arguments, salt, matrices=catalog.matrices, group_keys=catalog.keys
            )
        from policy_engine.engines.local import LocalEngine  # noqa: PLC0415 (slow to import)

        return LocalEngine(
            *arguments,
            time_limit=time_limit,
            salt=salt,
            matrices=catalog.matrices,
            group_keys=catalog.keys,
        )


def check_limit(seconds: float | None, engine: "EngineName | SparkEngine") -> None:
    """Raise PlanError for a time limit that is not one (M003), or on another engine (M009)."""
    if seconds is None:
        return
    if not 0 < seconds < math.inf:
        message = f"A time limit is not allowed to be {seconds:g} s. Allowed is more than 0."
        raise PlanError.of("M003", message)
    if engine != "local":
        message = "The spark engine has no time limit: its parts are cut on many machines."
        raise PlanError.of("M009", message, "Leave it out, or run it on the local engine.")


@contextmanager
def launch_engine(choice: "EngineName | SparkEngine", *, keep: bool = False) -> Iterator[Launcher]:
    """Start an engine; a session that is started here is stopped at the end of the block.

    Unless `keep` is set: then results stay on its cluster. Raises PlanError (M003) for anything but
    an engine, EngineError where it cannot be started.
    """
    if choice == "local":
        yield Launcher()
        return
    if isinstance(choice, str) and choice != "spark":
        raise _unknown_engine_error(choice)
    from policy_engine.engines.spark import session  # noqa: PLC0415 (imports no pyspark)

    session.check_pyspark()
    from policy_engine.engines.spark.engine import SparkEngine  # noqa: PLC0415 (pyspark)

    engine = SparkEngine() if choice == "spark" else choice
    if not isinstance(engine, SparkEngine):
        raise _unknown_engine_error(engine)
    running_engine, is_kept = engine.started(), False
    try:
        yield Launcher(running_engine)
        is_kept = keep
    finally:
        if engine.session is None and not is_kept:
            session.stop(running_engine.spark)


def _unknown_engine_error(choice: object) -> PolicyEngineError:
    message = f"engine is not allowed to be {choice!r}. Allowed is 'local', 'spark'"
    return PlanError.of("M003", f"{message} or a SparkEngine.")
