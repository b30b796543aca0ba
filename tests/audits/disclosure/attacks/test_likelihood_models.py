"""Which maskings make values likely in a way that is known."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from policy_engine import terms
from policy_engine.audits.disclosure.attacks.transparency import (
    LIKELIHOOD_MODELS,
    likelihood_linkage,
)
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.methods.masking import masking_class

WITHOUT = {
    "shuffling": "its ranks follow from all other rows: the original is masked again",
    "pixelation": "no attack compares images",
}


@pytest.mark.parametrize("notation", terms.maskings())
def test_a_masking_has_a_model_of_its_likelihood_or_a_reason_for_none(notation):
    is_modelled = issubclass(masking_class(notation), tuple(LIKELIHOOD_MODELS))
    assert is_modelled != (notation in WITHOUT)


@pytest.mark.parametrize("masking", ["noise", "correlated-noise"])
def test_a_column_without_values_says_nothing(masking):
    nothing, pay = pa.nulls(4, pa.float64()), [0.0, 10.0, 20.0, 30.0]
    table = pa.table({"nothing": nothing, "pay": pay})
    method = masking_class(masking)(name="nothing", sdShare=1)
    columns = known_columns(table, table, ["nothing", "pay"], None, {})
    columns = (replace(columns[0], masking=method), columns[1])
    files = TwoFiles(columns, np.arange(4), 4, is_published=True)
    assert likelihood_linkage(files).tolist() == [1, 1, 1, 1]
