"""Existing outputs: whether they are published, what they are measured as, and their records."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

from policy_engine.api.binding import all_products, full_name
from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.record import Record, find_opening_record
from policy_engine.certificate.shortcomings import lost_rows
from policy_engine.data import storage
from policy_engine.data.catalog import (
    TABLE,
)
from policy_engine.data.places.spelling import is_database
from policy_engine.data.storage import Location
from policy_engine.engines.engine import Engine
from policy_engine.errors import (
    CertificateError,
    DataError,
    Problem,
)
from policy_engine.plan.plan import Plan
from policy_engine.plan.products import Product, one_of
from policy_engine.policy import (
    Policy,
)
from policy_engine.release.staging import guard_publication


def output_product(policy: Policy, asset: str, earlier: Certificate | None) -> Product:
    """Return the product that an output is measured as: the given one, or its certificate's."""
    certified_asset, all_made = earlier.plan.publish.asset if earlier else "", all_products(policy)
    name = (
        certified_asset
        if not asset and certified_asset in [one.asset for one in all_made]
        else full_name(policy, asset)
    )
    return one_of(all_made, policy, name)


def open_record(
    record: Record, certificate: Certificate | None, output: Location, source: str
) -> Record:
    """Return the record that opens the certificate of an output.

    Raises DataError (C002) if there is no certificate, CertificateError if the record does not open
    it (V008), is of another output (V004), or has other numbers of rows (V003).
    """
    if certificate is None:
        message = f"There is no certificate beside {str(output)!r} for the record to open."
        raise DataError.of("C002", message)
    matching = find_opening_record(record, certificate.commitment, source)
    problems = [*_other_output(certificate, matching), *lost_rows(certificate, matching)]
    if problems:
        raise CertificateError(*problems, source=source)
    return matching


def check_input(record: Record, plan: Plan, engine: Engine, source: str) -> None:
    """Raise CertificateError (V009) if the data is not the input that a record names."""
    for step, recorded in zip(plan.reads, record.inputs, strict=True):
        _, stored = engine.read(step)
        if stored.digest != recorded.digest:
            message = "The data given are not the input that the certificate commits to."
            hint = f"That was read by the {record.engine} engine from {recorded.location!r}."
            raise CertificateError.of("V009", message, hint, source)


def _other_output(certificate: Certificate, record: Record) -> Iterator[Problem]:
    """Yield that a certificate is for another output than the one that was recorded with it."""
    if record.release != certificate.output_digest:
        message = f"The certificate is for an output with the sha-256 {certificate.output_digest}, "
        message += f"but its record says that {record.release} was released."
        yield Problem("V004", message)


def published_output(output: Location) -> AbstractContextManager[None]:
    """Raise CertificateError (V010) while a release is being published to a place."""
    is_table = str(output).startswith(TABLE) or is_database(output)
    return nullcontext() if is_table else guard_publication(storage.parent(output))
