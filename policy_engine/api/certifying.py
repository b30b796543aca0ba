"""Measures an existing output against a policy."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack

from policy_engine.api.binding import add_learnt_taxonomies, permitted_makers, published_certificate
from policy_engine.api.certifying_models import Launched, certify_model
from policy_engine.api.deciding import TrustSource
from policy_engine.api.input_rows import (
    check_against_input,
    check_rows,
    input_rows,
    known_output,
    known_rows,
)
from policy_engine.api.inputs import InputOptions, Inputs
from policy_engine.api.outputs import (
    check_input,
    open_record,
    output_product,
    published_output,
)
from policy_engine.certificate.beside import single_output
from policy_engine.certificate.certificate import Certificate, check_digest
from policy_engine.certificate.certifying import CertifiedRelease, certify, check_bounds
from policy_engine.certificate.composed import with_stated
from policy_engine.certificate.figure_checks import check_bounds_again, check_figures_again
from policy_engine.certificate.input_checks import (
    check_same_sample,
)
from policy_engine.certificate.lowered_loss import check_lowered_loss
from policy_engine.certificate.publication import renew
from policy_engine.certificate.record import Record, load_record
from policy_engine.certificate.remaking import (
    check_same,
    is_made_again,
    other_draws,
    other_rows,
)
from policy_engine.certificate.renewal import check_making, is_renewable, with_change
from policy_engine.certificate.vouching import check_vouched
from policy_engine.data import storage
from policy_engine.data.catalog import TABLE, make_catalog, parse_location
from policy_engine.data.places.spelling import is_database
from policy_engine.data.storage import Location, is_remote, local_path
from policy_engine.engines.carried import check_file_extras
from policy_engine.engines.engine import Engine
from policy_engine.engines.launching import Launcher, launch_engine
from policy_engine.errors import CertificateError, DataError
from policy_engine.plan.making import plan_of
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import CellStyle
from policy_engine.policy import Policy, Source
from policy_engine.release.ledger import Ledger
from policy_engine.release.release import (
    Release,
    run_plan,
)
from policy_engine.release.staging import check_name
from policy_engine.trust.proofs import Signer
from policy_engine.trust.signers import KeySource, read_signer
from policy_engine.trust.trust_file import load_trust

if TYPE_CHECKING:
    import pyarrow as pa


def _measurable(plan: Plan, output: Location) -> Plan:
    """Return a plan. Raises DataError (V006) for statistics and for randomised records, in which
    noise does not show, and for synthetic rows, which do not show how they were made up."""
    if plan.synthesise is not None:
        message = "Nothing in a table shows that its rows were made up, or how."
        raise DataError.of("V006", message, _RELEASE_AGAIN, str(output))
    if plan.aggregate is None and plan.randomise is None:
        return plan
    means = "noise that was" if plan.aggregate else "answers that were"
    message = f"Epsilon holds by the {means} drawn, which the output does not show."
    raise DataError.of("V006", message, _RELEASE_AGAIN, str(output))


_RELEASE_AGAIN = (
    "Use the certificate that it was released with, or release it again: apply_policy()."
)


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
    sign: KeySource | None = None,
    attack_seed: int | None = None,
    **options: Unpack[InputOptions],
) -> Certificate:
    """Measure an existing output against a policy, however it was made.

    If a policy has several outputs, the certificate beside the output or `asset` says which one it
    is. If there is a certificate for the output, its digest is compared too. A `record` must open
    its commitment, name that exact output and, if `data` is given, that exact input: otherwise
    CertificateError (V008, V004, V009). If the policy has a unit of privacy, the output alone does
    not show which rows belong to one person: with `data`, and the `key` if there are pseudonyms or
    random maskings (otherwise DataError, V006), the release is made again and must be identical
    (V004), byte by byte, or row by row on Spark (V003). The
    `engine` and `attempts` are as for `apply_policy`: models are made and attacked again if the
    policy asks for audits of a table, by new draws unless there is an `attack_seed`: with that of
    the release, the same is found, and counts as the same attempt. A model is trained again, if
    `data` and a `record` with a seed are given (otherwise DataError, V006), and must be the same
    to the byte (V004).

    Under a `trust` (see `load_trust`), policies and certificates have to be covered by it. The
    result is signed with the private key `sign`, if that is given: a signed certificate is renewed
    by a signed one only (Y013).

    With `write`, the certificate beside the output is renewed: the new one keeps the commitment to
    the owner's record, and facts that cannot be measured. These must agree with the policy (V014).
    Without a certificate there is nothing to renew (C002), nor if it came from `certify_output`
    itself (V016). If the output has no certificate of its making for this policy, or if models are
    attacked and the data is not known to be that of its record, the result says what was measured
    but not how it was made (`made_by` is None): it permits nobody to read. `owners`, `certificates`
    of the input, and a `party` with everything that decides whether they may make such an output,
    are as for `apply_policy`. What the certificate beside the output says of bounds, of classes and
    of masked columns is compared with what is measured again, and refused where it is false (V018);
    figures that cannot be measured again are not verified, and not in the result. Raises
    CertificateError if the output does not satisfy the policy, or if its file has more than a
    table: metadata, values that no row has, names or times in gzip headers (V002).
    """
    inputs = Inputs(data, **options)
    making = inputs.making_request(policy)
    source_policy = making.policy
    location = _output_location(output)
    with published_output(location), launch_engine(inputs.engine) as launcher:
        earlier = published_certificate(launcher, location)
        product = output_product(source_policy, asset, earlier)
        signer = _signer((sign, inputs.trust), source_policy, earlier, location, write=write)
        permitted_makers(making, [product], launcher, inputs)
        catalog = launcher.catalog(source_policy, [product], data or {}, inputs.taxonomies)
        plan = _measurable(plan_of(source_policy, product, engine=launcher.name), location)
        if plan.releases_model:
            launched = Launched(launcher, catalog, inputs, key)
            return _signed(
                certify_model(
                    making, product, launched, location, earlier, (record, attempts), renews=write
                ),
                signer,
                earlier,
            )
        stored = launcher.stored_data(location)
        cells = _cell_style(launcher, location, plan)
        if write:
            _check_renewable(location)
        plan = plan_of(
            source_policy,
            product,
            catalog if data else None,
            launcher.name,
            cells,
            earlier.upstream if earlier else (),
        )
        release = Release(plan=making.with_consents(plan), output=stored)
        launch = partial(
            launcher.engine,
            add_learnt_taxonomies(catalog, source_policy, plan, inputs.taxonomies),
            key=key,
        )
        run = launch()
        try:
            opened = _known_making(
                record, earlier, location, release.plan, run if data else None, renews=write
            )
            history = Ledger(attempts)
            release = _repeat_audits(release, run, history, attack_seed, has_data=bool(data))
            before, is_made = (
                _matched_or_made(release, run, earlier, has_key=key is not None)
                if data
                else (None, False)
            )
            rows = None if is_made or not data else input_rows(release.plan, run, earlier)
            written = known_output(release, run, key, rows, before) if rows else None
            certified = (
                _make_again(release, launch, opened, has_key=key is not None)
                if is_made
                else certify(release, run, written=written)
            ).with_stated(earlier)
            check_same(certified.certificate, stored, earlier, has_key=key is not None)
            _check_carried(launcher, location)
            check_rows(certified.certificate, written)
            if not is_made:
                check_against_input(release, run, earlier, rows, certified.certificate.rows_out)
            elif earlier:
                check_same_sample(earlier, certified.certificate, stored.location)
            check_bounds(certified, str(location))
            check_figures_again(earlier, certified.certificate, written, has_key=key is not None)
        except CertificateError as error:
            raise with_change(error, earlier, stored) from None
        finally:
            run.close()
        if earlier:
            check_digest(earlier, stored)
            check_bounds_again(earlier, certified.certificate)
        certificate = _signed(
            certified.certificate.model_copy(
                update=_unmeasured_fields(earlier, certified.certificate, opened, write=write)
            ),
            signer,
            earlier,
        )
        if write:
            renew(location, certificate, lambda: launcher.stored_data(location))
    return certificate


def _signed(
    certificate: Certificate, signer: Signer | None, earlier: Certificate | None
) -> Certificate:
    """Return a certificate as somebody signs it. What withdraws the earlier one withdraws it."""
    if signer is None:
        return certificate
    signature = None if earlier is None else earlier.signature
    status = None if signature is None else signature.credential.status
    return certificate.signed(signer, status=status)


def _signer(
    trusting: tuple[KeySource | None, TrustSource | None],
    policy: Policy,
    earlier: Certificate | None,
    output: Location,
    *,
    write: bool,
) -> Signer | None:
    """Return what signs the result, by a key, once a trust file covers the earlier certificate.

    Raises CertificateError as `check_vouched` does, and (Y013) where nothing signs, and a signed
    certificate would be replaced.
    """
    sign, trust = trusting
    if trust is not None:
        check_vouched([policy], earlier, output, load_trust(trust))
    if sign is None and write and earlier is not None and earlier.signature is not None:
        message = "The certificate is signed, and would be replaced by one that is not."
        raise CertificateError.of("Y013", message, "Give the key: sign=KEY.", str(output))
    return None if sign is None else read_signer(sign)


def _known_making(
    record: str | Path | None,
    earlier: Certificate | None,
    output: Location,
    plan: Plan,
    engine: Engine | None,
    *,
    renews: bool,
) -> Record | None:
    """Return the opened record, after checking that the release was made as the plan says."""
    opened = _open_record(record, earlier, output, plan, engine)
    if earlier:
        check_making(earlier, plan, opened, output, renews=renews)
    if renews:
        _check_known_input(plan, opened)
    return opened


def _open_record(
    record: str | Path | None,
    earlier: Certificate | None,
    output: Location,
    plan: Plan,
    engine: Engine | None,
) -> Record | None:
    """Return the record that opens a certificate; with an engine, check the input it names."""
    if record is None:
        return None
    opened = open_record(load_record(parse_location(record)), earlier, output, str(record))
    if earlier is not None:
        check_lowered_loss(earlier, opened)
    if engine is not None:
        check_input(opened, plan, engine, str(record))
    return opened


def _output_location(output: str | Path) -> Location:
    location = parse_location(output)
    if not str(location).startswith(TABLE) and not is_database(location):
        location = single_output(location)
        check_name(storage.name(location), "An output")
    return location


def _unmeasured_fields(
    earlier: Certificate | None, again: Certificate, record: Record | None, *, write: bool
) -> dict[str, Any]:
    """Return the fields of an earlier certificate that cannot be measured again.

    A commitment that nobody can open says nothing: it is repeated if it was opened, or if it would
    otherwise be lost. The same holds for who made the output, which may have been made differently.
    """
    if earlier is None:
        return {"commitment": None}
    names, plan, figures = ["ended", "lowered_loss", "upstream"], again.plan, again.class_figures
    names += ["made_by"] * is_renewable(earlier, plan, record) + ["approximated"] * write
    names += ["sample"] * (plan.sample is not None and again.sample is None)
    names += ["composition"] * (with_stated(again, earlier).composition is not None)
    names += ["class_figures"] * (write and figures is not None and figures.are_of_output)
    commitment = earlier.commitment if record is not None or write else None
    return {"commitment": commitment, **{name: getattr(earlier, name) for name in names}}


def _check_renewable(output: Location) -> None:
    """Raise DataError (C010) for a table of a catalog or a database, whose certificate is there."""
    if str(output).startswith(TABLE) or is_database(output):
        message = "The certificate of a catalog table can only be renewed together with the table."
        raise DataError.of("C010", message, "Make it again: policy-engine apply.")


def _check_carried(launcher: Launcher, location: Location) -> None:
    """Raise CertificateError (V002) if a file has more than its table, however it was made.

    Of what lies on another machine or in a catalog, the cluster that reads it looks at floats only.
    """
    is_table = str(location).startswith(TABLE) or is_database(location)
    if not (is_remote(location) or is_table):
        check_file_extras(local_path(location))
    if launcher.spark is not None:
        launcher.spark.check_extras(str(location))


def _check_known_input(plan: Plan, record: Record | None) -> None:
    """Raise DataError (V006) if nobody knows that the release was made from the data to attack."""
    if plan.audits and record is None:
        message = "Only the record shows whether the release was made from the given data."
        raise DataError.of("V006", message, "Give the record as well: record=FILE.")


def _matched_or_made(
    release: Release, engine: Engine, earlier: Certificate | None, *, has_key: bool
) -> "tuple[pa.Table | None, bool]":
    """Return what intruders know of the rows of an output, None where nobody needs it or can tell,
    and whether the release is made again. Raises DataError (V006) where it cannot be."""
    plan = release.plan
    before = known_rows(release, engine) if plan.disclosures else None
    is_made = is_made_again(plan, has_key=has_key, is_matched=before is not None)
    if is_made and earlier is not None and earlier.ended:
        message = "A time limit ended the search for this release: it cannot be made again "
        raise DataError.of("V006", f"{message}identically, nor persons counted.")
    if is_made and earlier is not None and earlier.composition and earlier.composition.releases:
        message = "Its classes were formed together with those of earlier releases: it cannot be "
        raise DataError.of("V006", f"{message}made again without them, nor persons counted.")
    return before, is_made


def _record_salt(record: Record | None) -> str:
    """Return the salt of a release's own pseudonyms.

    Raises DataError (V006) without the record that has it.
    """
    if record is None or record.salt is None:
        message = "The pseudonyms are the release's own: without its record they cannot be made "
        raise DataError.of("V006", f"{message}again.", "Give the record as well: record=FILE.")
    return record.salt


def _repeat_audits(
    release: Release, engine: Engine, history: Ledger, seed: int | None, *, has_data: bool
) -> Release:
    """Return a release with the current results of its plan's audits."""
    plan = release.plan
    if not plan.audits:
        return release
    if not has_data:
        message = "The policy asks for an audit, which needs more than the output."
        raise DataError.of("V006", message, "Give the input as well: data={IRI: PATH}.")
    from policy_engine.release.trained_model import audit_table  # noqa: PLC0415 (slow to import)

    table, _ = engine.read(plan.read)
    return release.with_audits(*audit_table(plan, engine, table, seed=seed, history=history))


