"""The noise of plans against PipelineDP's, where it is installed: pip install pipeline-dp."""

from fractions import Fraction

import pytest
from asking_statistics import DAYS, ROWS, UNITS, step_of

pipeline_dp = pytest.importorskip("pipeline_dp")

DELTA = {"@value": "0.000001", "@type": "xsd:decimal"}
FIGURES = {
    "count-units": (UNITS, "compute_sensitivities_for_privacy_id_count"),
    "count": (ROWS, "compute_sensitivities_for_count"),
    "sum": (DAYS, "compute_sensitivities_for_sum"),
}


def sensitivities(function, groups, rows):
    """Return PipelineDP's sensitivities to one unit, of figures of 0 to 14."""
    computations = pipeline_dp.dp_computations
    bounds = pipeline_dp.AggregateParams(
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        metrics=[pipeline_dp.Metrics.COUNT],
        max_partitions_contributed=groups,
        max_contributions_per_partition=rows,
        min_value=0,
        max_value=14,
    )
    return getattr(computations, function)(bounds)


@pytest.mark.parametrize("bounds", [(1, 1), (3, 1), (1, 4), (3, 4)])
@pytest.mark.parametrize("name", FIGURES)
def test_laplace_noise_has_the_scale_of_pipeline_dp(name, bounds):
    figure, function = FIGURES[name]
    groups, rows = bounds
    step = step_of(figure, maxGroupsPerUnit=groups, maxRowsPerGroup=rows)
    [noise] = step.noises()
    theirs = pipeline_dp.dp_computations.LaplaceMechanism.create_from_epsilon(
        1.0, sensitivities(function, groups, rows).l1
    )
    assert noise.mechanism == "discrete-laplace"
    assert float(Fraction(noise.scale)) == pytest.approx(theirs.noise_parameter, rel=1e-6)


@pytest.mark.parametrize("bounds", [(1, 1), (9, 1), (4, 4)])
@pytest.mark.parametrize("name", FIGURES)
def test_gaussian_noise_has_the_deviation_of_pipeline_dp(name, bounds):
    figure, function = FIGURES[name]
    groups, rows = bounds
    step = step_of(
        figure,
        maxGroupsPerUnit=groups,
        maxRowsPerGroup=rows,
        delta=DELTA,
        mechanism="discrete-gaussian",
    )
    [noise] = step.noises()
    theirs = pipeline_dp.dp_computations.GaussianMechanism.create_from_epsilon_delta(
        1.0, 1e-6, sensitivities(function, groups, rows).l2
    )
    assert noise.mechanism == "discrete-gaussian"
    assert float(Fraction(noise.scale)) == pytest.approx(theirs.std, rel=0.01)
