"""The order in which a checker looks at the outputs of a folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from policy_engine.audits.outputs.output_records import RuleRecord
from policy_engine.audits.outputs.triage import PastDecision, learn_triage
from policy_engine.data.keys import Key
from policy_engine.release.output_folder.folder import OutputFolder
from policy_engine.release.output_folder.standings import OutputStanding


@dataclass(frozen=True)
class QueuedOutput:
    """An output in the queue: what a decision without a look would cost, and why it is there."""

    name: str
    doubt: float
    is_novel: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class OutputQueue:
    """The open outputs of a folder in the order to look at, and what the order was learnt from."""

    source: str
    places: tuple[QueuedOutput, ...]


def order_folder(
    folder: str | Path, past: Sequence[str | Path] = (), key: Key = None, expect: str = ""
) -> OutputQueue:
    """Return the outputs of a folder that nobody has decided about, in the order to look at.

    It is learnt from the decisions in `past` folders, and decides nothing. Raises LedgerError
    (K027) for folders that were changed, or one whose log lacks the head that is to be expected,
    RequestError (U001) for what is not a head, DataError (C011) without scikit-learn.
    """
    own = OutputFolder.read(Path(folder), key, expect)
    decisions = [one for other in past for one in _decisions(OutputFolder.read(Path(other), key))]
    records = _records(own)
    names = [one.output.name for one in own.standings() if one.word == "open"]
    learnt = learn_triage(decisions)
    places = learnt.order([records[name] for name in names])
    queued = (
        QueuedOutput(names[one.index], one.doubt, one.is_novel, one.reasons) for one in places
    )
    return OutputQueue(learnt.source, tuple(queued))


def _decisions(folder: OutputFolder) -> list[PastDecision]:
    records = _records(folder)
    return [
        PastDecision(records[one.output.name], is_accepted=_is_accepted(one))
        for one in folder.standings()
        if one.decision is not None
    ]


def _is_accepted(one: OutputStanding) -> bool:
    return one.word == "accepted"


def _records(folder: OutputFolder) -> dict[str, RuleRecord]:
    return {one.name: RuleRecord(**one.attributes) for one in folder.evidence.outputs}
