"""Rows left out of Mondrian's classes: on Spark those of the local engine, however divided."""

import pyarrow as pa
import pytest
from both import both, check_same
from building import column
from test_trimmed_classes import ASKED, ONE_OUTLIER, OPTIONS, skewed

pytestmark = pytest.mark.usefixtures("few_rows")
QUASI = ["age", column("pay", weight=2), "job"]
KEPT = {"insensitive": ["row"], "maxSuppression": 0.05}


def check(found):
    """Check that both releases leave the same rows out, for the same gain."""
    check_same(found)
    assert found.spark.record.suppressed == found.local.record.suppressed
    assert found.spark.record.gain == found.local.record.gain


@pytest.mark.nightly
def test_one_outlier_is_left_out(cluster):
    found = both(cluster, ONE_OUTLIER, 3, maxSuppression=0.1, insensitive=["row"], **ASKED)
    assert found.local.record.suppressed == 1
    check(found)


@pytest.mark.nightly
@pytest.mark.parametrize("partitions", [1, pytest.param(5, marks=pytest.mark.nightly)])
def test_rows_in_long_tails_are_left_out(cluster, partitions):
    found = both(cluster, skewed(), partitions, **{**ASKED, "quasi": QUASI}, **KEPT)
    assert found.local.record.suppressed > 0
    assert found.nodes > 1
    check(found)


@pytest.mark.nightly
@pytest.mark.parametrize("options", OPTIONS[1:])
def test_options_are_as_on_the_local_engine(cluster, options):
    found = both(cluster, skewed(200), 3, **{**ASKED, "quasi": QUASI}, **KEPT, **options)
    check(found)


@pytest.mark.nightly
def test_bounds_persons_and_pseudonyms_are_as_on_the_local_engine(cluster):
    table = skewed(300).append_column("who", pa.array([f"p{n // 2}" for n in range(300)]))
    close = {"method": "t-closeness", "t": 0.4, "sensitive": ["ill"], "privacyUnit": "who"}
    found = both(cluster, table, 3, **{**ASKED, "quasi": QUASI, **close}, **KEPT)
    check(found)


@pytest.mark.nightly
def test_columns_are_masked_once_rows_are_left_out(cluster):
    coded = column("row", masking="top-coding", tail=3, replacement="mean")
    asked = {**ASKED, "masked": [coded], "maxSuppression": 0.1}
    found = both(cluster, ONE_OUTLIER, 2, **asked)
    assert found.local.record.suppressed == 1
    check(found)


@pytest.mark.nightly
def test_a_csv_file_is_read_by_both(cluster, tmp_path):
    path = tmp_path / "in.csv"
    lines = zip(*ONE_OUTLIER.values(), strict=True)
    rows = [",".join(map(str, line)) for line in lines]
    path.write_text("\n".join([",".join(ONE_OUTLIER), *rows]) + "\n")
    found = both(cluster, path, maxSuppression=0.1, insensitive=["row"], **ASKED)
    assert found.local.record.suppressed == 1
    check(found)