def _cell_style(launcher: Launcher, location: Location, plan: Plan) -> CellStyle:
    """Return how the ranges of an output are written."""
    describe = launcher.dataset_describer()
    [output] = make_catalog({"": location}, describe=describe, in_buckets=not describe).datasets
    if bool(output.tables) != (plan.anonymize is not None and plan.anonymize.is_in_buckets):
        tables = ("one table", "two tables, by buckets")
        message = f"The output is {tables[bool(output.tables)]}, and the policy releases "
        raise CertificateError.of("V002", f"{message}{tables[not output.tables]}.")
    return "text" if set(plan.publish.columns) <= set(output.columns) else "bounds"


def _make_again(
    release: Release, launch: Callable[..., Engine], record: Record | None, *, has_key: bool
) -> CertifiedRelease:
    """Return the certificate of the release made again, which must be identical to the given one.

    On Spark, rows are compared when they are measured, since files are never identical.
    """
    step = release.plan.require_anonymize()
    engine = launch(salt=_record_salt(record) if step.columns.has_own_pseudonyms else "")
    try:
        if release.plan.engine == "spark":
            with other_draws(release.plan, has_key=has_key):
                release_again, written = run_plan(release.plan, engine)
            release_again = release_again.model_copy(update={"output": release.output})
            written = replace(written, stored=release.output)
            with other_rows(release.plan, has_key=has_key):
                return certify(release_again, engine, written=written)
        with TemporaryDirectory() as folder:
            location = Path(folder) / storage.name(release.output.location)
            with other_draws(release.plan, has_key=has_key):
                release_again, written = run_plan(release.plan, engine, location)
            return certify(release_again, engine, written=written)
    finally:
        engine.close()
