"""The rules of a profile, applied to every cell of a table of results.

What each class of statistics must satisfy is one table, `RULES`; each rule is a function of one
statistic's evidence and the profile, and returns the reasons against each cell as bits. Thresholds
are those of the profile and nowhere else: L. Brandt et al., Guidelines for the checking of output
based on microdata research (2010; Data without Boundaries, deliverable 11.8, 2015), and what each
profile names as its source.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import (
    Counts,
    Figures,
    ResultTable,
    ShownStatistic,
    Statbarn,
    TableVerdict,
)
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.methods.output_checks.profile import NEARLY_ALL, OutputProfile

Masks = NDArray[np.uint32]
Rule = Callable[[ShownStatistic, OutputProfile], Masks]
_TOLERANCE = 1e-9
"""Tolerance: shares and coefficients are floats, and equal if they differ by no more than this."""


def judge(table: ResultTable, check: OutputCheck) -> TableVerdict:
    """Return which cells of a table the check's profile releases, and why not the others.

    Each cell is judged by itself: what others would reveal of it is for `suppress_table`.
    """
    shape = (len(table.codes), len(table.measures))
    reasons = np.zeros(shape, dtype=np.uint32)
    for number, measure in enumerate(table.measures):
        for statistic in measure.statistics:
            reasons[:, number] |= judge_statistic(statistic, check.profile)
    return TableVerdict(table, check, reasons)


def judge_statistic(statistic: ShownStatistic, profile: OutputProfile) -> Masks:
    """Return the reasons (bits) against showing a statistic, for each row."""
    masks = np.zeros(len(statistic.evidence.units), dtype=np.uint32)
    with np.errstate(over="ignore", invalid="ignore"):  # What is infinite is not known.
        for rule in RULES[statistic.statbarn]:
            masks |= rule(statistic, profile)
    return masks


def _where(condition: NDArray[np.bool_], reason: Reason) -> Masks:
    return np.where(condition, np.uint32(reason.bit), np.uint32(0))


def _everywhere(statistic: ShownStatistic, reason: Reason) -> Masks:
    return np.full(len(statistic.evidence.units), reason.bit, dtype=np.uint32)


def _has_units(statistic: ShownStatistic, profile: OutputProfile) -> NDArray[np.bool_]:
    """Return which cells are about anybody, or tell something by being about nobody."""
    if profile.zeros_disclosive:
        return np.ones(len(statistic.evidence.units), dtype=np.bool_)
    return statistic.evidence.units > 0


# -- rules -------------------------------------------------------------------------------------


def few_units(statistic: ShownStatistic, profile: OutputProfile) -> Masks:
    """Threshold rule: of units in the cell, and of those in the row that the cell leaves out.

    Nobody in the cell is not too few, unless zeros are disclosive.
    """
    evidence, least = statistic.evidence, profile.min_units
    masks = _where((evidence.units < least) & _has_units(statistic, profile), Reason.FEW_UNITS)
    if (rarest := evidence.units_of_rarest_value) is not None:
        masks |= _where((rarest < least) & _has_units(statistic, profile), Reason.FEW_UNITS)
    if evidence.left_out is not None:
        is_few = (evidence.left_out > 0) & (evidence.left_out < least)
        masks |= _where(is_few, Reason.FEW_UNITS)
    return masks


def group_disclosure(statistic: ShownStatistic, profile: OutputProfile) -> Masks:
    """Group disclosure: one value for everybody, or for nearly all of a line; none of a line, where
    zeros are disclosive; and more of a line than the profile's largest share, if it has one.

    Nearly all are more than nine in ten, and all but too few units, as the threshold rule counts
    them: a majority of thousands, which hundreds are not in, is said of nobody.
    """
    evidence, most = statistic.evidence, profile.max_group_share
    is_group = np.zeros(len(evidence.units), dtype=np.bool_)
    if evidence.is_constant is not None:
        is_group |= evidence.is_constant
    if (shares := evidence.group_share) is not None:
        is_group |= _nearly_all(shares, evidence.rest_of_line, profile)
        is_group |= (shares <= 0) & profile.zeros_disclosive
        is_group |= shares > (1 if most is None else most) + _TOLERANCE
    return _where(is_group, Reason.GROUP_DISCLOSURE)


def _nearly_all(
    shares: Figures, rest: Figures | Counts | None, profile: OutputProfile
) -> NDArray[np.bool_]:
    """Return where a share is that of nearly all units; `rest` are those who are not in it."""
    is_most = shares > NEARLY_ALL + _TOLERANCE
    return is_most if rest is None else is_most & (rest < profile.min_units)


def dominance(statistic: ShownStatistic, profile: OutputProfile) -> Masks:
    """Concentration rules (1, k), (2, k) and p%, on absolute values.

    They are undefined where contributions differ in sign. A profile that has none of them has no
    say about totals.
    """
    evidence = statistic.evidence
    if not profile.has_dominance:
        return _everywhere(statistic, Reason.NO_THRESHOLD)
    largest, second, total = evidence.largest, evidence.second, evidence.total
    if largest is None or second is None or total is None or evidence.negatives is None:
        return _everywhere(statistic, Reason.EVIDENCE_MISSING)
    slack = _TOLERANCE * total
    masks = _where((evidence.negatives > 0) & (evidence.units > 0), Reason.NEGATIVE_VALUES)
    masks |= _where(~np.isfinite(total) & (evidence.units > 0), Reason.EVIDENCE_MISSING)
    if (most := profile.max_largest_share) is not None:
        masks |= _where(largest > most * total + slack, Reason.LARGEST_DOMINATES)
    if (most := profile.max_two_largest_share) is not None:
        masks |= _where(largest + second > most * total + slack, Reason.TWO_LARGEST_DOMINATE)
    if (share := profile.p_percent) is not None:
        rest = total - largest - second
        is_close = rest + slack < share * largest
        masks |= _where(is_close, Reason.LARGEST_CAN_BE_ESTIMATED)
    return masks


def row_dominance(statistic: ShownStatistic, profile: OutputProfile) -> Masks:
    """Concentration rules on counts of rows, where a unit has several: they are contributions."""
    if statistic.evidence.largest is None:
        return np.zeros(len(statistic.evidence.units), dtype=np.uint32)
    return dominance(statistic, profile)


def spread_dominance(statistic: ShownStatistic, profile: OutputProfile) -> Masks:
    """Concentration rules on what has a shape: one contribution that is most of a total is most of
    the spread, too. Whether contributions differ in sign has no say.

    Of sizes that are not known nothing is said, nor by a profile without such rules.
    """
    if statistic.evidence.largest is None or not profile.has_dominance:
        return np.zeros(len(statistic.evidence.units), dtype=np.uint32)
    return dominance(statistic, profile) & ~np.uint32(Reason.NEGATIVE_VALUES.bit)


def no_extreme(statistic: ShownStatistic, profile: OutputProfile) -> Masks:  # noqa: ARG001
    """Smallest and largest values are never released."""
    return _everywhere(statistic, Reason.EXTREME)


def percentile(statistic: ShownStatistic, profile: OutputProfile) -> Masks:
    """Percentiles: of enough units for how far out they are, with enough on either side.

    Where it is known who has the value itself, enough units must: of a group that who asks chooses,
    a percentile is the value of a person whom the rest of the group encloses.
    """
    evidence = statistic.evidence
    if not profile.has_percentiles:
        return _everywhere(statistic, Reason.NO_THRESHOLD)
    masks = np.zeros(len(evidence.units), dtype=np.uint32)
    if profile.percentile_ladder:
        least = profile.ladder_units(statistic.tail + _TOLERANCE)
        is_few = np.ones_like(evidence.units, dtype=np.bool_)
        is_few = is_few if least is None else evidence.units < least
        masks |= _where(is_few, Reason.FEW_UNITS_BEYOND)
    if (least := profile.units_beyond_percentile) is not None:
        if evidence.below is None or evidence.above is None:
            return masks | _everywhere(statistic, Reason.EVIDENCE_MISSING)
        is_few = np.minimum(evidence.below, evidence.above) < least
        masks |= _where(is_few, Reason.FEW_UNITS_BEYOND)
    return masks | _few_tied(statistic, profile)


def _few_tied(statistic: ShownStatistic, profile: OutputProfile) -> Masks:
    tied = statistic.evidence.tied
    if tied is None:
        return np.zeros(len(statistic.evidence.units), dtype=np.uint32)
    return _where(tied < profile.min_units, Reason.FEW_UNITS_BEYOND)


def degrees_of_freedom(statistic: ShownStatistic, profile: OutputProfile) -> Masks:
    """Estimates: enough degrees of freedom, of units and not of rows."""
    degrees, least = statistic.evidence.degrees_of_freedom, profile.min_degrees_of_freedom
    if least is None:
        return _everywhere(statistic, Reason.NO_THRESHOLD)
    if degrees is None:
        return _everywhere(statistic, Reason.EVIDENCE_MISSING)
    return _where(~(degrees >= least), Reason.FEW_DEGREES_OF_FREEDOM)


def coefficients(statistic: ShownStatistic, profile: OutputProfile) -> Masks:
    """Correlations are not exact; coefficients of models have degrees of freedom, and are not the
    means of the groups that one or two values of an explanatory variable form."""
    evidence = statistic.evidence
    masks = np.zeros(len(evidence.units), dtype=np.uint32)
    if statistic.is_implicit_table:
        masks |= _everywhere(statistic, Reason.IMPLICIT_TABLE)
    if evidence.levels is not None:
        masks |= _where(evidence.levels <= _LEVELS_OF_TABLE, Reason.IMPLICIT_TABLE)
    if evidence.coefficient is None and evidence.degrees_of_freedom is None:
        return masks | _everywhere(statistic, Reason.EVIDENCE_MISSING)
    if evidence.coefficient is not None:
        sizes = np.abs(evidence.coefficient)
        is_exact = (sizes < _TOLERANCE) | (np.abs(sizes - 1) < _TOLERANCE) | np.isnan(sizes)
        masks |= _where(is_exact, Reason.EXACT_CORRELATION)
    if evidence.degrees_of_freedom is not None:
        masks |= degrees_of_freedom(statistic, profile)
    return masks


_LEVELS_OF_TABLE = 2


def common_mode(statistic: ShownStatistic, profile: OutputProfile) -> Masks:
    """Modes: not of nearly all units, or more than the largest share, nor of few: then it is the
    value of somebody."""
    evidence, most = statistic.evidence, profile.max_mode_share
    if most is None:
        return _everywhere(statistic, Reason.NO_THRESHOLD)
    if evidence.mode_share is None:
        return _everywhere(statistic, Reason.EVIDENCE_MISSING)
    is_common = ~(evidence.mode_share <= most + _TOLERANCE)
    rest = None if evidence.tied is None else evidence.units - evidence.tied
    is_common |= _nearly_all(evidence.mode_share, rest, profile)
    return _where(is_common, Reason.COMMON_MODE) | _few_tied(statistic, profile)


def needs_checker(statistic: ShownStatistic, profile: OutputProfile) -> Masks:  # noqa: ARG001
    """Statistics that no rule of a profile judges are looked at by a person."""
    return _everywhere(statistic, Reason.NEEDS_CHECKER)


RULES: Mapping[Statbarn, tuple[Rule, ...]] = MappingProxyType(
    {
        Statbarn.FREQUENCIES: (few_units, group_disclosure, row_dominance),
        Statbarn.LINEAR_AGGREGATIONS: (few_units, group_disclosure, dominance),
        Statbarn.POSITION: (few_units, group_disclosure, percentile),
        Statbarn.ENDPOINTS: (few_units, no_extreme),
        Statbarn.MODE: (few_units, common_mode),
        Statbarn.SHAPE: (few_units, group_disclosure, spread_dominance, degrees_of_freedom),
        Statbarn.CORRELATION_COEFFICIENTS: (few_units, coefficients),
        Statbarn.CALCULATED_RATIOS: (few_units, group_disclosure, dominance),
        Statbarn.HAZARD_SURVIVAL_TABLES: (few_units, group_disclosure),
        Statbarn.NON_LINEAR_CONCENTRATION_RATIOS: (few_units, dominance),
        Statbarn.GINI_COEFFICIENT: (few_units, dominance),
        Statbarn.STATISTICAL_HYPOTHESIS_TESTS: (few_units, degrees_of_freedom),
        Statbarn.LINKED_MULTILEVEL_TABLES: (few_units, group_disclosure, needs_checker),
        Statbarn.CLUSTERS: (few_units, needs_checker),
        Statbarn.OTHER: (few_units, needs_checker),
    }
)
"""What each class of statistics must satisfy."""
