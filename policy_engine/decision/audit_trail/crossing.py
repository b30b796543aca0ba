"""What the parts of an audit trail say of one another: permits, policies and certificates."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC

from policy_engine.certificate.certificate import Certificate
from policy_engine.decision.log.entries import Entry, LogRecord
from policy_engine.errors import format_count
from policy_engine.policy import Policy

_SHOWN = 3


def missing_policies(entries: Iterable[Entry], policies: Sequence[Policy]) -> Iterator[str]:
    """Yield what decisions were made by and is not in the trail, a sentence for each digest."""
    digests = {one.digest for one in policies}
    counts = Counter(
        digest
        for entry in entries
        if entry.decision is not None
        for digest in entry.decision.policy_digests
        if digest not in digests
    )
    for digest, count in counts.most_common():
        decisions = format_count(count, "decision")
        yield f"{decisions} followed from a policy with the sha-256 {digest}, which is not here"


def unproven_permits(
    entries: Iterable[Entry], policies: Sequence[Policy], certificates: Sequence[Certificate]
) -> Iterator[str]:
    """Yield the permits to read outputs that have no certificate in the trail, by output.

    Outputs are those that the policies name, and certificates those made by that time.
    """
    outputs = {rule.output for one in policies for rule in one.permissions if rule.output}
    first = {
        asset: min(one.time for one in certificates if one.plan.publish.asset == asset)
        for asset in {one.plan.publish.asset for one in certificates}
    }
    unproven: dict[str, list[int]] = {}
    for entry in entries:
        record = entry.decision
        if record is None or record.effect != "permit":
            continue
        for asset in outputs.intersection(read_assets(record)):
            time = entry.time
            if time is not None and time.tzinfo is None:
                time = time.replace(tzinfo=UTC)
            is_proven = asset in first and (time is None or first[asset] <= time)
            if not is_proven:
                unproven.setdefault(asset, []).append(entry.number)
    for asset, numbers in sorted(unproven.items()):
        where = entry_list(numbers)
        yield f"the output {asset} was permitted without a certificate that is here ({where})"


def entry_list(numbers: Sequence[int]) -> str:
    """Return the numbers of entries as words, the first few of many."""
    listed = ", ".join(map(str, numbers[:_SHOWN])) + ", ..." * (len(numbers) > _SHOWN)
    return f"{'entry' if len(numbers) == 1 else 'entries'} {listed}"


def read_assets(record: LogRecord) -> Iterator[str]:
    """Yield the assets of a permit, and those that they may be columns of."""
    for target in record.request.targets:
        yield target
        yield target.rpartition("/")[0]


def strange_certificates(
    certificates: Sequence[Certificate], policies: Sequence[Policy]
) -> Iterator[str]:
    """Yield the certificates of policies that are not in the trail."""
    digests = {one.digest for one in policies}
    for one in certificates:
        if one.plan.policy_digest not in digests:
            yield (
                f"the certificate of {one.plan.publish.asset} is of a policy with the sha-256 "
                f"{one.plan.policy_digest}, which is not here"
            )
