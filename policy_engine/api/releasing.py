"""Outputs made, proved and published: each by itself, all of them or none."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from policy_engine.api.acting import MakingRequest
from policy_engine.api.arguments import checked
from policy_engine.api.binding import Planned, made_by, planned
from policy_engine.api.inputs import Inputs
from policy_engine.certificate.certificate import (
    Certificate,
    Certified,
    certify,
    check,
    proven,
    read_certificate,
)
from policy_engine.certificate.page import certificate_html
from policy_engine.certificate.publication import (
    Publication,
    TablePublication,
    check_alone,
    check_apart,
    destination_of,
    destinations_of,
    publication,
)
from policy_engine.certificate.record import Record, named
from policy_engine.certificate.recording import RecordFile
from policy_engine.data import storage
from policy_engine.data.catalog import parse_location
from policy_engine.data.storage import Place
from policy_engine.engines.engine import Engine, Progress, Written, silent
from policy_engine.engines.launching import Key, Launcher, check_limit, launched
from policy_engine.errors import CertificateError, DataError, PlanError
from policy_engine.plan.lineage import MadeBy
from policy_engine.plan.plan import Plan
from policy_engine.plan.products import Product
from policy_engine.plan.steps import CellStyle
from policy_engine.release.ledger import Ledger
from policy_engine.release.release import Release, run_plan
from policy_engine.release.staging import check_publication
from policy_engine.terms import local_name

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class VerifiedRelease:
    """A release whose bounds were measured on the output and hold.

    The `certificate` is for everybody, the `record` for the owner alone: it opens what the
    certificate commits to, and is lost with this value unless it is written (`record=FILE`).
    `path` is where the release was written, None where it is in memory alone.
    """

    release: Release
    certificate: Certificate
    record: Record = field(repr=False)
    path: Path | str | None
    _engine: Engine = field(repr=False)
    _written: Written = field(repr=False)

    def __repr__(self) -> str:
        made = f"{self.plan.publish.asset}, {self.certificate.rows_out:,} rows"
        where = "" if self.path is None else f", {str(self.path)!r}"
        return f"<VerifiedRelease {made}: {proven(self.certificate) or 'no bounds'}{where}>"

    def _repr_html_(self) -> str:
        return certificate_html(self.certificate)

    @property
    def table(self) -> Any:
        """The output: its cells as text, the columns that were kept by their types.

        A pyarrow table; of a Spark engine its frame, as long as its session lasts.
        """
        self._check_table()
        return self._output

    @cached_property
    def _output(self) -> Any:
        return self._engine.output(self._written)

    @property
    def plan(self) -> Plan:
        """What was done."""
        return self.release.plan

    def to_pandas(self) -> "pd.DataFrame":
        """Return the output as a pandas frame. Raises DataError (C011) without pandas."""
        _need("pandas")
        frame: pd.DataFrame = self._arrow().to_pandas()
        return frame

    def to_polars(self) -> "pl.DataFrame":
        """Return the output as a polars frame. Raises DataError (C011) without polars."""
        _need("polars")
        import polars as pl  # noqa: PLC0415 (only where it is asked for)

        frame = pl.from_arrow(self._arrow())
        assert isinstance(frame, pl.DataFrame)  # noqa: S101 (a table, never a series)
        return frame

    def _check_table(self) -> None:
        """Refuse a model: the table that it learnt from is held, and is not released."""
        if self.plan.train:
            raise DataError.of("C010", "A model was released, and a model is not a table.")

    def _arrow(self) -> "pa.Table":
        table = self.table
        return table.toArrow() if self.plan.engine == "spark" else table

    @checked
    def write(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        wait: bool = False,
        record: str | Path | None = None,
    ) -> "VerifiedRelease":
        """Write the output and its certificate, measured again on what was written.

        Returns the release as it now lies, with a record of its own, which goes into the file
        `record`. While another run makes a release in the same folder, it is waited for with
        `wait`. Raises OutputError where a path is taken or not writable, DataError (C010) for a
        model; nothing is visible then.
        """
        self._check_table()
        file = destination_of(path, self.plan)
        kept = _record_file(record, file, path, overwrite=overwrite)
        session = self._engine.session
        places = {self.plan.publish.asset: file}
        with publication(places, session, overwrite=overwrite, wait=wait) as place:
            written = self._engine.write_again(self._written, place.staged)
            release = self.release.model_copy(update={"output": written.stored})
            again = _proved(release, written, self._engine, kept, file, place)
            _publish([again], place)
            return again.verified()


@dataclass(frozen=True)
class ReleaseOptions:
    """How outputs are made, and what is kept of that: see `apply_policy`."""

    overwrite: bool = False
    wait: bool = False
    progress: Progress = silent
    key: Key = None
    report: str | Path | None = None
    seed: int | None = None
    record: str | Path | None = None
    attempts: str | Path | None = None
    allow_pickle: bool = False
    time_limit: float | None = None
    cells: CellStyle = "text"

    def of(self, plan: Plan, file: Place | None) -> "ReleaseOptions":
        """Return the same for one of several outputs: what is kept of it has its name.

        Its seed is its own, too: models of one seed would learn from the same records.
        """
        asset = plan.publish.asset
        name = local_name(asset) if file is None else storage.name(file)
        record = None if self.record is None else Path(self.record)
        return replace(
            self,
            report=None if self.report is None else Path(self.report) / name,
            record=record.with_name(f"{name}.{record.name}") if record and record.name else record,
            seed=None if self.seed is None else _seed_of(self.seed, asset),
        )


def _seed_of(seed: int, asset: str) -> int:
    digest = hashlib.sha256(f"{seed}\n{asset}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def released(
    found: MakingRequest,
    products: Sequence[Product],
    inputs: Inputs,
    output: str | Path | None,
    how: ReleaseOptions,
) -> tuple[VerifiedRelease, ...]:
    """Return outputs of a policy, made of what is given once that is permitted to whoever acts.

    Raises as `applied` does, and PlanError (M003) for cells that are none.
    """
    if how.cells not in get_args(CellStyle):
        message = f"cells is not allowed to be {how.cells!r}. Allowed is 'text' or 'bounds'."
        raise PlanError.of("M003", message)
    check_limit(how.time_limit, inputs.engine)
    with launched(inputs.engine, keep=output is None) as launcher:
        makers = made_by(found, products, launcher, inputs)
        bound = planned(found.policy, products, launcher, inputs, how.cells)
        told = [replace(one, plan=found.with_consents(one.plan)) for one in bound]
        return applied(told, makers, launcher, output, how)


def applied(
    planned: Sequence[Planned],
    makers: Sequence[MadeBy],
    launcher: Launcher,
    output: str | Path | None,
    how: ReleaseOptions,
) -> tuple[VerifiedRelease, ...]:
    """Return the outputs of plans, each made, measured and written, by its maker.

    All are verified before one of them is published or returned, and all are published in one
    step. What is kept of each of several has its name (`ReleaseOptions.of`). Raises a
    PolicyEngineError of the stage that found a problem; then nothing is written but, where an
    attack reached more than is allowed, the report and a certificate that says so.
    """
    for one in planned:
        _check_bounded(one.plan, how.time_limit)
    engines = [
        launcher.engine(one.catalog, how.progress, how.key, how.time_limit) for one in planned
    ]
    kept: list[Written | None] = [None for _ in engines]
    try:
        files = (
            [None for _ in planned]
            if output is None
            else destinations_of([one.plan for one in planned], output)
        )
        hows = [how]
        if len(planned) > 1:
            hows = [how.of(one.plan, f) for one, f in zip(planned, files, strict=True)]
        jobs = [*map(_Job, planned, makers, engines, hows, files)]
        if output is not None:
            return _verified(_written(jobs, output, how))
        proved = _in_memory(jobs)
        kept = [one.written for one in proved]
        return _verified(proved)
    finally:
        for engine, keep in zip(engines, kept, strict=True):
            engine.close(keep)


@dataclass(frozen=True)
class _Job:
    """One output to be made: by which plan, of what, and where it goes."""

    planned: Planned
    made_by: MadeBy
    engine: Engine
    how: ReleaseOptions
    file: Place | None

    @property
    def history(self) -> Ledger | None:
        """Where attempts are kept, None where nothing is attacked."""
        return Ledger(self.how.attempts) if self.planned.plan.audits else None

    def check(self, output: str | Path) -> RecordFile | None:
        """Return the place for a record, where one is asked for.

        Raises OutputError where the output, or what is kept of it, is not to be written there.
        """
        file = self.file
        assert file is not None  # noqa: S101 (an output in memory is written nowhere)
        check_apart(file, self.planned.catalog)
        if self.planned.plan.train:
            check_alone(file, self.how.report)
        if self.history is not None:
            self.history.check_apart(file, parse_location(output))
        return _record_file(self.how.record, file, output, overwrite=self.how.overwrite)

    def made(self, staged: Place | None = None) -> tuple[Release, Written]:
        """Return the release as it was made, with all that its audits found written, and the
        table that is measured of it."""
        release, written = run_plan(
            self.planned.plan,
            self.engine,
            staged,
            seed=self.how.seed,
            progress=self.how.progress,
            history=self.history,
            repeats=self.how.report is not None,
            allow_pickle=self.how.allow_pickle,
            upstream=self.planned.upstream,
        )
        release = release.model_copy(update={"made_by": self.made_by})
        _write_reports(release, self.how.report)
        return release, written


@dataclass(frozen=True)
class _Proved:
    """A release whose bounds hold, not yet published, and where its record goes."""

    release: Release
    written: Written
    engine: Engine
    found: Certified
    kept: RecordFile | None
    file: Place | None

    def verified(self) -> VerifiedRelease:
        """Return the release as it is handed out."""
        found, file = self.found, self.file
        written = self.written if file is None else self.written.at(file)
        return VerifiedRelease(
            self.release, found.certificate, found.known, file, self.engine, written
        )


def _verified(proved: Sequence[_Proved]) -> tuple[VerifiedRelease, ...]:
    return tuple(one.verified() for one in proved)


def _written(jobs: Sequence[_Job], output: str | Path, how: ReleaseOptions) -> Sequence[_Proved]:
    """Return outputs that were published, all of them in one step."""
    records = [job.check(output) for job in jobs]
    places = {job.planned.plan.publish.asset: job.file for job in jobs if job.file is not None}
    session, proved = jobs[0].engine.session, []
    with publication(
        places, session, overwrite=how.overwrite, wait=how.wait, progress=how.progress
    ) as place:
        for job, kept, file in zip(jobs, records, places.values(), strict=True):
            made = job.made(place.stage_of(file))
            proved.append(_proved(*made, job.engine, kept, file, place))
        _publish(proved, place)
        return proved


def _in_memory(jobs: Sequence[_Job]) -> Sequence[_Proved]:
    """Return outputs that are written nowhere, but for their records."""
    records = [_record_file(job.how.record) for job in jobs]
    proved = []
    for job, kept in zip(jobs, records, strict=True):
        release, written = job.made()
        found = certify(release, job.engine, written=written)
        check(found)
        proved.append(_Proved(release, written, job.engine, found, kept, None))
    with _recorded(proved, lambda _: False):
        return proved


def _proved(
    release: Release,
    written: Written,
    engine: Engine,
    kept: RecordFile | None,
    file: Place,
    place: Publication | TablePublication,
) -> _Proved:
    """Return a release as it lies in its stage, measured there. Raises as `check` does."""
    place.hide(file)
    found = certify(release, engine, named(file), written)
    try:
        check(found)
    except CertificateError as error:
        if {problem.code for problem in error.problems} <= {"V007", "V011"}:
            place.refuse(found.certificate.refused())
        raise
    return _Proved(release, written, engine, found, kept, file)


def _publish(proved: Sequence[_Proved], place: Publication | TablePublication) -> None:
    with _recorded(proved, lambda one: _is_published(one, place)):
        place.publish(*(one.found.certificate for one in proved))


@contextmanager
def _recorded(proved: Sequence[_Proved], is_there: Callable[[_Proved], bool]) -> Iterator[None]:
    """Keep the records of releases that are published inside; they go where that fails."""
    with ExitStack() as stack:
        for one in proved:
            if one.kept:
                stack.enter_context(one.kept.kept(one.found.known, partial(is_there, one)))
        yield


def _is_published(one: _Proved, place: Publication | TablePublication) -> bool:
    """Tell whether a certificate lies where it was published; where that is unknown, that it
    does, for its record is not to be lost."""
    if isinstance(place, TablePublication) or one.file is None:
        return True
    try:
        check_publication(place.folder)
    except (OSError, CertificateError):
        return True  # the next run may finish it
    try:
        lying = read_certificate(storage.read_bytes(place.certificate_of(one.file)))
    except (FileNotFoundError, CertificateError):
        return False
    except OSError:
        return True
    return lying == one.found.certificate


def _need(package: str) -> None:
    if find_spec(package) is None:
        hint = f"pip install 'policy-engine[{package}]'."
        raise DataError.of("C011", f"{package} is not installed.", hint)


def _record_file(
    record: str | Path | None,
    output: Place | None = None,
    given: str | Path = "",
    *,
    overwrite: bool = False,
) -> RecordFile | None:
    """Return the place for a record, where one is asked for."""
    if record is None:
        return None
    return RecordFile(record, output, parse_location(given), overwrite=overwrite)


def _write_reports(release: Release, folder: str | Path | None) -> None:
    """Write all that the audits of a plan found, one page each."""
    if folder is None or not release.reports:
        return
    from policy_engine.api.auditing import write_audit  # noqa: PLC0415 (slow to import)

    for number, found in enumerate(release.reports, start=1):
        place = Path(folder) if number == 1 else Path(folder) / str(number)
        write_audit(found.model_copy(update={"made_by": release.made_by}), place)


def _check_bounded(plan: Plan, time_limit: float | None) -> None:
    """Refuse a time limit (M003) where tables are made for a model: they have to be made alike."""
    if time_limit is not None and (plan.train or plan.audits):
        message = "A time limit bounds the search of a release, and the policy has models attacked."
        raise PlanError.of("M003", message, "Leave it out.")
