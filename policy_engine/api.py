"""The five verbs, from the text of a policy to an answer."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, get_args

from policy_engine.catalog import (
    Catalog,
    find_taxonomies,
    is_file,
    is_folder,
    make_catalog,
    missing_columns,
    unreadable,
)
from policy_engine.certificate import (
    FILE_NAME,
    Certificate,
    certify,
    check,
    check_digest,
    load_certificate,
    read_certificate,
)
from policy_engine.decision import Decision, Request, decide, read_request
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import CertificateError, DataError, OutputError, PlanError
from policy_engine.plan import CellStyle, Plan, make_plan
from policy_engine.policy import Hierarchy, Policy, Source, load_policy, read_file
from policy_engine.publication import Publication, destination
from policy_engine.release import Release, existing_release, run_plan
from policy_engine.transformation import check_transformation, transformation, transforms

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from policy_engine.comparison import Comparison
    from policy_engine.engines.local import LocalEngine
    from policy_engine.exploration import Run
    from policy_engine.suggestion import Suggestion


@dataclass(frozen=True)
class VerifiedRelease:
    """A release whose bounds were measured on the output and hold.

    `path` is where it was written, None where it is in memory alone.
    """

    release: Release
    certificate: Certificate
    path: Path | None
    _engine: "LocalEngine" = field(repr=False)

    @property
    def table(self) -> "pa.Table":
        """The output: its cells as text, the columns that were kept by their types."""
        return self._engine.output()

    @property
    def plan(self) -> Plan:
        """What was done."""
        return self.release.plan

    def to_pandas(self) -> "pd.DataFrame":
        """Return the output as a pandas frame. Raises DataError (C011) without pandas."""
        _need("pandas")
        frame: pd.DataFrame = self.table.to_pandas()
        return frame

    def to_polars(self) -> "pl.DataFrame":
        """Return the output as a polars frame. Raises DataError (C011) without polars."""
        _need("polars")
        import polars as pl  # noqa: PLC0415 (only where it is asked for)

        frame = pl.from_arrow(self.table)
        assert isinstance(frame, pl.DataFrame)  # noqa: S101 (a table, never a series)
        return frame

    def write(self, path: str | Path, *, overwrite: bool = False) -> "VerifiedRelease":
        """Write the output and its certificate, measured again on what was written.

        Returns the release as it now lies. Raises OutputError where the path is taken or not
        writable; nothing is visible then.
        """
        file = destination(Path(path), self.plan.publish.asset, self.plan.read.format)
        with Publication(file, overwrite=overwrite) as place:
            stored = self._engine.write(self._engine.written, place.staged)
            written = self.release.model_copy(update={"output": stored})
            return _published(written, self._engine, place)


def check_policy(source: Source, contexts: Mapping[str, Any] | None = None) -> Policy:
    """Return a policy that can be read and, where it asks for a transformation, planned."""
    policy = load_policy(source, contexts)
    check_transformation(policy)
    return policy


def apply_policy(
    policy: Source,
    data: Mapping[str, Any],
    output: str | Path | None = None,
    *,
    overwrite: bool = False,
    progress: Progress = silent,
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    key: str | Path | bytes | None = None,
    cells: CellStyle = "text",
) -> VerifiedRelease:
    """Anonymise data as a policy asks, prove it on the output, and release it.

    `data` maps dataset IRIs to paths or tables, `taxonomies` the names that the policy has for
    them to paths or `Taxonomy` values; those that lie beside the policy are found by
    themselves. `key` makes pseudonyms: bytes, or the path of a file that holds them. With an
    `output`, a file or a folder, the release is written there beside its certificate; else it
    stays in memory. Raises a PolicyEngineError of the stage that found a problem; then nothing
    is written.
    """
    read = load_policy(policy, contexts)
    if cells not in get_args(CellStyle):
        message = f"cells is not allowed to be {cells!r}. Allowed is 'text' or 'bounds'."
        raise PlanError.of("M003", message)
    catalog = _catalog(read, data, taxonomies)
    plan = make_plan(read, catalog, cells=cells)
    engine = _engine(catalog, progress, key)
    if output is None:
        return _verified(run_plan(plan, engine), engine, None)
    file = destination(Path(output), plan.publish.asset, plan.read.format)
    _check_apart(file, catalog)
    with Publication(file, overwrite=overwrite) as place:
        return _published(run_plan(plan, engine, place.staged), engine, place)


def plan_policy(
    policy: Source,
    data: Mapping[str, Any] | None = None,
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
) -> Plan:
    """Return what would be done; bound to data where there is any."""
    read = load_policy(policy, contexts)
    return make_plan(read, _catalog(read, data, taxonomies) if data else None)


def certify_output(
    output: str | Path,
    policy: Source,
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
    key: str | Path | bytes | None = None,
) -> Certificate:
    """Measure an existing output against a policy, however it was made.

    Where a certificate lies beside the output and speaks of it, its digest is compared too.
    Where the policy has a unit of privacy, the output alone does not tell persons apart: with
    `data`, and the `key` where there are pseudonyms, the release is made again and must be the
    same, byte by byte. Raises CertificateError where the output does not hold what the policy asks.
    """
    path, read = Path(output), load_policy(policy, contexts)
    catalog = _catalog(read, data or {}, taxonomies)
    if is_folder(path):
        path = _only_output(path)
    plan = make_plan(read, catalog if data else None)
    release = existing_release(plan, path)
    if plan.anonymize.columns.privacy_unit and data:
        plan = make_plan(read, catalog, cells=_cells_of(path, plan))
        certificate = _made_again(plan, path, _engine(catalog, silent, key))
    else:
        certificate = certify(release, _engine(catalog, silent))
    check(certificate, str(path))
    check_digest(certificate, release.output)
    earlier = _beside(path)
    if earlier:
        check_digest(earlier, release.output)
    return certificate


def _cells_of(path: Path, plan: Plan) -> CellStyle:
    """Return how the ranges of an output are written."""
    [output] = make_catalog({"": path}).datasets
    return "text" if set(plan.publish.columns) <= set(output.columns) else "bounds"


def _made_again(plan: Plan, path: Path, engine: "LocalEngine") -> Certificate:
    """Return the certificate of the release that a plan makes in the format of a file."""
    with TemporaryDirectory() as folder:
        return certify(run_plan(plan, engine, Path(folder) / path.name), engine)


def _catalog(
    policy: Policy, data: Mapping[str, Any], taxonomies: Mapping[str, Any] | None
) -> Catalog:
    """Return the data and the taxonomies that a policy needs; the latter from beside it, too."""
    if not transforms(policy):
        return make_catalog(data)
    _, asked = transformation(policy)
    folder = Path(policy.source).parent if policy.source else None
    return make_catalog(data, find_taxonomies(asked.columns.taxonomies, taxonomies or {}, folder))


def compare_release(
    original: str | Path,
    release: str | Path,
    *,
    policy: Source | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    key: str | Path | bytes | None = None,
    target: str = "",
    queries: int = 1_000,
    seed: int = 0,
    progress: Progress = silent,
) -> "Comparison":
    """Return what a release lost against its original, and what it is still good for.

    The columns and their roles are those of the certificate beside the release, else those of
    the policy. `target` is the column that a classifier is to foretell, by default the first
    sensitive one that it can. Raises DataError where a table cannot be read, CertificateError
    where the release was not made from this original.
    """
    from policy_engine.comparison import Settings, Task, compare  # noqa: PLC0415 (slow to import)

    path = Path(release)
    path = _only_output(path) if is_folder(path) else path
    certificate = _beside(path)
    if policy is None and certificate is None:
        message = f"No certificate lies beside {str(path)!r}, and no policy is given."
        raise DataError.of("C002", message, "Give --policy POLICY.")
    read = load_policy(policy) if policy is not None else None
    plan = make_plan(read) if read is not None else certificate.plan  # type: ignore[union-attr]
    asked = plan.anonymize
    folder = Path(read.source).parent if read is not None and read.source else path.parent
    found = find_taxonomies(asked.columns.taxonomies, taxonomies or {}, folder)
    engine = _engine(Catalog(taxonomies=found), silent, key)
    task = Task(lambda part: engine.anonymize(part, asked, plan.publish), target=target)
    settings = Settings(queries=queries, task=task, seed=seed)
    return compare(
        Path(original),
        path,
        asked,
        found,
        certificate=certificate,
        settings=settings,
        progress=progress,
    )


def explore_policy(
    policy: Source,
    data: Mapping[str, Any],
    choices: Mapping[str, Sequence[float]],
    *,
    taxonomies: Mapping[str, Any] | None = None,
    key: str | Path | bytes | None = None,
    progress: Progress = silent,
) -> "tuple[Run, ...]":
    """Return what a policy's release would be at every combination of `choices`.

    `choices` holds values by parameter, as in {"k": (2, 5, 10), "l": (2, 3)}. Nothing is
    written. Raises PlanError where no model of the policy has a parameter.
    """
    from policy_engine.exploration import explore, settings_of  # noqa: PLC0415 (slow to import)

    read = load_policy(policy)
    catalog = _catalog(read, data, taxonomies)
    engine = _engine(catalog, progress, key)
    return explore(make_plan(read, catalog), engine, settings_of(choices), progress)


def decide_request(
    policies: Sequence[Source],
    certificates: Sequence[str | Path | Certificate],
    request: Request,
    hierarchy: Hierarchy | None = None,
    contexts: Mapping[str, Any] | None = None,
) -> Decision:
    """Decide a request under policies and certificates, each read already or in a file."""
    read = [load_policy(source, contexts) for source in policies]
    held = [c if isinstance(c, Certificate) else load_certificate(Path(c)) for c in certificates]
    return decide(read, held, request, hierarchy)


def suggest_hierarchy(
    table: str | Path | Any, column: str, kind: str | None = None
) -> "Suggestion":
    """Return a proposal for a generalisation hierarchy of a column, to be edited by a person.

    `kind` forces quantiles, prefix, calendar or frequency; without it, the values decide.
    Raises DataError where there is no such column, or its values do not bear the kind.
    """
    from policy_engine.engines.tables import counted  # noqa: PLC0415 (slow to import)
    from policy_engine.suggestion import suggest  # noqa: PLC0415

    catalog = make_catalog({"the table": table})
    [dataset] = catalog.datasets
    problems = list(missing_columns((column,), dataset))
    if problems:
        raise DataError(*problems, source=dataset.location)
    return suggest(counted(catalog.tables.get(dataset.iri, dataset.location), column), column, kind)


def _check_apart(output: Path, catalog: Catalog) -> None:
    """Refuse to write an output over one of its inputs, even where it may be overwritten."""
    for dataset in catalog.datasets:
        source = Path(dataset.location)
        if source.exists() and output.exists() and source.samefile(output):
            message = f"The output {str(output)!r} is the input itself."
            raise OutputError.of("O001", message, "Give another path.")


def _need(package: str) -> None:
    if find_spec(package) is None:
        hint = f"pip install 'policy-engine[{package}]'."
        raise DataError.of("C011", f"{package} is not installed.", hint)


def _engine(
    catalog: Catalog, progress: Progress, key: str | Path | bytes | None = None
) -> "LocalEngine":
    from policy_engine.engines.local import LocalEngine  # noqa: PLC0415 (slow to import)

    return LocalEngine(catalog.tables, progress, catalog.taxonomies, _key(key))


def _key(given: str | Path | bytes | None) -> bytes | None:
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
            raise unreadable(path, error) from None
    elif not isinstance(given, bytes):
        message = f"A {type(given).__name__} is no key. Allowed are bytes, or the path of a file."
        raise DataError.of("C013", message)
    return given.strip() if given else None


def _verified(release: Release, engine: "LocalEngine", path: Path | None) -> VerifiedRelease:
    certificate = certify(release, engine)
    check(certificate)
    return VerifiedRelease(release, certificate, path, engine)


def _published(release: Release, engine: "LocalEngine", place: Publication) -> VerifiedRelease:
    verified = _verified(release, engine, place.file)
    place.publish(verified.certificate)
    return verified


def _beside(output: Path) -> Certificate | None:
    """Return the certificate that lies beside an output and speaks of it, if there is one."""
    file = output.parent / FILE_NAME
    try:
        found = read_certificate(read_file(file)) if is_file(file) else None
    except CertificateError:
        return None
    return found if found and found.file == output.name else None


def _only_output(folder: Path) -> Path:
    certificate = load_certificate(folder)
    return folder / certificate.file


__all__ = [
    "Source",
    "VerifiedRelease",
    "apply_policy",
    "certify_output",
    "check_policy",
    "compare_release",
    "decide_request",
    "explore_policy",
    "load_policy",
    "plan_policy",
    "read_request",
    "suggest_hierarchy",
]
