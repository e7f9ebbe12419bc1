"""CBOR in core deterministic encoding (RFC 8949, 4.2.1), as FORMAT.md of the envelope narrows it."""

import math
import struct

from refusal import Refused, require


class _Source:
    def __init__(self, data, depth, reason):
        self.data, self.at, self.depth, self.reason = data, 0, depth, reason

    def take(self, n):
        require(self.at + n <= len(self.data), self.reason, "CBOR ends too early")
        self.at += n
        return self.data[self.at - n : self.at]

    def head(self):
        first = self.take(1)[0]
        major, info = first >> 5, first & 31
        if info < 24:
            return major, info, info
        require(info <= 27, self.reason, "CBOR of an indefinite or reserved length")
        size = 1 << (info - 24)
        n = int.from_bytes(self.take(size), "big")
        if major != 7:
            shortest = n >= 24 if size == 1 else n >= 1 << (4 * size)
            require(shortest, self.reason, "CBOR with a longer form than needed")
        return major, info, n

    def item(self, depth):
        require(depth <= self.depth, self.reason, "CBOR nested too deep")
        major, info, n = self.head()
        if major == 0:
            return n
        if major == 1:
            return -1 - n
        if major == 2:
            return self.take(n)
        if major == 3:
            try:
                return self.take(n).decode("utf-8")
            except UnicodeDecodeError:
                raise Refused(self.reason, "text that is not UTF-8") from None
        if major == 4:
            return [self.item(depth + 1) for _ in self.counted(n)]
        if major == 5:
            out, last = {}, b""
            for _ in self.counted(n):
                start = self.at
                key = self.item(depth + 1)
                encoded = self.data[start : self.at]
                require(encoded > last, self.reason, "map keys out of order, or one twice")
                require(isinstance(key, (int, str)), self.reason, "a map key of another type")
                last = encoded
                out[key] = self.item(depth + 1)
            return out
        require(major == 7, self.reason, "a CBOR tag")
        return self.simple(info, n)

    def counted(self, n):
        require(n <= len(self.data) - self.at, self.reason, "CBOR of more items than bytes")
        return range(n)

    def simple(self, info, n):
        if info in (20, 21, 22):
            return {20: False, 21: True, 22: None}[info]
        if info in (25, 26, 27):
            code = {25: ">e", 26: ">f", 27: ">d"}[info]
            value = struct.unpack(code, n.to_bytes(1 << (info - 24), "big"))[0]
            require(math.isfinite(value), self.reason, "a float that is not finite")
            for shorter in (25, 26):
                if shorter < info and _fits(value, {25: ">e", 26: ">f"}[shorter]):
                    raise Refused(self.reason, "a float with a longer form than needed")
            return value
        raise Refused(self.reason, "another simple value of CBOR")


def _fits(value, code):
    try:
        return struct.unpack(code, struct.pack(code, value))[0] == value
    except OverflowError:
        return False


def decode(data, reason="form", depth=16):
    """The one value that data holds. Anything but its one encoding is refused."""
    source = _Source(data, depth, reason)
    value = source.item(1)
    require(source.at == len(data), reason, "bytes after the CBOR")
    return value


def _head(major, n):
    if n < 24:
        return bytes([major << 5 | n])
    for info, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if n < 1 << (8 * size):
            return bytes([major << 5 | info]) + n.to_bytes(size, "big")
    raise OverflowError(n)


def encode(value):
    if value is None:
        return b"\xf6"
    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return _head(0, value) if value >= 0 else _head(1, -1 - value)
    if isinstance(value, bytes):
        return _head(2, len(value)) + value
    if isinstance(value, str):
        return _head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return _head(4, len(value)) + b"".join(encode(v) for v in value)
    if isinstance(value, dict):
        pairs = sorted((encode(k), encode(v)) for k, v in value.items())
        return _head(5, len(pairs)) + b"".join(k + v for k, v in pairs)
    if isinstance(value, float):
        for first, code in ((0xF9, ">e"), (0xFA, ">f")):
            if _fits(value, code):
                return bytes([first]) + struct.pack(code, value)
        return b"\xfb" + struct.pack(">d", value)
    raise TypeError(type(value))
