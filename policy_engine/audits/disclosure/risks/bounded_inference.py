"""What a release tells of values, as far as a policy bounds it."""

from collections.abc import Iterator, Sequence

from policy_engine.audits.disclosure.files import KnownColumn
from policy_engine.audits.disclosure.risks.attributes import inferred
from policy_engine.audits.disclosure.risks.result import Risk
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.attribute_inference import AttributeInference
from policy_engine.methods.disclosure import InferenceMeasurement


def bounded_inference(
    method: AttributeInference, columns: Sequence[KnownColumn], records: int
) -> Iterator[InferenceMeasurement]:
    """Yield how well each column is guessed by the known ones; `columns` are both, of as many
    released `records`."""
    known = [one for one in columns if one.name in method.known]
    for column in columns:
        if column.name in method.learned:
            found = inferred(known, column)
            baseline, reached = 0.0, None
            if isinstance(found, Risk) and found.low is not None and found.high is not None:
                baseline = found.baseline or 0.0
                reached = Estimate(value=found.value, low=found.low, high=found.high)
            yield InferenceMeasurement(
                bound=method.bound,
                column=column.name,
                known=tuple(one.name for one in known),
                records=records,
                baseline=baseline,
                reached=reached or NotApplicable(reason=getattr(found, "reason", "")),
            )
