"""What `certify` says on a cluster of releases that are made again with another key, or none."""

import pandas as pd
import pytest
from applying import asking
from building import DATASET, column

from policy_engine import apply_policy, certify_output
from policy_engine.errors import CertificateError, DataError

pytestmark = pytest.mark.usefixtures("few_rows")
ASKED = {
    "method": "k-anonymity",
    "k": 2,
    "quasi": ["age"],
    "privacyUnit": "who",
    "masked": [column("pay", masking="noise", sdShare=0.5)],
}


def released(cluster, folder):
    """Return where a release is that Spark made with a key, and how it is certified."""
    table = {"who": [n // 2 for n in range(40)], "age": [n % 7 for n in range(40)]}
    pd.DataFrame(table | {"pay": range(40)}).to_parquet(folder / "in.parquet")
    given, made = (asking(**ASKED), {DATASET: folder / "in.parquet"}), folder / "made.parquet"
    apply_policy(*given, made, engine=cluster, key=b"\x07" * 32)
    return made, *given


@pytest.mark.nightly
def test_persons_beside_noise_are_counted_again_with_the_key_alone(cluster, tmp_path):
    given = released(cluster, tmp_path)
    assert certify_output(*given, engine=cluster, key=b"\x07" * 32).holds


@pytest.mark.nightly
def test_persons_beside_noise_are_not_counted_again_without_the_key(cluster, tmp_path):
    given = released(cluster, tmp_path)
    with pytest.raises(DataError, match="V006 How 'pay' was masked follows from the key"):
        certify_output(*given, engine=cluster)


@pytest.mark.nightly
def test_persons_beside_noise_of_another_key_are_refused(cluster, tmp_path):
    given = released(cluster, tmp_path)
    with pytest.raises(CertificateError, match=r"V003 .* those .* input gives\. Give the data"):
        certify_output(*given, engine=cluster, key=b"\x08" * 32)
