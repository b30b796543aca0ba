"""Folders of files that Spark writes are their maker's alone until they are verified."""

import os
from pathlib import Path

import pytest
from applying import asking
from building import DATASET
from everyday import everyday

from policy_engine import SparkEngine, apply_policy
from policy_engine.api import verified_release

pytestmark = pytest.mark.usefixtures("few_rows")
POLICY = asking(method="k-anonymity", k=2, quasi=["age"], insensitive=["row"])


@pytest.mark.nightly
@pytest.mark.parametrize("mask", everyday((0o027, 0o077), 0o027))
def test_a_folder_of_files_is_shown_as_the_umask_has_it(spark, tmp_path, monkeypatch, mask):
    (tmp_path / "in.csv").write_text("age,row\n20,1\n21,2\n40,3\n41,4\n")
    seen, certify = [], verified_release.certify

    def watched(release, *given, **more):
        output = Path(release.output.location)
        seen.extend(path.stat().st_mode & 0o777 for path in (output.parent, *output.rglob("*")))
        return certify(release, *given, **more)

    monkeypatch.setattr(verified_release, "certify", watched)
    before = os.umask(mask)
    try:
        engine = SparkEngine(spark, is_checked=True)
        place = apply_policy(
            POLICY, {DATASET: tmp_path / "in.csv"}, tmp_path / "out", engine=engine
        ).path
    finally:
        os.umask(before)
    assert seen[0] == 0o700
    assert set(seen[1:]) == {0o600}
    for path in (tmp_path / "out", *(tmp_path / "out").rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o777 if path.is_dir() else 0o666) & ~mask
    assert Path(place).is_dir()
