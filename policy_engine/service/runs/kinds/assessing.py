"""Runs that tell what an intruder can still do to a release."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from policy_engine.errors import DataError, did_you_mean
from policy_engine.service.runs.jobs import RunInputs
from policy_engine.service.runs.kinds.sanitising import RELEASE
from policy_engine.service.runs.kinds.settings import (
    DatasetId,
    Name,
    Names,
    ReleaseId,
    RunSettings,
    Seconds,
    Share,
    show,
)


class Assessing(RunSettings):
    """What `audit_disclosure` takes: a release, by the run that made it, and its original.

    `file` says which output is meant, where the release has several.
    """

    about: ClassVar[str] = (
        "Attacks a released table as an intruder would who knows some columns of the original."
    )

    release: ReleaseId
    """The release that is attacked."""
    original: DatasetId
    """The data that it was made of."""
    file: Name = ""
    """The output that is meant, by its file, where the release has several."""
    known: Names = ()
    """The columns that an intruder knows; without any, all that are generalised or masked."""
    match: Names = ()
    """The columns by which rows belong together; without any, those published as they are."""
    same_order: bool = False
    """The rows of both tables are in one order."""
    attacks: Names = ()
    """The only attacks that are made, by their names."""
    seconds: Seconds = 10.0
    """How long a family of learned distances is searched."""
    sensitive: Names = ()
    """The columns that nobody should learn; without any, those of the policy."""
    population: DatasetId | None = None
    """A table of everybody of whom the release may be a part; without it, the original."""
    weights: Name = ""
    """The column that says for how many persons of the population a row stands."""
    threshold: Share = 0.2
    """The share of records whose risk is above this is told."""
    holdout: DatasetId | None = None
    """Persons who were never in the original: finding them is a mistake."""
    agreement: Annotated[int, Field(ge=2, le=1000)] = 10
    """Numbers agree that are in the same of so many bins."""

    @property
    def dataset_ids(self) -> tuple[str, ...]:
        """The datasets whose files the run reads."""
        others = (one for one in (self.population, self.holdout) if one)
        return tuple(dict.fromkeys((self.original, *others)))

    @property
    def release_ids(self) -> tuple[str, ...]:
        """The run whose release is attacked."""
        return (self.release,)

    @property
    def is_distributed(self) -> bool:
        """Whether it asks for nothing that is for one machine alone."""
        return not (self.same_order or self.holdout)

    def carry_out(self, inputs: RunInputs) -> dict[str, Any]:
        """Return how many rows are attacked; the figures and the page are shown."""
        from policy_engine.api.disclosing import audit_disclosure  # noqa: PLC0415 (slow)

        audit = audit_disclosure(
            inputs.files[self.original],
            self._output(inputs),
            known=self.known,
            match=self.match,
            same_order=self.same_order,
            attacks=self.attacks,
            seconds=self.seconds,
            agreement=self.agreement,
            sensitive=self.sensitive,
            population=inputs.files[self.population] if self.population else None,
            weights=self.weights,
            threshold=self.threshold,
            holdout=inputs.files[self.holdout] if self.holdout else None,
            engine=inputs.engine,
            out=inputs.scratch / "audit",
            progress=inputs.progress,
        )
        show(inputs, sorted((inputs.scratch / "audit").iterdir()))
        return {"rows": audit.rows, "released": audit.released}

    def _output(self, inputs: RunInputs) -> Any:
        """Return the output that is attacked, by its name among those of the release."""
        folder = inputs.releases[self.release] / RELEASE
        if not self.file:
            return folder
        outputs = {one.name: one for one in folder.iterdir()}
        if self.file not in outputs:
            message = f"The release has no output {self.file!r}."
            raise DataError.of("C002", message, did_you_mean(self.file, outputs))
        return outputs[self.file]
