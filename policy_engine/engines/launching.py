"""The engine that a caller chose, started, given its inputs, and let go again."""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.data.catalog import Catalog, Dataset, find_taxonomies, make_catalog
from policy_engine.data.storage import Location, exists, read_errors
from policy_engine.data.table_files import file_format, is_file, unreadable_file
from policy_engine.engines.engine import Engine, Progress, Stored, silent
from policy_engine.errors import DataError, PlanError, PolicyEngineError
from policy_engine.plan.plan import EngineName
from policy_engine.plan.products import Product
from policy_engine.policy import Policy
from policy_engine.policy.datasets import named_data

if TYPE_CHECKING:
    from policy_engine.engines.spark.engine import SparkEngine

Key = str | Path | bytes | None


@dataclass(frozen=True)
class Launcher:
    """A place where plans run: this process, or the cluster of a Spark engine that is started."""

    spark: "SparkEngine | None" = None

    @property
    def name(self) -> EngineName:
        """What plans call it."""
        return "spark" if self.spark else "local"

    def described(self) -> Callable[[str, Any], Dataset] | None:
        """Return what tells where a dataset lies and what it holds, None for the usual way."""
        return self.spark.described if self.spark else None

    def stored(self, location: Location) -> Stored:
        """Return an output as it lies.

        Raises DataError where there is none (C002), or none that the engine reads (C004).
        """
        if self.spark:
            return self.spark.stored(str(location))
        with read_errors(location):
            is_there = exists(location)
        if not is_there:
            raise DataError.of("C002", f"There is no file {str(location)!r}.")
        file_format(Path(location))
        return Stored.of_file(location)

    def catalog(
        self,
        policy: Policy,
        products: Sequence[Product],
        data: Mapping[str, Any],
        taxonomies: Mapping[str, Any] | None,
    ) -> Catalog:
        """Return the data and the taxonomies that outputs of a policy need; the latter from beside
        it too."""
        data = named_data(data, (policy,))
        made = [one.transformation for one in products if one.transformation is not None]
        if not made:
            return make_catalog(data, describe=self.described())
        names = dict.fromkeys(name for one in made for name in one.anonymization.columns.taxonomies)
        folder = Path(policy.source).parent if policy.source else None
        found = find_taxonomies(tuple(names), taxonomies or {}, folder)
        return make_catalog(data, found, self.described())

    def engine(
        self,
        catalog: Catalog,
        progress: Progress = silent,
        key: Key = None,
        time_limit: float | None = None,
        salt: str = "",
    ) -> Engine:
        """Return an engine for one run; `salt` is what its pseudonyms are its own by, if known.

        Raises DataError (C013) where a key is none.
        """
        given = catalog.tables, progress, catalog.taxonomies, key_of(key)
        if self.spark:
            from policy_engine.engines.spark.run import SparkRun  # noqa: PLC0415 (pyspark)

            return SparkRun(self.spark, *given, salt)
        from policy_engine.engines.local import LocalEngine  # noqa: PLC0415 (slow to import)

        return LocalEngine(*given, time_limit=time_limit, salt=salt)


def check_limit(seconds: float | None, engine: "EngineName | SparkEngine") -> None:
    """Raise PlanError where a time limit is none (M003), or the engine has none (M009)."""
    if seconds is None:
        return
    if not 0 < seconds < math.inf:
        message = f"A time limit is not allowed to be {seconds:g} s. Allowed is more than 0."
        raise PlanError.of("M003", message)
    if engine != "local":
        message = "The spark engine has no time limit: its parts are cut on many machines."
        raise PlanError.of("M009", message, "Leave it out, or run it on the local engine.")


@contextmanager
def launched(choice: "EngineName | SparkEngine", *, keep: bool = False) -> Iterator[Launcher]:
    """Start what was chosen; a session that was started here ends with the block.

    Unless `keep` says that what is made stays on its cluster. Raises PlanError (M003) for what
    is not an engine, EngineError where it cannot be started.
    """
    if choice == "local":
        yield Launcher()
        return
    if isinstance(choice, str) and choice != "spark":
        raise _no_engine(choice)
    from policy_engine.engines.spark import session  # noqa: PLC0415 (imports no pyspark)

    session.check_pyspark()
    from policy_engine.engines.spark.engine import SparkEngine  # noqa: PLC0415 (pyspark)

    chosen = SparkEngine() if choice == "spark" else choice
    if not isinstance(chosen, SparkEngine):
        raise _no_engine(chosen)
    started, is_kept = chosen.started(), False
    try:
        yield Launcher(started)
        is_kept = keep
    finally:
        if chosen.session is None and not is_kept:
            session.stop(started.spark)


def _no_engine(choice: object) -> PolicyEngineError:
    message = f"engine is not allowed to be {choice!r}. Allowed is 'local', 'spark'"
    return PlanError.of("M003", f"{message} or a SparkEngine.")


def key_of(given: Key) -> bytes | None:
    """Return the key that is given, or that the environment holds, without blanks around it."""
    if given is None:
        given = os.environ.get("POLICY_ENGINE_KEY", "").encode() or None
    elif isinstance(given, str | Path):
        path = Path(given)
        if not is_file(path):
            raise DataError.of("C013", f"There is no key file {str(path)!r}.")
        try:
            given = path.read_bytes()
        except OSError as error:
            raise unreadable_file(path, error) from None
    elif not isinstance(given, bytes):
        message = (
            f"A {type(given).__name__} is not a key. Allowed are bytes, or the path of a file."
        )
        raise DataError.of("C013", message)
    return given.strip() if given else None
