"""Machine code that an earlier version left behind is made anew, and no reason to fail."""

import pickle

from policy_engine.kernels import compiled as module
from policy_engine.kernels.compiled import compiled


class Gone:
    """A class that an index names, and a later version has not."""


def doubled(number):
    return 2 * number


def test_an_index_that_names_what_is_gone_counts_for_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    first = compiled(doubled)
    assert first(2) == 4
    [index] = tmp_path.rglob("*.nbi")
    version, stamp = first._cache._cache_file._version, module._digest_of_kernels()
    gone = pickle.dumps(version) + pickle.dumps((stamp, {"key": Gone()}))
    index.write_bytes(gone)
    monkeypatch.delattr(f"{__name__}.Gone")
    assert compiled(doubled)(3) == 6
