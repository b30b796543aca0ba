"""Outputs that are queried: their data has to be what was certified."""

from collections.abc import Iterator
from pathlib import Path

from policy_engine.catalog import MEMORY, Catalog, Dataset
from policy_engine.certificate import Certificate, check_digest
from policy_engine.decision import Decider
from policy_engine.engines.engine import Stored


def check_certified(dataset: Dataset, catalog: Catalog, decider: Decider) -> None:
    """Refuse data that is given for an output of some policy and is not what was certified.

    An output without a valid certificate is denied when it is decided on. Raises
    CertificateError (V004).
    """
    certificates = list(_certificates(dataset, decider))
    if not certificates:
        return
    stored = _stored(dataset, catalog)
    if all(one.output_digest != stored.digest for one in certificates):
        check_digest(certificates[0], stored)


def _certificates(dataset: Dataset, decider: Decider) -> Iterator[Certificate]:
    for policy in decider.policies:
        if any(rule.output == dataset.iri for rule in policy.permissions):
            yield from decider.output(policy, dataset.iri).valid


def _stored(dataset: Dataset, catalog: Catalog) -> Stored:
    if dataset.location != MEMORY:
        return Stored.of_file(Path(dataset.location))
    from policy_engine.engines.tables import table_digest  # noqa: PLC0415 (slow to import)

    return Stored(MEMORY, table_digest(catalog.tables[dataset.iri]))
