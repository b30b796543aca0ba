"""Whether what a run leaves is of the run: its policy, its plan, its input and its output.

What a run leaves was made by a process that reads data of others, and whose word is not enough to
sign by.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.runs.jobs import Job
from policy_engine.service.runs.kinds.settings import OnPolicy, kept_policy
from policy_engine.service.runs.results import bounded_contents

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.certificate.record import Record
    from policy_engine.policy import Policy

RECORD = "record"
"""The folder of a result that has the records of its releases, which is for the owner alone."""
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class ExpectedResult:
    """What the certificates of a run have to say: by its job, its settings, and when it began."""

    job: Job
    settings: OnPolicy
    began: datetime

    def check(self, certificate: "Certificate", release: Path) -> None:
        """Raise ServiceError (N022) for a certificate in the folder of a release that is not of
        this run: of another policy, plan, engine, input or output, another time, or made from what
        the run was not given. Its figures are measured by `MeasuringAgain`."""
        problem = next(self._strange(certificate, release), "")
        if problem:
            asset = certificate.plan.publish.asset
            raise ServiceError.of("N022", f"The certificate of {asset} is not signed: {problem}")

    @property
    def evidence(self) -> tuple[dict[str, str], ...]:
        """What the signature says that the policy of the run was published with; empty without."""
        from policy_engine.policy.signing import held_signature, policy_evidence  # noqa: PLC0415

        kept = self.job.policy
        signature = held_signature(kept.signature) if kept is not None else None
        return () if signature is None else policy_evidence(kept_policy(kept), signature)

    def _strange(self, certificate: "Certificate", release: Path) -> Iterator[str]:
        from policy_engine.decision.outputs import is_certified  # noqa: PLC0415 (slow)

        policy, plan = kept_policy(self.job.policy), certificate.plan
        if (plan.policy, plan.policy_digest) != (policy.uid, policy.digest):
            yield f"it is of a version of {plan.policy} that the run is not about."
        elif not is_certified(certificate, policy):
            yield "it does not prove what the policy of the run asks for."
        else:
            yield from self._other_making(certificate)
            yield from self._other_input(certificate, policy, release.with_name(RECORD))
            yield from _other_output(certificate, release)

    @property
    def _engine(self) -> str:
        """The engine of the run, by its job: what a run says of it would choose what is checked."""
        return "local" if self.job.cluster is None else "spark"

    def _other_making(self, certificate: "Certificate") -> Iterator[str]:
        """Yield what a certificate says of its making that is not so.

        Runs get data, and no certificates of it: none of what they make is known to be made from
        another release. They are the owner's, and sign nothing themselves.
        """
        if certificate.signature is not None:
            yield "the run signed it itself."
        if certificate.plan.engine != self._engine:
            yield "it says that another engine made it than that of the run."
        if certificate.upstream:
            yield "it says that it was made from releases that the run was not given."
        if certificate.made_by != "owner":
            yield "it says that somebody else made it than the owner."
        # Times of certificates are to the second.
        if not self.began - _SECOND < certificate.time <= datetime.now(UTC) + _SECOND:
            yield "it says that it was made at another time than that of the run."

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
        if record.engine != self._engine:
            yield "its record says that another engine made it than that of the run."
        for one in record.inputs:
            file = self.job.files[data[one.asset]]
            if self._is_hashed(file) and StoredData.from_file(file).digest != one.digest:
                yield f"its input {one.asset} is not the data that the run was given."

    def _is_hashed(self, file: Path) -> bool:
        """Tell whether the digest of an input is that of its file: Spark has that of the rows where
        a file is too large for one of its tasks, which nothing but Spark works out."""
        from policy_engine.engines.spark.hashing import MOST_HASHED  # noqa: PLC0415 (few need it)

        return self._engine == "local" or file.stat().st_size <= MOST_HASHED


def _opening(certificate: "Certificate", folder: Path) -> "Record | None":
    from policy_engine.certificate.record import find_opening_record, read_record  # noqa: PLC0415

    for content in bounded_contents(_files(folder, "*.json")).values():
        try:
            return find_opening_record(read_record(content), certificate.commitment)
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
