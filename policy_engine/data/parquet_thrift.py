"""The structures of Parquet files, by Thrift's compact protocol, and nothing besides.

https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift: other programs
skip what they do not know, so that it could hold anything. Fields that no table needs are not
read either: names of other files, encryption, indexes of pages, and texts of one's own.
"""

import struct
from collections.abc import Mapping
from typing import Any

Fields = dict[str, Any]
"""The fields of a structure by their names: numbers, bytes, lists, and structures again."""
_NONE: Mapping[int, tuple[str, str]] = {}
_UNIT = {1: ("millis", "Empty"), 2: ("micros", "Empty"), 3: ("nanos", "Empty")}
_STATISTICS = {
    1: ("max", "binary"),
    2: ("min", "binary"),
    3: ("null_count", "i64"),
    4: ("distinct_count", "i64"),
    5: ("max_value", "binary"),
    6: ("min_value", "binary"),
    7: ("is_max_value_exact", "bool"),
    8: ("is_min_value_exact", "bool"),
    9: ("nan_count", "i64"),
}
_TIME = {1: ("is_utc", "bool"), 2: ("unit", "TimeUnit")}
_SIZES = {
    1: ("texts", "i64"),
    2: ("repetition_levels", "list i64"),
    3: ("definition_levels", "list i64"),
}
_LOGICAL = {
    1: ("string", "Empty"),
    2: ("map", "Empty"),
    3: ("list", "Empty"),
    4: ("enum", "Empty"),
    5: ("decimal", "Decimal"),
    6: ("date", "Empty"),
    7: ("time", "Time"),
    8: ("timestamp", "Time"),
    10: ("integer", "Integer"),
    11: ("unknown", "Empty"),
    12: ("json", "Empty"),
    13: ("bson", "Empty"),
    14: ("uuid", "Empty"),
    15: ("float16", "Empty"),
}
STRUCTURES: Mapping[str, Mapping[int, tuple[str, str]]] = {
    "Empty": _NONE,
    "FileMetaData": {
        1: ("version", "i32"),
        2: ("schema", "list SchemaElement"),
        3: ("num_rows", "i64"),
        4: ("row_groups", "list RowGroup"),
        5: ("metadata", "list KeyValue"),
        6: ("created_by", "binary"),
        7: ("column_orders", "list ColumnOrder"),
    },
    "KeyValue": {1: ("key", "binary"), 2: ("value", "binary")},
    "ColumnOrder": {1: ("type_order", "Empty"), 2: ("ieee_order", "Empty")},
    "SchemaElement": {
        1: ("type", "i32"),
        2: ("type_length", "i32"),
        3: ("repetition", "i32"),
        4: ("name", "binary"),
        5: ("num_children", "i32"),
        6: ("converted_type", "i32"),
        7: ("scale", "i32"),
        8: ("precision", "i32"),
        9: ("field_id", "i32"),
        10: ("logical_type", "LogicalType"),
    },
    "LogicalType": _LOGICAL,
    "Decimal": {1: ("scale", "i32"), 2: ("precision", "i32")},
    "Time": _TIME,
    "TimeUnit": _UNIT,
    "Integer": {1: ("bits", "i8"), 2: ("is_signed", "bool")},
    "RowGroup": {
        1: ("columns", "list ColumnChunk"),
        2: ("size", "i64"),
        3: ("num_rows", "i64"),
        4: ("sorting_columns", "list SortingColumn"),
        5: ("file_offset", "i64"),
        6: ("compressed_size", "i64"),
        7: ("ordinal", "i16"),
    },
    "SortingColumn": {1: ("column", "i32"), 2: ("descending", "bool"), 3: ("nulls_first", "bool")},
    "ColumnChunk": {
        2: ("file_offset", "i64"),
        3: ("meta", "ColumnMetaData"),
        4: ("offset_index", "i64"),
        5: ("offset_index_length", "i32"),
        6: ("column_index", "i64"),
        7: ("column_index_length", "i32"),
    },
    "ColumnMetaData": {
        1: ("type", "i32"),
        2: ("encodings", "list i32"),
        3: ("path", "list binary"),
        4: ("codec", "i32"),
        5: ("num_values", "i64"),
        6: ("uncompressed_size", "i64"),
        7: ("compressed_size", "i64"),
        9: ("data_page", "i64"),
        10: ("index_page", "i64"),
        11: ("dictionary_page", "i64"),
        12: ("statistics", "Statistics"),
        13: ("encoding_stats", "list EncodingStats"),
        14: ("bloom_filter", "i64"),
        15: ("bloom_filter_length", "i32"),
        16: ("size_statistics", "SizeStatistics"),
    },
    "EncodingStats": {1: ("page_type", "i32"), 2: ("encoding", "i32"), 3: ("count", "i32")},
    "SizeStatistics": _SIZES,
    "Statistics": _STATISTICS,
    "PageHeader": {
        1: ("type", "i32"),
        2: ("uncompressed_size", "i32"),
        3: ("compressed_size", "i32"),
        4: ("crc", "i32"),
        5: ("data", "DataPage"),
        7: ("dictionary", "DictionaryPage"),
        8: ("data_v2", "DataPageV2"),
    },
    "DataPage": {
        1: ("num_values", "i32"),
        2: ("encoding", "i32"),
        3: ("definition_encoding", "i32"),
        4: ("repetition_encoding", "i32"),
        5: ("statistics", "Statistics"),
    },
    "DictionaryPage": {1: ("num_values", "i32"), 2: ("encoding", "i32"), 3: ("is_sorted", "bool")},
    "DataPageV2": {
        1: ("num_values", "i32"),
        2: ("num_nulls", "i32"),
        3: ("num_rows", "i32"),
        4: ("encoding", "i32"),
        5: ("definition_length", "i32"),
        6: ("repetition_length", "i32"),
        7: ("is_compressed", "bool"),
        8: ("statistics", "Statistics"),
    },
    "BloomFilter": {
        1: ("size", "i32"),
        2: ("algorithm", "Only"),
        3: ("hash", "Only"),
        4: ("compression", "Only"),
    },
    "Only": {1: ("one", "Empty")},
    "OffsetIndex": {1: ("pages", "list PageLocation"), 2: ("text_sizes", "list i64")},
    "PageLocation": {1: ("offset", "i64"), 2: ("size", "i32"), 3: ("first_row", "i64")},
    "ColumnIndex": {
        1: ("null_pages", "list bool"),
        2: ("min_values", "list binary"),
        3: ("max_values", "list binary"),
        4: ("boundary_order", "i32"),
        5: ("null_counts", "list i64"),
        6: ("repetition_levels", "list i64"),
        7: ("definition_levels", "list i64"),
    },
}
_UNIONS = ("ColumnOrder", "LogicalType", "TimeUnit", "Only")
_TYPES = {"i8": 3, "i16": 4, "i32": 5, "i64": 6, "binary": 8}
_BITS = {"i16": 16, "i32": 32, "i64": 64}
_LIST, _STRUCT = 9, 12


