import pyarrow as pa
import pytest

from policy_engine.engines.masking.categories import codes_of
from policy_engine.errors import DataError


def test_a_value_that_was_not_there_is_refused():
    with pytest.raises(DataError, match="C010 The data had different values"):
        codes_of(pa.chunked_array([["d"]]), pa.array(["a", "b"]))
