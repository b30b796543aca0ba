"""What somebody may read of the log of decisions who may not read all of it."""

from collections.abc import Collection
from dataclasses import dataclass

from policy_engine import terms
from policy_engine.decision.knowing import Known
from policy_engine.policy.owners import Standing
from policy_engine.service.resources.log_pages import LogFilter, LoggedDecision, LoggedView


@dataclass(frozen=True)
class LogReading:
    """Entries on the requests of a party, and on assets that belong to some parties.

    A request may be about what belongs to several owners, and a denied query of all columns names
    them: of what is not theirs, nobody learns a name that no policy names to them, nor which policy
    of another decided a request that was not theirs.
    """

    party: str
    knowledge: Known
    datasets: Collection[str]
    """The datasets that somebody owns."""
    standing: Standing
    parties: Collection[str]
    policies: Collection[str]
    """The uids of the policies that are theirs."""

    def may_read(self, decided: LoggedDecision, wanted: LogFilter | None = None) -> bool:
        """Return whether an entry is theirs to read and, by what they see of it, wanted."""
        request = decided["request"]
        if self._is_from_them(request["assignee"]):
            return True
        if wanted is not None and wanted.target and not self._owns(wanted.target):
            return False
        if wanted is not None and wanted.policy not in ("", *self.policies):
            return False
        return any(map(self._owns, request["targets"]))

    def shown(self, view: LoggedView) -> LoggedView:
        """Return an entry as they may see it."""
        if self._is_from_them(view.assignee):
            return view.model_copy(
                update={"targets": tuple(dict.fromkeys(map(self.name, view.targets)))}
            )
        changes: dict[str, object] = {"targets": tuple(filter(self._owns, view.targets))}
        if view.policy not in self.policies:
            changes |= {"policy": "", "rule": ""}
        return view.model_copy(update=changes)

    def name(self, target: str) -> str:
        """Return what they may know a target of their request by: itself, or its dataset."""
        dataset = terms.dataset_of(target)
        is_known = self.knowledge.has(target) or self.knowledge.has(dataset)
        return target if is_known or self._owns(target) or dataset not in self.datasets else dataset

    def _owns(self, asset: str) -> bool:
        return self.standing.of(asset).own(self.parties)

    def _is_from_them(self, assignee: str) -> bool:
        return bool(self.party) and assignee == self.party