class CompactReader:
    """A reader of Thrift's compact protocol that refuses what a structure does not have.

    What is laid out otherwise raises ValueError, and data that end too soon IndexError.
    """

    def __init__(self, data: bytes) -> None:
        self._data, self.place = data, 0

    def structure(self, name: str) -> Fields:
        """Return the structure of a name that begins here."""
        fields: Fields = {}
        number = 0
        while head := self._byte():
            number = self._field_number(head, number)
            field, kind = STRUCTURES[name].get(number, ("", ""))
            if not field:
                raise ValueError(f"{name} has no field {number}")
            fields[field] = self._field(kind, head & 15)
        if name in _UNIONS and len(fields) != 1:
            raise ValueError(f"{name} has one field")
        return fields

    def _field_number(self, head: int, before: int) -> int:
        """Return the number of a field, in the only form that it has: ascending, and short."""
        if head >> 4:
            return before + (head >> 4)
        number = self._signed(16)
        if number <= before + 15:
            raise ValueError("fields out of order")
        return number

    def _field(self, kind: str, code: int) -> Any:
        if kind == "bool":  # truth values of fields are their types
            if code not in (1, 2):
                raise ValueError("not a truth value")
            return code == 1
        self._check_code(kind, code)
        return self._value(kind)

    def _check_code(self, kind: str, code: int) -> None:
        expected = _LIST if kind.startswith("list ") else _TYPES.get(kind, _STRUCT)
        if code != expected:
            raise ValueError(f"not of the type {kind}")

    def _value(self, kind: str) -> Any:
        if kind.startswith("list "):
            return self._list(kind.removeprefix("list "))
        if kind in _BITS:
            return self._signed(_BITS[kind])
        if kind == "binary":
            return self._bytes(self._unsigned(32))
        return self._byte() if kind == "i8" else self.structure(kind)

    def _list(self, kind: str) -> list[Any]:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._unsigned(32)
        if head >> 4 == 15 and size < 15:
            raise ValueError("a short list in the form of a long one")
        if kind == "bool":
            if head & 15 not in (1, 2):
                raise ValueError("not truth values")
            return [self._truth() for _ in range(size)]
        self._check_code(kind, head & 15)
        return [self._value(kind) for _ in range(size)]

    def _truth(self) -> bool:
        byte = self._byte()
        if byte not in (0, 1, 2):
            raise ValueError("not a truth value")
        return byte == 1

    def _byte(self) -> int:
        self.place += 1
        return self._data[self.place - 1]

    def _bytes(self, size: int) -> bytes:
        if self.place + size > len(self._data):
            raise IndexError("the data end")
        self.place += size
        return self._data[self.place - size : self.place]

    def _unsigned(self, bits: int) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
        if value >> bits or (shift and not byte):
            raise ValueError("a number that is too long")
        return value

    def _signed(self, bits: int) -> int:
        value = self._unsigned(bits)
        return (value >> 1) ^ -(value & 1)


ERRORS = (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, struct.error)
"""What reading a file raises that is not laid out as parquet-format says."""
