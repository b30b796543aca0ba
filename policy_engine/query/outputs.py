"""Outputs that are queried: their data has to be what was certified."""

from collections.abc import Iterator
from pathlib import Path

from policy_engine.attestation import check_attested
from policy_engine.catalog import MEMORY, Catalog, Dataset
from policy_engine.certificate import Certificate, check_digest
from policy_engine.decision import Decider
from policy_engine.decision.outputs import Output
from policy_engine.engines.engine import Stored


def check_certified(dataset: Dataset, catalog: Catalog, decider: Decider) -> None:
    """Refuse data that is given for an output of some policy and is not what was certified.

    An output without a valid certificate is denied when it is decided on. Raises
    CertificateError (V004).
    """
    certificates = list(_certificates(dataset, decider))
    attestations = [word for one in _outputs(dataset, decider) for word in one.attested]
    if not certificates and not attestations:
        return
    stored = _stored(dataset, catalog)
    if attestations:
        check_attested(attestations, stored.digest, stored.location)
    elif all(one.output_digest != stored.digest for one in certificates):
        check_digest(certificates[0], stored)


def _certificates(dataset: Dataset, decider: Decider) -> Iterator[Certificate]:
    for output in _outputs(dataset, decider):
        yield from output.valid


def _outputs(dataset: Dataset, decider: Decider) -> Iterator[Output]:
    for policy in decider.policies:
        if any(rule.output == dataset.iri for rule in policy.permissions):
            yield decider.output(policy, dataset.iri)


def _stored(dataset: Dataset, catalog: Catalog) -> Stored:
    if dataset.location != MEMORY:
        return Stored.of_file(Path(dataset.location))
    from policy_engine.engines.tables import table_digest  # noqa: PLC0415 (slow to import)

    return Stored(MEMORY, table_digest(catalog.tables[dataset.iri]))
