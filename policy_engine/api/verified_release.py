"""A measured release, and its publication together with its record."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.api.arguments import check_arguments
from policy_engine.api.withdrawing import allot_status
from policy_engine.certificate.certificate import Certificate, read_certificate
from policy_engine.certificate.certifying import CertifiedRelease, certify, check_bounds
from policy_engine.certificate.page import certificate_html
from policy_engine.certificate.publication import (
    AnyPublication,
    DatabasePublication,
    TablePublication,
    plan_destination,
    publication,
)
from policy_engine.certificate.record import Record, absolute_name
from policy_engine.certificate.recording import RecordFile
from policy_engine.certificate.shortcomings import proven
from policy_engine.data import storage
from policy_engine.data.bucket_tables import SENSITIVE, TABLES
from policy_engine.data.catalog import parse_location
from policy_engine.data.storage import Location
from policy_engine.engines.engine import AnonymizedTable, Engine, WrittenTable
from policy_engine.engines.tables import infer_types
from policy_engine.errors import CertificateError, DataError
from policy_engine.plan.plan import Plan
from policy_engine.release.budget.receipts import Receipt
from policy_engine.release.composition.figures import Composition
from policy_engine.release.release import Release
from policy_engine.release.staging import check_publication
from policy_engine.terms import local_name
from policy_engine.trust.proofs import Signer
from policy_engine.trust.signers import KeySource, read_signer

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class VerifiedRelease:
    """A release whose bounds were measured on the output and hold.

    The `certificate` is for everybody, the `record` for the owner alone: it opens the certificate's
    commitment, and is lost with this value unless it is written (`record=FILE`). `path` is where
    the release was written, None if it is only in memory. `receipt` is what was charged for
    statistics.
    """

    release: Release
    certificate: Certificate
    record: Record = field(repr=False)
    path: Path | str | None
    _engine: Engine = field(repr=False)
    _written: WrittenTable = field(repr=False)
    receipt: Receipt | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        output = f"{self.plan.publish.asset}, {self.certificate.rows_out:,} rows"
        where = "" if self.path is None else f", {str(self.path)!r}"
        return f"<VerifiedRelease {output}: {proven(self.certificate) or 'no bounds'}{where}>"

    def _repr_html_(self) -> str:
        return certificate_html(self.certificate)

    @property
    def table(self) -> Any:
        """The output: generalised cells as text, kept columns with their types.

        A pyarrow table; for a Spark engine its frame, as long as the session lasts.
        """
        self._check_table()
        return self._output

    @property
    def tables(self) -> Mapping[str, Any]:
        """The tables of the output by their names.

        A release by buckets has two, "quasi-identifiers" and "sensitive", joined by "bucket" alone;
        `table` is the first of them. Any other has one, called as the output's IRI ends.
        """
        self._check_table()
        if self._made.sensitive is None:
            return {local_name(self.plan.publish.asset): self.table}
        return dict(zip(TABLES, (self.table, self._sensitive), strict=True))

    @property
    def _made(self) -> AnonymizedTable:
        assert self._written.anonymized is not None  # noqa: S101 (this run made it)
        return self._written.anonymized

    @cached_property
    def _sensitive(self) -> Any:
        in_memory = self._written.tables
        return in_memory[SENSITIVE] if in_memory else infer_types(self._made.sensitive)

    @cached_property
    def _output(self) -> Any:
        return self._engine.output(self._written)

    @property
    def plan(self) -> Plan:
        """The plan that was carried out."""
        return self.release.plan

    def to_pandas(self) -> "pd.DataFrame":
        """Return the output as a pandas frame. Raises DataError (C011) without pandas."""
        require_package("pandas")
        frame: pd.DataFrame = self._arrow().to_pandas()
        return frame

    def to_polars(self) -> "pl.DataFrame":
        """Return the output as a polars frame. Raises DataError (C011) without polars."""
        require_package("polars")
        import polars as pl  # noqa: PLC0415 (only if needed)

        frame = pl.from_arrow(self._arrow())
        assert isinstance(frame, pl.DataFrame)  # noqa: S101 (a table, never a series)
        return frame

    def _check_table(self) -> None:
        """Refuse a model: its training table is in memory, but is not released."""
        if self.plan.releases_model:
            raise DataError.of("C010", "The release is a model, not a table.")

    def _arrow(self) -> "pa.Table":
        table = self.table
        return table.toArrow() if self.plan.engine == "spark" else table

    @check_arguments
    def write(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        wait: bool = False,
        record: str | Path | None = None,
        sign: KeySource | None = None,
    ) -> "VerifiedRelease":
        """Write the output and its certificate, measured again on what was written.

        Returns the release as written, with a new record, which is also written to the file
        `record`. The certificate is signed with the private key `sign`, if that is given, and not
        by whoever signed that of the release in memory. With `wait`, another run that makes a
        release in the same folder is waited for. Raises OutputError if a path is taken or not
        writable, DataError (C010) for a model; nothing is visible then.
        """
        self._check_table()
        signer = None if sign is None else read_signer(sign)
        file = plan_destination(path, self.plan)
        record_output = record_file(record, file, path, overwrite=overwrite)
        session = self._engine.session
        locations = {self.plan.publish.asset: file}
        with publication(locations, session, overwrite=overwrite, wait=wait) as pending:
            written = self._engine.write_again(self._written, pending.staged)
            release = self.release.model_copy(update={"output": written.stored})
            composition = self.record.composition
            announce = None if composition is None else partial(_composed, composition)
            made = prove(release, written, self._engine, record_output, file, pending, announce)
            release_proven = made.signed(signer)
            publish([release_proven], pending)
            return replace(release_proven.to_verified(), receipt=self.receipt)


@dataclass(frozen=True)
class ProvenRelease:
    """A release whose bounds hold, not yet published, and the file for its record."""

    release: Release
    written: WrittenTable
    engine: Engine
    certified: CertifiedRelease
    record_file: RecordFile | None
    file: Location | None

    def signed(
        self,
        signer: Signer | None,
        evidence: Sequence[Mapping[str, str]] = (),
        status_list: str | Path | None = None,
    ) -> "ProvenRelease":
        """Return the release with its certificate signed, if anybody signs, who relied on evidence,
        and with an entry in a status list, if there is one.

        Raises TrustError (Y004) for a certificate that cannot be signed, and as `allot_status`.
        """
        if signer is None:
            return self
        status = None if status_list is None else allot_status(status_list, signer, 1)[0]
        certificate = self.certified.certificate.signed(signer, evidence=evidence, status=status)
        return replace(self, certified=replace(self.certified, certificate=certificate))

    def to_verified(self) -> VerifiedRelease:
        """Return the release for the caller."""
        certified, file = self.certified, self.file
        written = self.written if file is None else self.written.with_location(file)
        return VerifiedRelease(
            self.release, certified.certificate, certified.known_record, file, self.engine, written
        )


def prove(
    release: Release,
    written: WrittenTable,
    engine: Engine,
    record_file: RecordFile | None,
    file: Location,
    publication: AnyPublication,
    announce: Callable[[CertifiedRelease], CertifiedRelease] | None = None,
) -> ProvenRelease:
    """Return a staged release, measured there. Raises as `check_bounds` does.

    Once every other bound holds, `announce` records it, and adds what is found of it together with
    earlier releases.
    """
    publication.hide(file)
    certified = certify(release, engine, absolute_name(file), written)
    try:
        check_bounds(certified if announce is None else certified.awaiting_composition())
    except CertificateError as error:
        if {problem.code for problem in error.problems} <= {"V007", "V011"}:
            publication.refuse(certified.certificate.as_refusal())
        raise
    certified = certified if announce is None else announce(certified)
    return ProvenRelease(release, written, engine, certified, record_file, file)


def _composed(composition: Composition, certified: CertifiedRelease) -> CertifiedRelease:
    return certified.with_composition(composition)


def publish(proved: Sequence[ProvenRelease], publication: AnyPublication) -> None:
    """Publish releases together with their records: all of them or none."""
    with keep_records(proved, lambda one: is_published(one, publication)):
        publication.publish(*(one.certified.certificate for one in proved))


@contextmanager
def keep_records(
    proved: Sequence[ProvenRelease], is_there: Callable[[ProvenRelease], bool]
) -> Iterator[None]:
    """Keep the records of releases published inside; remove them if that fails."""
    with ExitStack() as stack:
        for one in proved:
            if one.record_file:
                stack.enter_context(
                    one.record_file.writing(one.certified.known_record, partial(is_there, one))
                )
        yield


def is_published(one: ProvenRelease, publication: AnyPublication) -> bool:
    """Return whether a certificate is where it was published.

    If that is unknown, True: the record must not be lost.
    """
    if isinstance(publication, DatabasePublication):
        return publication.is_published
    if isinstance(publication, TablePublication) or one.file is None:
        return True
    try:
        check_publication(publication.folder)
    except (OSError, CertificateError):
        return True  # the next run may finish publishing it
    try:
        published = read_certificate(storage.read_bytes(publication.certificate_location(one.file)))
    except (FileNotFoundError, CertificateError):
        return False
    except OSError:
        return True
    return published == one.certified.certificate


def require_package(package: str) -> None:
    """Raise DataError (C011) if a package is not installed."""
    if find_spec(package) is None:
        hint = f"pip install 'policy-engine[{package}]'."
        raise DataError.of("C011", f"{package} is not installed.", hint)


def record_file(
    record: str | Path | None,
    output: Location | None = None,
    output_folder: str | Path = "",
    *,
    overwrite: bool = False,
) -> RecordFile | None:
    """Return the file for a record, if one is requested."""
    if record is None:
        return None
    return RecordFile(record, output, parse_location(output_folder), overwrite=overwrite)
