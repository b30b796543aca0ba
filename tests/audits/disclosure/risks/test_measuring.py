"""Figures of releases in which no column makes classes."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.risks.measuring import RiskInputs, measure_risks
from policy_engine.errors import DataError
from policy_engine.methods.maskings.noise import Noise

BEFORE = pa.table({"age": [20, 30, 40]})
NOISE = Noise(name="age", masking="noise", sd_share=0.5)


def noisy_files():
    columns = known_columns(BEFORE, pa.table({"age": [27.0, 24, 40]}), ["age"], None, {})
    masked = tuple(replace(one, masking=NOISE) for one in columns)
    return TwoFiles(masked, np.arange(3), 3, is_published=True)


def test_every_measure_of_classes_has_its_reason_where_no_column_makes_any():
    reasons = {one.measure: one.reason for one in measure_risks(noisy_files()).not_run}
    for name in ("prosecutor", "sample-uniques", "marketer", "journalist", "k-map", "presence"):
        assert reasons[name] == "no known column makes classes"


def test_a_population_smaller_than_the_release_is_refused_where_no_column_makes_classes():
    files = noisy_files()
    [column] = files.columns
    few = RiskInputs(population=(replace(column, before=column.before[:1]),))
    with pytest.raises(DataError, match="it has 1 person, and the release 3 records"):
        measure_risks(files, few)
    assert measure_risks(files, RiskInputs(population=files.columns)).not_run
