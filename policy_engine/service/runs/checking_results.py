"""Whether what a run leaves is of the run: its policy, its plan, its input and its output.

What a run leaves was made by a process that reads data of others, and whose word is not enough to
sign by.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.runs.jobs import Job
from policy_engine.service.runs.kinds.settings import OnPolicy, kept_policy

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.certificate.record import Record
    from policy_engine.policy import Policy

RECORD = "record"
"""The folder of a result that has the records of its releases, which is for the owner alone."""


@dataclass(frozen=True)
class ExpectedResult:
    """What the certificates of a run have to say: by its job, and by its settings."""

    job: Job
    settings: OnPolicy

    def check(self, certificate: "Certificate", release: Path) -> None:
        """Raise ServiceError (N022) for a certificate in the folder of a release that is not of
        this run: of another policy, another plan, another input or another output."""
        problems = [*self._strange(certificate, release)]
        if problems:
            asset = certificate.plan.publish.asset
            raise ServiceError.of(
                "N022", f"The certificate of {asset} is not signed: {problems[0]}"
            )

    def _strange(self, certificate: "Certificate", release: Path) -> Iterator[str]:
        from policy_engine.decision.outputs import is_certified  # noqa: PLC0415 (slow)

        policy, plan = kept_policy(self.job.policy), certificate.plan
        if (plan.policy, plan.policy_digest) != (policy.uid, policy.digest):
            yield f"it is of a version of {plan.policy} that the run is not about."
        elif not is_certified(certificate, policy):
            yield "it does not prove what the policy of the run asks for."
        else:
            yield from self._other_input(certificate, policy, release.with_name(RECORD))
            yield from _other_output(certificate, release)

    def _other_input(
        self, certificate: "Certificate", policy: "Policy", records: Path
    ) -> Iterator[str]:
        from policy_engine.engines.engine import StoredData  # noqa: PLC0415 (slow)
        from policy_engine.policy.datasets import named_data  # noqa: PLC0415 (slow)

        data = named_data(self.settings.datasets, [policy])
        if not {step.asset for step in certificate.plan.reads} <= data.keys():
            yield "it was made from data that the run was not given."
            return
        record = _opening(certificate, records)
        if record is None or record.release != certificate.output_digest:
            yield "no record that the run left opens its commitment to the input."
            return
        if [one.asset for one in record.inputs] != [one.asset for one in certificate.plan.reads]:
            yield "its record is of other inputs."
            return
        for one in record.inputs if record.engine == "local" else ():
            if StoredData.from_file(self.job.files[data[one.asset]]).digest != one.digest:
                yield f"its input {one.asset} is not the data that the run was given."


def _opening(certificate: "Certificate", folder: Path) -> "Record | None":
    from policy_engine.certificate.record import find_opening_record, load_record  # noqa: PLC0415

    for path in _files(folder, "*.json"):
        try:
            return find_opening_record(load_record(path), certificate.commitment)
        except PolicyEngineError:
            continue
    return None


def _other_output(certificate: "Certificate", release: Path) -> Iterator[str]:
    from policy_engine.certificate.beside import stored_output  # noqa: PLC0415 (slow)

    name = certificate.file or ""
    place = release / name
    if not name or place.parent != release or place.is_symlink() or not place.exists():
        yield "the output that it names is not beside it."
    elif stored_output(certificate, place).digest != certificate.output_digest:
        yield "the output beside it is another one."


def _files(folder: Path, pattern: str) -> Sequence[Path]:
    if folder.is_symlink():
        return ()
    return [one for one in sorted(folder.glob(pattern)) if one.is_file() and not one.is_symlink()]
