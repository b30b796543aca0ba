"""Queries on outputs: their data must be what was certified."""

from pathlib import Path

from policy_engine.certificate.attestation import check_attested
from policy_engine.certificate.certificate import check_digest
from policy_engine.data.catalog import MEMORY, Catalog, Dataset
from policy_engine.decision import Decider, Request, World
from policy_engine.decision.history import History
from policy_engine.decision.outputs import Output
from policy_engine.engines.engine import StoredData
from policy_engine.engines.tables import table_digest
from policy_engine.errors import CertificateError
from policy_engine.policy import Policy


def check_certified(
    dataset: Dataset,
    catalog: Catalog,
    decider: Decider,
    world: World,
    history: History | None,
    request: Request,
) -> None:
    """Refuse data given for an output of a policy that is not what was certified.

    The certificate of the data must itself be valid with everything it was made from, for the topic
    of the `request`: another certificate proves nothing about it. An output without a valid
    certificate is denied when it is decided. Raises CertificateError (V004).
    """
    making_policies = [one for one in decider.policies if _makes(one, dataset.iri)]
    outputs = [decider.output(policy, dataset.iri) for policy in making_policies]
    if all(one.uncertified for one in outputs):
        return
    stored = stored_data(dataset, catalog)

    def standing(policy: Policy, digest: str) -> Output:
        return decider.valid_output(policy, dataset.iri, world, digest, history, request)

    outputs_of_data = [standing(one, stored.digest) for one in making_policies]
    if not all(one.uncertified for one in outputs_of_data):
        return
    for reason in (one.invalid_reason for one in outputs_of_data if one.invalid_reason):
        message = f"The output was certified, but nobody may read it. {reason}"
        raise CertificateError.of("V004", message, source=stored.location)
    for one in (*(standing(policy, "") for policy in making_policies), *outputs):
        if one.certificate:
            check_digest(one.certificate, stored)
        if one.attested:
            check_attested([*one.attested], stored.digest, stored.location)


def is_certified(dataset: Dataset, decider: Decider) -> bool:
    """Tell whether data has to be what was certified: a policy makes it, and has a certificate."""
    making_policies = (one for one in decider.policies if _makes(one, dataset.iri))
    return not all(decider.output(one, dataset.iri).uncertified for one in making_policies)


def _makes(policy: Policy, asset: str) -> bool:
    return any(rule.output == asset for rule in policy.permissions)


def stored_data(dataset: Dataset, catalog: Catalog) -> StoredData:
    """Return where the data of a dataset is stored, with its digest."""
    if dataset.location != MEMORY:
        return StoredData.from_file(Path(dataset.location))

    digests = {one.iri: table_digest(catalog.tables[one.iri]) for one in dataset.parts()}
    if not dataset.tables:
        return StoredData(MEMORY, digests[dataset.iri])
    return StoredData.from_tables({n: digests[one.iri] for n, one in dataset.tables.items()}, 0)
