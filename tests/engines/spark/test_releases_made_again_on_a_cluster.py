"""What `certify` says on a cluster of releases that are made again with another key, or none."""

import pandas as pd
import pytest
from applying import asking
from building import DATASET, column

from policy_engine import apply_policy, certify_output
from policy_engine.errors import CertificateError, DataError

ASKED = {
    "method": "k-anonymity",
    "k": 2,
    "quasi": ["age"],
    "privacyUnit": "who",
    "masked": [column("pay", masking="noise", sdShare=0.5)],
}


def test_persons_beside_noise_are_counted_again_with_the_key_alone(cluster, tmp_path):
    table = {"who": [n // 2 for n in range(40)], "age": [n % 7 for n in range(40)]}
    pd.DataFrame(table | {"pay": range(40)}).to_parquet(tmp_path / "in.parquet")
    given, made = (asking(**ASKED), {DATASET: tmp_path / "in.parquet"}), tmp_path / "made.parquet"
    apply_policy(*given, made, engine=cluster, key=b"\x07" * 32)
    assert certify_output(made, *given, engine=cluster, key=b"\x07" * 32).holds
    with pytest.raises(DataError, match="V006 How 'pay' was masked follows from the key"):
        certify_output(made, *given, engine=cluster)
    with pytest.raises(CertificateError, match=r"V003 .* those .* input gives\. Give the data"):
        certify_output(made, *given, engine=cluster, key=b"\x08" * 32)
