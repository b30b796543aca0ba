import numpy as np
import pytest
from asking_cells import answer, one_of

from policy_engine.release.output_ledger import OutputCell, OutputLedger, Populations, Protection

UNITS = 12


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def parts(total, value, protection, bounds):
    """Return a total of six units, and the suppressed sums of two halves of them."""
    populations = one_of(UNITS, range(6)).joined(Populations.of_labels(np.arange(UNITS) // 3))
    cells = (
        OutputCell(0, "sum:x", total, 3),
        OutputCell(1, "sum:x", value, 3, is_released=False, protection=protection),
        OutputCell(2, "sum:x", total - value, 3, is_released=False),
    )
    return answer(populations, *cells, bounds={"x": bounds} if bounds else {})


@pytest.mark.parametrize(
    ("share", "bounds", "code"),
    [
        (0.5, (0.0, 100.0), ()),
        (1.5, (0.0, 100.0), ("K045",)),  # From 0 to 60, not from -15 to 75.
        (0.5, (0.0, 12.0), ("K045",)),  # From 24 to 36, not from 15 to 45.
        (1.5, None, ()),
    ],
)
def test_a_suppressed_sum_is_bounded_by_a_total_and_contributions(ledger, share, bounds, code):
    asked = parts(60.0, 30.0, Protection(share=share), bounds)
    assert ledger.check_and_record(asked).codes == code


def test_a_total_at_its_bound_tells_every_contribution(ledger):
    asked = parts(0.0, 0.0, Protection(), (0.0, 100.0))
    assert ledger.check_and_record(asked).codes == ("K045",)


def test_a_value_that_is_not_there_leaves_bounds_undecided(ledger):
    populations = one_of(UNITS, range(6)).joined(Populations.of_labels(np.arange(UNITS) // 3))
    cells = (
        OutputCell(0, "sum:x", None, 3),
        OutputCell(1, "sum:x", 3.0, 3, is_released=False, protection=Protection(share=0.1)),
    )
    outcome = ledger.check_and_record(answer(populations, *cells, bounds={"x": (0.0, 9.0)}))
    assert (outcome.state, outcome.codes) == ("review", ("K048",))


def test_a_suppressed_count_is_bounded_by_whole_numbers_of_at_least_nothing(ledger):
    populations = one_of(UNITS, range(6)).joined(one_of(UNITS, range(2)))

    def asked(above):
        hidden = OutputCell(
            1, "count", 2.0, 3, is_released=False, protection=Protection(above=above)
        )
        return answer(populations, OutputCell(0, "count", 6.0, 3), hidden)

    assert ledger.would_record(asked(5)).codes == ("K045",)
    assert ledger.would_record(asked(4)).codes == ()
