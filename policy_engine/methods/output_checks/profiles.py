"""The profiles that a policy may name, with the thresholds that are published of each.

What is known only at second hand says so in its source, and where institutions publish no threshold
none is made up. D. Bond, M. Brandt, P.-P. de Wolf: Guidelines for the checking of output based on
microdata research, Data without Boundaries, deliverable 11.8, 2015, is the origin of most of them.
"""

from collections.abc import Mapping
from types import MappingProxyType

from policy_engine.methods.output_checks.profile import NEARLY_ALL, OutputProfile, PercentileStep


def _steps(*pairs: tuple[float, int]) -> tuple[PercentileStep, ...]:
    return tuple(PercentileStep(share=share, units=units) for share, units in pairs)


PROFILES: Mapping[str, OutputProfile] = MappingProxyType(
    {
        one.notation: one
        for one in (
            OutputProfile(
                notation="dwb-2015",
                version="2015",
                source="Data without Boundaries, deliverable 11.8 (2015), rules of thumb. Maxima, "
                "minima and percentiles are not released.",
                min_units=10,
                max_group_share=NEARLY_ALL,
                max_mode_share=NEARLY_ALL,
                max_largest_share=0.5,
                min_degrees_of_freedom=10,
            ),
            OutputProfile(
                notation="sacro",
                version="1.0",
                source="ACRO 1.0, the defaults of its risk appetite, which have no largest share "
                "of a row, a column or a mode.",
                min_units=10,
                max_mode_share=1.0,
                max_two_largest_share=0.9,
                p_percent=0.1,
                min_degrees_of_freedom=10,
                units_beyond_percentile=10,
                zeros_disclosive=True,
                round_base=5,
            ),
            OutputProfile(
                notation="abs",
                version="2024",
                source="Australian Bureau of Statistics, DataLab: rule of 10, dominance of "
                "absolute values.",
                min_units=10,
                max_largest_share=0.5,
                max_two_largest_share=0.67,
            ),
            OutputProfile(
                notation="bundesbank",
                version="2022",
                source="Deutsche Bundesbank, as sdcLog has it: five distinct entities, (2, 85%).",
                min_units=5,
                max_two_largest_share=0.85,
            ),
            OutputProfile(
                notation="iab",
                version="2024",
                source="Institut für Arbeitsmarkt- und Berufsforschung, at second hand: 20 units; "
                "percentiles by how far out they are.",
                min_units=20,
                percentile_ladder=_steps(
                    (0.5, 20), (0.25, 40), (0.1, 80), (0.05, 200), (0.01, 400)
                ),
            ),
            OutputProfile(
                notation="statcan",
                version="2024",
                source="Statistics Canada, research data centres, at second hand: five units; "
                "quartiles and deciles of 20, percentiles of 400.",
                min_units=5,
                percentile_ladder=_steps((0.1, 20), (0.01, 400)),
            ),
            OutputProfile(
                notation="fsrdc",
                version="4",
                source="US federal statistical research data centers, handbook v4, at second hand: "
                "three units; percentiles of 11, five on each side; four significant digits.",
                min_units=3,
                percentile_ladder=_steps((0.01, 11)),
                units_beyond_percentile=5,
                significant_digits=4,
            ),
        )
    }
)
"""The profiles by their notation."""
