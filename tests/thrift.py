"""Parquet files taken apart and put together again, as one who hides something in them would."""

import struct

SHORT = (4, 5, 6)
BYTES, LIST, STRUCT, I32, I64 = 8, 9, 12, 5, 6


class Reader:
    """Structures of Thrift's compact protocol as dicts from numbers to (type, value)."""

    def __init__(self, data, place=0):
        self.data, self.place = data, place

    def byte(self):
        self.place += 1
        return self.data[self.place - 1]

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def struct(self):
        fields, number = {}, 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.number() >> 1
            fields[number] = (head & 15, None if head & 15 in (1, 2) else self.value(head & 15))
        return fields

    def value(self, kind):
        if kind in SHORT:
            number = self.number()
            return (number >> 1) ^ -(number & 1)
        if kind == BYTES:
            size = self.number()
            self.place += size
            return self.data[self.place - size : self.place]
        if kind == LIST:
            head = self.byte()
            size = head >> 4 if head >> 4 < 15 else self.number()
            return (head & 15, [self.value(head & 15) for _ in range(size)])
        return self.struct() if kind == STRUCT else self.byte()


def number_bytes(value):
    data = b""
    while value > 127:
        data += bytes([value & 127 | 128])
        value >>= 7
    return data + bytes([value])


def value_bytes(kind, value):
    if kind in SHORT:
        return number_bytes(value << 1 ^ value >> 63)
    if kind == BYTES:
        return number_bytes(len(value)) + value
    if kind == LIST:
        inner, values = value
        size = len(values)
        head = bytes([min(size, 15) << 4 | inner]) + (number_bytes(size) if size > 14 else b"")
        return head + b"".join(value_bytes(inner, one) for one in values)
    return struct_bytes(value) if kind == STRUCT else bytes([value])


def struct_bytes(fields):
    data, last = b"", 0
    for number, (kind, value) in sorted(fields.items()):
        far = number - last
        data += bytes([far << 4 | kind]) if far < 16 else bytes([kind]) + number_bytes(number << 1)
        data += b"" if kind in (1, 2) else value_bytes(kind, value)
        last = number
    return data + b"\0"


def taken_apart(content):
    """Return what is before the footer of a file, and the footer."""
    (length,) = struct.unpack("<I", content[-8:-4])
    return content[: -8 - length], Reader(content, len(content) - 8 - length).struct()


def put_together(body, footer):
    data = struct_bytes(footer)
    return body + data + struct.pack("<I", len(data)) + b"PAR1"


def last_column(footer):
    """Return what the footer of a file of one row group says of its last column."""
    return footer[4][1][1][0][1][1][1][-1][3][1]
