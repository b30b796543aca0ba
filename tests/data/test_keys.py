"""How the key of a chain is read."""

import pytest

from policy_engine.data.keys import read_chain_key
from policy_engine.errors import DataError

KEY = b"k" * 32


@pytest.mark.parametrize(("text", "key"), [(KEY, KEY), (b" %b \n" % KEY, KEY)])
def test_a_key_is_what_a_file_holds_without_the_blanks_around_it(tmp_path, text, key):
    path = tmp_path / "key"
    path.write_bytes(text)
    assert read_chain_key(path) == read_chain_key(str(path)) == key
    assert read_chain_key(KEY) == KEY
    assert read_chain_key(None) is None


def test_a_key_of_random_bytes_is_taken_whole_whatever_its_last_byte(tmp_path):
    key = b"\xff" * 31 + b"\n"
    (tmp_path / "key").write_bytes(key)
    assert read_chain_key(tmp_path / "key") == read_chain_key(key) == key


@pytest.mark.parametrize("size", [1, 31])
def test_a_key_that_is_too_short_is_refused_with_its_size(size):
    told = f"C013 The key has {size} bytes. A key has at least 32"
    with pytest.raises(DataError, match=told):
        read_chain_key(b"k" * size)
