"""Certifies a released model again, by training it again from its data and the owner's record."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from policy_engine.api.acting import MakingRequest
from policy_engine.api.binding import add_learnt_taxonomies
from policy_engine.api.inputs import Inputs
from policy_engine.api.outputs import check_input, open_record
from policy_engine.audits.membership.released.files import PICKLE
from policy_engine.certificate.certificate import Certificate, check_digest
from policy_engine.certificate.certifying import certify, check_bounds
from policy_engine.certificate.record import Record, load_record
from policy_engine.certificate.renewal import check_making
from policy_engine.data.catalog import Catalog, parse_location
from policy_engine.data.storage import Location
from policy_engine.engines.engine import Engine, StoredData
from policy_engine.engines.launching import Launcher
from policy_engine.errors import CertificateError, DataError
from policy_engine.methods.audits.classifier import Network
from policy_engine.plan.making import plan_of
from policy_engine.plan.plan import Plan
from policy_engine.plan.products import Product
from policy_engine.release.ledger import Ledger
from policy_engine.release.release import run_plan

_UNKNOWN = "A model does not show whom it was trained on: it is audited when it is made."
_AGAIN = "Make it again: policy-engine apply."


class Launched(NamedTuple):
    """What engines are launched with."""

    launcher: Launcher
    catalog: Catalog
    inputs: Inputs
    key: str | Path | bytes | None


def certify_model(
    making: MakingRequest,
    product: Product,
    launched: Launched,
    location: Location,
    earlier: Certificate | None,
    files: tuple[str | Path | None, str | Path | None],
    *,
    renews: bool,
) -> Certificate:
    """Return the certificate of a model that is trained again, which must be the same to the byte.

    `files` are the record and the folder of attempts. The record has the seed that decides who was
    trained on; attacks are made again, and the attempt is counted once. Raises DataError (V006)
    without the data, the record or its seed, or the key where values were permuted, of a model with
    noise that follows from no seed, and if the certificate is to be renewed.
    CertificateError as `certify_output`, V004 if another model results.
    """
    launcher, catalog, inputs, key = launched
    upstream = earlier.upstream if earlier else ()
    bound = catalog if inputs.data else None
    plan = plan_of(making.policy, product, bound, launcher.name, "text", upstream)
    if key is None and plan.anonymize is not None and plan.anonymize.is_permuted:
        message = "How values were permuted for this model follows from the key of its release."
        raise DataError.of("V006", message, "Give the key, if it was made with one.")
    taxonomies = add_learnt_taxonomies(catalog, making.policy, plan, inputs.taxonomies)
    return _certify(
        _ModelOutput(Path(str(location)), earlier, *files),
        making.with_consents(plan),
        partial(launcher.engine, taxonomies, key=key),
        has_data=bool(inputs.data),
        renews=renews,
    )


@dataclass(frozen=True)
class _ModelOutput:
    """A released model's folder, the certificate beside it, and the record that was given."""

    folder: Path
    earlier: Certificate | None
    record: str | Path | None
    attempts: str | Path | None


def _certify(
    output: _ModelOutput, plan: Plan, launch: Callable[..., Engine], *, has_data: bool, renews: bool
) -> Certificate:
    record = _given_record(output, plan, has_data=has_data, renews=renews)
    engine = launch()
    try:
        opened = open_record(
            load_record(parse_location(record)), output.earlier, output.folder, str(record)
        )
        check_input(opened, plan, engine, str(record))
        assert output.earlier is not None  # noqa: S101 (a record opened it)
        check_making(output.earlier, plan, opened, output.folder, renews=False)
        certificate = _trained_again(output, plan, engine, opened)
    finally:
        engine.close()
    stored = StoredData.from_folder(output.folder)
    check_digest(output.earlier, stored)
    if certificate.output_digest != stored.digest:
        message = f"The output is not the model that the data give: its sha-256 is {stored.digest},"
        message += f" that of the model trained again {certificate.output_digest}."
        hint = "Other versions than those in the certificate may train other models."
        raise CertificateError.of("V004", message, hint, stored.location)
    facts = {"commitment", "made_by", "upstream"}
    return certificate.model_copy(update={one: getattr(output.earlier, one) for one in facts})


def _given_record(output: _ModelOutput, plan: Plan, *, has_data: bool, renews: bool) -> str | Path:
    """Return where the record is, if a model can be trained again (V006)."""
    if renews or not has_data or output.record is None:
        hint = _AGAIN if renews else "Give the data, and the record of a release with a seed."
        raise DataError.of("V006", _UNKNOWN, hint)
    architecture = plan.train.architecture if plan.train else None
    if isinstance(architecture, Network) and architecture.privacy is not None:
        message = "The noise of this model follows from no seed: it cannot be trained again."
        raise DataError.of("V006", message, _AGAIN)
    return output.record


def _trained_again(output: _ModelOutput, plan: Plan, engine: Engine, opened: Record) -> Certificate:
    if opened.seed is None:
        message = "The seed that decided whom the model was trained on was drawn and forgotten."
        raise DataError.of("V006", message, _AGAIN)
    with TemporaryDirectory() as folder:
        release, written = run_plan(
            plan,
            engine,
            Path(folder) / output.folder.name,
            seed=opened.seed,
            history=Ledger(output.attempts),
            allow_pickle=(output.folder / f"model{PICKLE}").exists(),
            upstream=output.earlier.upstream if output.earlier else (),
        )
        certified = certify(release, engine, written=written)
    check_bounds(certified, str(output.folder))
    return certified.certificate
