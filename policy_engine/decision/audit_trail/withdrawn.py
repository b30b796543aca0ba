"""What was withdrawn, by the statements and status lists in an audit trail, and permitted since."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.vouching import coverage_refusal
from policy_engine.certificate.withdrawals import Withdrawals, read_withdrawals
from policy_engine.decision.audit_trail.checks import TrailCheck
from policy_engine.decision.audit_trail.crossing import entry_list, read_assets
from policy_engine.decision.audit_trail.trail import AuditTrail
from policy_engine.decision.log.entries import Entry
from policy_engine.errors import PolicyEngineError, SignatureError
from policy_engine.trust.trust_file import Trust

_ABOUT = "withdrawals"


class _Release(NamedTuple):
    """A certified release, since when it exists, since when it is withdrawn, and whether every
    trust file covers the key that signed it."""

    asset: str
    made: datetime
    since: datetime | None
    is_covered: bool

    def is_withdrawn(self, moment: datetime) -> bool:
        return self.since is not None and self.since < moment


def check_withdrawals(
    trail: AuditTrail,
    entries: Sequence[Entry],
    certificates: Sequence[Certificate],
    now: datetime,
    trusts: Sequence[Trust] = (),
) -> Iterator[TrailCheck]:
    """Yield whether what was withdrawn can be read, and what was permitted after it was.

    A release that one of the `trusts` does not cover explains no permit.
    """
    members = [*trail.of_kind("status")]
    withdrawals = Withdrawals()
    try:
        withdrawals = read_withdrawals(((one.path, trail.files[one.path]) for one in members), now)
    except PolicyEngineError as error:
        yield TrailCheck.failed(_ABOUT, error)
    releases = []
    for one in certificates:
        since, unknown = _withdrawn(one, withdrawals, now)
        is_covered = all(coverage_refusal(one, trust, now) is None for trust in trusts)
        releases.append(_Release(one.plan.publish.asset, one.time, since, is_covered))
        if unknown:
            yield TrailCheck("unchecked", _ABOUT, unknown)
    faults = [*_late_permits(entries, releases)]
    yield from (TrailCheck("fails", _ABOUT, one) for one in faults)
    if members and not faults:
        sentence = "Nothing was permitted after what is here says that it was withdrawn."
        yield TrailCheck("holds", _ABOUT, sentence)


def _withdrawn(
    certificate: Certificate, withdrawals: Withdrawals, now: datetime
) -> tuple[datetime | None, str]:
    """Return since when a release is withdrawn, and why it is not known whether it is."""
    signature = certificate.signature
    entry = signature.credential.status if signature else None
    stated = Withdrawals(withdrawals.statements).withdrawn(certificate, None, now)
    if entry is not None and not withdrawals.lists:
        asset = certificate.plan.publish.asset
        return stated, f"Whether {asset} was withdrawn is not known: its status list is not here."
    try:
        return withdrawals.withdrawn(certificate, None, now), ""
    except SignatureError as error:
        return stated, error.problems[0].message


def _late_permits(entries: Iterable[Entry], releases: Sequence[_Release]) -> Iterator[str]:
    """Yield the outputs that were permitted when every release of them was withdrawn.

    Anybody can make a certificate of another release, by which such a permit looks as it should:
    only a covered one counts as one that was not withdrawn. Withdrawals are to the second: a permit
    of the same second is not known to be later.
    """
    late: dict[str, list[int]] = {}
    for entry in entries:
        record = entry.decision
        if record is None or record.effect != "permit":
            continue
        moment, read = _logged(entry), {*read_assets(record)}
        made = [one for one in releases if one.asset in read and one.made <= moment]
        start = moment.replace(microsecond=0)
        withdrawn = {one.asset for one in made if one.is_withdrawn(start)}
        withdrawn -= {one.asset for one in made if one.is_covered and not one.is_withdrawn(start)}
        for asset in withdrawn:
            late.setdefault(asset, []).append(entry.number)
    for asset, numbers in sorted(late.items()):
        yield f"The output {asset} was permitted after it was withdrawn ({entry_list(numbers)})."


def _logged(entry: Entry) -> datetime:
    """Return when an entry was written; the end of time where it does not say so."""
    try:
        moment = datetime.fromisoformat(entry.logged)
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
