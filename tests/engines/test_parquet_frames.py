"""What packs pages of Parquet files and holds more than them."""

import gzip

import pyarrow as pa
import pytest

from policy_engine.engines.parquet_frames import unpack

PAGE = b"Ann and Bea " * 9
SKIPPED = b"\x50\x2a\x4d\x18\3\0\0\0Ann"


def packed(codec, page=PAGE):
    return pa.compress(page, codec, asbytes=True)


@pytest.mark.parametrize("codec", ["snappy", "gzip", "brotli", "zstd", "lz4_raw"])
@pytest.mark.parametrize("page", [PAGE, b"a", bytes(300_000)])
def test_packed_pages_are_unpacked(codec, page):
    assert unpack(packed(codec, page), len(page), codec) == page
    with pytest.raises(ValueError, match="packed"):
        unpack(packed(codec, page) + b"Ann", len(page), codec)


@pytest.mark.parametrize(
    ("codec", "data"),
    [
        ("zstd", SKIPPED + packed("zstd")),
        ("zstd", packed("zstd") + SKIPPED),
        ("zstd", packed("zstd") + packed("zstd", b"")),
        ("gzip", packed("gzip") + gzip.compress(b"", mtime=0)),
        ("gzip", packed("gzip")[:4] + b"Ann!" + packed("gzip")[8:]),
        ("gzip", packed("gzip")[:8] + b"n" + packed("gzip")[9:]),
        ("gzip", packed("gzip")[:9] + b"n" + packed("gzip")[10:]),
        (
            "gzip",
            packed("gzip")[:3] + b"\x10" + packed("gzip")[4:10] + b"Ann\0" + packed("gzip")[10:],
        ),
    ],
)
def test_what_readers_skip_is_refused(codec, data):
    assert pa.decompress(data, len(PAGE), codec, asbytes=True) == PAGE
    with pytest.raises(ValueError, match=r"no frame of data|more than what is packed"):
        unpack(data, len(PAGE), codec)


@pytest.mark.parametrize(("level", "system"), [(0, 255), (2, 3), (4, 0), (0, 19), (0, 10)])
def test_gzip_is_told_from_which_library_it_is(level, system):
    data = packed("gzip")[:8] + bytes([level, system]) + packed("gzip")[10:]
    assert unpack(data, len(PAGE), "gzip") == PAGE
