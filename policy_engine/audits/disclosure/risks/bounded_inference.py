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
    known_columns = [one for one in columns if one.name in method.known]
    for column in columns:
        if column.name in method.learned:
            risk = inferred(known_columns, column)
            baseline, reached = 0.0, None
            if isinstance(risk, Risk) and risk.low is not None and risk.high is not None:
                baseline = risk.baseline or 0.0
                reached = Estimate(value=risk.value, low=risk.low, high=risk.high)
            yield InferenceMeasurement(
                bound=method.bound,
                column=column.name,
                known=tuple(one.name for one in known_columns),
                records=records,
                baseline=baseline,
                reached=reached or NotApplicable(reason=getattr(risk, "reason", "")),
            )
