"""What a release tells of values, as far as a policy bounds it."""

from collections.abc import Iterator, Sequence

from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.audits.disclosure.risks.inference import inferences
from policy_engine.audits.disclosure.risks.result import NoRisk, Risk
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.attribute_inference import AttributeInference
from policy_engine.methods.disclosure import InferenceMeasurement


def bounded_inference(
    method: AttributeInference, files: TwoFiles, learned_columns: Sequence[KnownColumn]
) -> Iterator[InferenceMeasurement]:
    """Yield how well each column is guessed by those of the files, which are known."""
    by_name, records = {one.name: one for one in learned_columns}, files.released
    for name in method.learned:
        risks = inferences(files, by_name[name])
        if isinstance(risks, NoRisk):
            nothing = NotApplicable(reason=risks.reason)
            yield _measurement(method, name, method.known, records, nothing)
        else:
            figures = [_figure(method, one, records) for one in risks]
            yield max(figures, key=_most_learned)


def _most_learned(one: InferenceMeasurement) -> tuple[float, float]:
    assert isinstance(one.reached, Estimate)  # noqa: S101 (it was measured)
    return one.most_learned, one.reached.value


def _figure(method: AttributeInference, risk: Risk, records: int) -> InferenceMeasurement:
    assert risk.low is not None and risk.high is not None  # noqa: S101, PT018 (an estimate)
    reached = Estimate(value=risk.value, low=risk.low, high=risk.high)
    return _measurement(
        method, risk.column, risk.known, records, reached, baseline=risk.baseline or 0.0
    )


def _measurement(
    method: AttributeInference,
    column: str,
    names: tuple[str, ...],
    records: int,
    reached: Estimate | NotApplicable,
    *,
    baseline: float = 0.0,
) -> InferenceMeasurement:
    return InferenceMeasurement(
        bound=method.bound,
        column=column,
        known=names,
        records=records,
        baseline=baseline,
        reached=reached,
    )
