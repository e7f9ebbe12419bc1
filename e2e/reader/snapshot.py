"""What a snapshot's parts hold: sync/delta/FORMAT.md, "Snapshots"."""

from types import SimpleNamespace

import cbor
import rules
from body import _Reader, decompress, unpad
from envelope import sha256
from refusal import require

LIVE = (1, 2, 3, 4)


def context(space, author, cursor, part):
    return sha256(b"locket/v1 snapshot\0" + space + author + cursor.to_bytes(8, "big") + part.to_bytes(4, "big"))


def _top(padded):
    return cbor.decode(decompress(unpad(padded)), "body", 12)


def manifest(space, author, cursor, padded):
    """The digest, and (SHA-256, bytes) of each sealed chunk."""
    top = _top(padded)
    require(isinstance(top, dict) and set(top) == {1, 2, 3} and isinstance(top[3], list), "body", "not a manifest")
    require(top[1] == context(space, author, cursor, 0), "context", "a manifest of another snapshot")
    require(isinstance(top[2], bytes) and len(top[2]) == 32 and len(top[3]) <= 4096, "body", "its digest, or too many chunks")
    for c in top[3]:
        require(isinstance(c, list) and len(c) == 2 and isinstance(c[0], bytes) and len(c[0]) == 32 and any(c[0]), "body", "a chunk's hash")
        require(type(c[1]) is int and 1 <= c[1] <= 1 << 20, "body", "a chunk's size")
    return top[2], [tuple(c) for c in top[3]]


class Chunks:
    """Reads chunks one after another, and adds up the digest."""

    def __init__(self, space, author, cursor):
        self.space, self.author, self.cursor = space, author, cursor
        self.number, self.last, self.digested = 0, None, b""

    def read(self, padded):
        """The items of the next chunk: (key, what it says, its own encoding)."""
        self.number += 1
        top = _top(padded)
        require(isinstance(top, list) and len(top) == 2 and isinstance(top[1], list) and top[1], "body", "not context and items")
        require(top[0] == context(self.space, self.author, self.cursor, self.number), "context", "a chunk of another snapshot")
        reader, out = _Reader(SimpleNamespace(space=self.space, member=bytes(8))), []
        for item in top[1]:
            require(isinstance(item, dict) and len(item) == 1 and set(item) <= set(range(1, 7)), "body", "not an item")
            key, = item
            before = reader.seq, reader.at
            said, order = getattr(self, f"_{key}")(reader, item[key])
            require(self.last is None or self.last < (key, order), "body", "items out of order")
            self.last = (key, order)
            own = cbor.encode({key: _alone(key, item[key], *before)})
            if key in LIVE:
                self.digested += len(own).to_bytes(4, "big") + own
            out.append((key, said, own))
        return out

    def digest(self):
        return sha256(self.digested)

    def _1(self, reader, v):
        require(isinstance(v, list) and len(v) == 2 and isinstance(v[0], bytes) and len(v[0]) == 8, "body", "not said by anyone")
        reader.header.member = v[0]
        said = reader.assertion(v[1])
        rules.assertion(said)
        require(said["act"] != "erase", "body", "an erasure is an id")
        return said, (v[1][5], v[0], said["dot"]["seq"])

    def _2(self, reader, v):
        said = reader.utterance(v)
        rules.utterance(said)
        return said, v[1]

    def _3(self, reader, v):
        said = reader.blob(v)
        rules.blob(said)
        return said, said["name"]

    def _4(self, reader, v):
        require(isinstance(v, list) and len(v) == 3 and isinstance(v[0], bytes) and len(v[0]) == 8, "body", "not citations")
        evidence, numbers = reader.text(v[1]), reader.array(reader.u)(v[2])
        require(1 <= len(evidence.encode()) <= 128 and 1 <= len(numbers) <= 256, "body", "citations: their evidence or numbers")
        return {"member": v[0].hex(), "evidence": evidence, "numbers": numbers}, (v[0], evidence)

    def _5(self, reader, v):
        require(isinstance(v, list) and 1 <= len(v) <= 1024 and v == sorted(v), "body", "erased: too many, or not ascending")
        return [reader.id(i) for i in v], v[0]

    def _6(self, reader, v):
        require(isinstance(v, list) and 1 <= len(v) <= 256, "body", "too few or too many members")
        last = {}
        for d in v:
            require(isinstance(d, list) and len(d) == 2 and isinstance(d[0], bytes) and len(d[0]) == 8, "body", "not a member's last")
            last[d[0]] = reader.u(d[1])
        require(list(last) == sorted(last) and len(last) == len(v), "body", "members not ascending")
        return {m.hex(): n for m, n in last.items()}, v[0][0]


def _alone(key, value, seq, at):
    """An item as it would stand first in a chunk: its differences are from 0."""
    if key == 1:
        member, a = value
        return [member, {**a, 1: (seq + a[1]) % (1 << 64), 2: at + a[2]}]
    if key == 2:
        return {k: _moved(v, at) if k in (4, 12) else v for k, v in value.items()}
    return value


def _moved(moment, by):
    return [moment[0] + by, moment[1]] if isinstance(moment, list) else moment + by
