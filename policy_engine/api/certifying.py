"""An output that exists, measured against a policy."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack

from policy_engine.api.binding import (
    add_learnt_taxonomies,
    permitted_makers,
    published_certificate,
)
from policy_engine.api.inputs import InputOptions, Inputs
from policy_engine.api.outputs import open_record, output_product, published_output
from policy_engine.certificate.beside import single_output
from policy_engine.certificate.certificate import Certificate, check_digest
from policy_engine.certificate.certifying import CertifiedRelease, certify, check_bounds
from policy_engine.certificate.publication import (
    renew,
)
from policy_engine.certificate.record import Record, load_record
from policy_engine.certificate.renewal import check_making, is_renewable, with_change
from policy_engine.data import storage
from policy_engine.data.catalog import (
    TABLE,
    make_catalog,
    parse_location,
)
from policy_engine.data.storage import Location
from policy_engine.engines.carried import check_file_extras
from policy_engine.engines.engine import Engine
from policy_engine.engines.launching import Launcher, launch_engine
from policy_engine.errors import (
    CertificateError,
    DataError,
)
from policy_engine.plan.plan import Plan, plan_of
from policy_engine.plan.steps import CellStyle
from policy_engine.policy import (
    Source,
)
from policy_engine.release.ledger import Ledger
from policy_engine.release.release import Release, run_plan
from policy_engine.release.staging import check_name

if TYPE_CHECKING:
    pass


def certify_output(
    output: str | Path,
    policy: Source,
    data: Mapping[str, Any] | None = None,
    *,
    key: str | Path | bytes | None = None,
    record: str | Path | None = None,
    attempts: str | Path | None = None,
    write: bool = False,
    asset: str = "",
    **options: Unpack[InputOptions],
) -> Certificate:
    """Measure an existing output against a policy, however it was made.

    Where a policy has several outputs, the one to measure is named by the certificate beside it,
    or by `asset`. Where that certificate speaks of the output, its digest is compared too. A
    `record` is to open what that commits to and, where `data` is given, to name that very
    input: CertificateError (V008, V009) else.
    Where the policy has a unit of privacy, the output alone does not tell persons apart: with
    `data`, and the `key` where there are pseudonyms, the release is made again and must be the
    same, byte by byte, or row by row on Spark. The `engine` and `attempts` are as for
    `apply_policy`: models are made and attacked again where the policy has a table audited.
    With `write`, the certificate is renewed: it takes the place of the one beside the output, of
    which it keeps the commitment to the owner's record and what cannot be measured. What the output
    does not tell is to be by that certificate as the policy asks (V014), and without it there is
    nothing to be renewed (C002), nor where it was given by `certify_output` itself (V016).
    Of an output without the certificate of its making for this policy, or of other data than its
    record is known to name where models are attacked, what is returned says what was measured and
    not how it was made (`made_by` is None): by such a certificate nobody may read. `owners`,
    `certificates` of the input, and a `party` with all by which it is decided whether they may
    make such an output, are as for `apply_policy`. Raises
    CertificateError where the output does not hold what the policy asks, or a file read here
    carries more than a table: metadata, values that no row has, names in a gzip header (V002).
    """
    inputs = Inputs(data, **options)
    making = inputs.making_request(policy)
    source_policy = making.policy
    location = _output_location(output)
    with published_output(location), launch_engine(inputs.engine) as launcher:
        earlier = published_certificate(launcher, location)
        product = output_product(source_policy, asset, earlier)
        permitted_makers(making, [product], launcher, inputs)
        catalog = launcher.catalog(source_policy, [product], data or {}, inputs.taxonomies)
        plan = plan_of(source_policy, product, engine=launcher.name)
        _check_measurable(plan)
        stored = launcher.stored_data(location)
        cells = _cell_style(launcher, location, plan)
        if write:
            _check_renewable(location)
        upstream = earlier.upstream if earlier else ()
        plan = plan_of(
            source_policy, product, catalog if data else None, launcher.name, cells, upstream
        )
        release = Release(plan=making.with_consents(plan), output=stored)
        launch = partial(
            launcher.engine,
            add_learnt_taxonomies(catalog, source_policy, plan, inputs.taxonomies),
            key=key,
        )
        run = launch()
        try:
            opened = _open_record(record, earlier, location, release.plan, run if data else None)
            if earlier:
                check_making(earlier, release.plan, opened, location, renews=write)
            if write:
                _check_known_input(release.plan, opened)
            history = _ledger(release.plan, attempts)
            release = _repeat_audits(release, run, history, has_data=bool(data))
            anonymize = release.plan.anonymize
            is_made = anonymize and anonymize.columns.privacy_unit and data
            if is_made and earlier and earlier.ended:
                message = "The search of this release was ended by its time limit: it is not made "
                raise DataError.of("V006", f"{message}again alike, and persons not counted.")
            certified = _make_again(release, launch, opened) if is_made else certify(release, run)
            _check_carried(launcher, location)
            check_bounds(certified, str(location))
        except CertificateError as error:
            raise with_change(error, earlier, stored) from None
        finally:
            run.close()
        check_digest(certified.certificate, stored)
        if earlier:
            check_digest(earlier, stored)
        certificate = certified.certificate.model_copy(
            update=_unmeasured_fields(earlier, release.plan, opened, write=write)
        )
        if write:
            renew(location, certificate, lambda: launcher.stored_data(location))
    return certificate


def _open_record(
    record: str | Path | None,
    earlier: Certificate | None,
    output: Location,
    plan: Plan,
    engine: Engine | None,
) -> Record | None:
    """Return what opens a certificate; with an engine, what that reads is the input it names."""
    if record is None:
        return None
    opened = open_record(load_record(parse_location(record)), earlier, output, str(record))
    if engine is not None:
        _check_input(opened, plan, engine, str(record))
    return opened


def _output_location(output: str | Path) -> Location:
    location = parse_location(output)
    if not str(location).startswith(TABLE):
        location = single_output(location)
        check_name(storage.name(location), "An output")
    return location


def _check_measurable(plan: Plan) -> None:
    """Raise DataError (V006) for a model."""
    if plan.train:
        message = "A model tells nobody on whom it was trained: it is audited when it is made."
        raise DataError.of("V006", message, "Make it again: policy-engine apply.")


def _unmeasured_fields(
    earlier: Certificate | None, plan: Plan, record: Record | None, *, write: bool
) -> dict[str, Any]:
    """Return what an earlier certificate says of an output that nobody measures again.

    A commitment that nobody can open says nothing: it is repeated where it was opened, or where
    it would be lost. So does who made the output, where it may have been made otherwise.
    """
    if earlier is None:
        return {"commitment": None}
    names = ["ended", "upstream"]
    names += ["made_by"] * is_renewable(earlier, plan, record) + ["approximated"] * write
    commitment = earlier.commitment if record is not None or write else None
    return {"commitment": commitment, **{name: getattr(earlier, name) for name in names}}


def _check_renewable(output: Location) -> None:
    """Raise DataError (C010) for a table of a catalog, whose certificate is a part of it."""
    if str(output).startswith(TABLE):
        message = "The certificate of a table in a catalog is renewed with the table alone."
        raise DataError.of("C010", message, "Make it again: policy-engine apply.")


def _check_carried(launcher: Launcher, location: Location) -> None:
    """Raise CertificateError (V002) where a file holds more than its table, however it was made."""
    if launcher.spark is None:
        check_file_extras(Path(location))


def _check_input(record: Record, plan: Plan, engine: Engine, source: str) -> None:
    """Raise CertificateError (V009) where the data are not those that a record names."""
    for step, recorded in zip(plan.reads, record.inputs, strict=True):
        _, stored = engine.read(step)
        if stored.digest != recorded.digest:
            message = "The data given are not the input that the certificate commits to."
            hint = f"That was read by the {record.engine} engine from {recorded.location!r}."
            raise CertificateError.of("V009", message, hint, source)


def _check_known_input(plan: Plan, record: Record | None) -> None:
    """Raise DataError (V006) where nobody knows that what an audit attacks was learnt from."""
    if plan.audits and record is None:
        message = "Whether the data given are what the release was made from, its record tells."
        raise DataError.of("V006", message, "Give the record as well: record=FILE.")


def _record_salt(record: Record | None) -> str:
    """Return what the pseudonyms of a release are its own by.

    Raises DataError (V006) without the record that holds it.
    """
    if record is None or record.salt is None:
        message = "The pseudonyms are those of one release: without its record, nobody makes them "
        raise DataError.of("V006", f"{message}again.", "Give the record as well: record=FILE.")
    return record.salt


def _ledger(plan: Plan, folder: str | Path | None) -> Ledger | None:
    """Return where attempts are kept, None where a plan has nothing attacked."""
    return Ledger(folder) if plan.audits else None


def _repeat_audits(
    release: Release, engine: Engine, history: Ledger | None, *, has_data: bool
) -> Release:
    """Return a release with what the audits of its plan measure today."""
    plan = release.plan
    if not plan.audits:
        return release
    if not has_data:
        message = "The policy asks for an audit, for which the output alone is not enough."
        raise DataError.of("V006", message, "Give the input as well: data={IRI: PATH}.")
    from policy_engine.release.trained_model import audit_table  # noqa: PLC0415 (slow to import)

    table, _ = engine.read(plan.read)
    return release.with_audits(*audit_table(plan, engine, table, history=history))


def _cell_style(launcher: Launcher, location: Location, plan: Plan) -> CellStyle:
    """Return how the ranges of an output are written."""
    [output] = make_catalog({"": location}, describe=launcher.dataset_describer()).datasets
    return "text" if set(plan.publish.columns) <= set(output.columns) else "bounds"


def _make_again(
    release: Release, launch: Callable[..., Engine], record: Record | None
) -> CertifiedRelease:
    """Return the certificate of what a plan makes, which the release is to be the same as.

    On Spark the rows are compared, when they are measured: their files never are the same.
    """
    step = release.plan.anonymization()
    engine = launch(salt=_record_salt(record) if step.columns.has_own_pseudonyms else "")
    try:
        if release.plan.engine == "spark":
            release_again, written = run_plan(release.plan, engine)
            release_again = release_again.model_copy(update={"output": release.output})
            return certify(release_again, engine, written=replace(written, stored=release.output))
        with TemporaryDirectory() as folder:
            location = Path(folder) / storage.name(release.output.location)
            release_again, written = run_plan(release.plan, engine, location)
            return certify(release_again, engine, written=written)
    finally:
        engine.close()
