"""Inside a body: sync/delta/FORMAT.md. Ops come out as objects like those of the vectors' JSON."""

import os
from datetime import datetime, timedelta, timezone

import zstandard

import age
import cbor
import rules
from padding import LEAST_PADDED, padded_length
from refusal import Refused, require

MAX_CONTENT, MAX_PADDED = 4 << 20, 1047552
DICTIONARY = os.path.join(os.path.dirname(__file__), "..", "..", "sync", "delta", "dictionary.1")

TYPES = ("core", "episodic", "semantic", "procedural", "resource", "vault")
ACTS = ("propose", "reinforce", "correct", "close", "pin", "unpin", "archive", "restore", "tag", "untag",
        "erase", "withdraw")
MAY_BE_EMPTY = "present where it is set, empty or not"
SENSITIVITIES = ("public", "personal", "private", "secret")


def unpad(padded):
    """The zstd frame within padded plaintext."""
    require(LEAST_PADDED <= len(padded) <= MAX_PADDED, "padding", "a length over or under the limits")
    require(padded[0] == 1, "padding", "another format")
    bare = padded.rstrip(b"\x00")
    require(len(bare) >= 2 and bare[-1] == 0x80, "padding", "no 0x80 before the zeros")
    require(padded_length(len(bare)) == len(padded), "padding", "not the length that follows")
    return bare[1:-1]


def decompress(frame):
    try:
        head = zstandard.get_frame_parameters(frame)
    except zstandard.ZstdError:
        raise Refused("frame", "not a zstd frame") from None
    require(not head.has_checksum and head.dict_id == 1, "frame", "a checksum, or another dictionary")
    require(head.content_size <= MAX_CONTENT, "frame", "no content size, or one over its limit")
    with open(DICTIONARY, "rb") as f:
        dictionary = zstandard.ZstdCompressionDict(f.read())
    opener = zstandard.ZstdDecompressor(dict_data=dictionary).decompressobj()
    try:
        content = opener.decompress(frame)
    except zstandard.ZstdError:
        raise Refused("frame", "a broken zstd frame") from None
    require(opener.unused_data == b"", "frame", "bytes after the frame")
    require(len(content) == head.content_size, "frame", "not the size that it gives")
    return content


ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def base32(data):
    """An id as text: Crockford's alphabet, from the first bit on, zeros after the last."""
    bits = int.from_bytes(data, "big") << (-8 * len(data) % 5)
    size = (8 * len(data) + 4) // 5
    return "".join(ALPHABET[bits >> 5 * (size - 1 - i) & 31] for i in range(size))


def unbase32(text, size):
    """The bytes of an id's one text."""
    require(len(text) == (8 * size + 4) // 5 and all(c in ALPHABET for c in text), "body", "not an id")
    bits = 0
    for c in text:
        bits = bits << 5 | ALPHABET.index(c)
    data = (bits >> -8 * size % 5).to_bytes(size + 1, "big")[1:]
    require(base32(data) == text, "body", "not an id's one form")
    return data


def _signed64(n):
    n &= (1 << 64) - 1
    return n - (1 << 64) if n >> 63 else n


def _no(why):
    raise Refused("body", why)


class _Reader:
    """The running values, and how each type of a field is read with them."""

    def __init__(self, header):
        self.header, self.seq, self.at = header, 0, 0

    def u(self, v, bits=64):
        return v if type(v) is int and 0 <= v < 1 << bits else _no("not an unsigned number of its range")

    def u32(self, v):
        return self.u(v, 32)

    def i(self, v):
        return v if type(v) is int and -(1 << 63) <= v < 1 << 63 else _no("not a number of its range")

    def text(self, v):
        return v if isinstance(v, str) else _no("not text")

    def flag(self, v):
        return v if isinstance(v, bool) else _no("neither true nor false")

    def raw(self, v):
        return v.hex() if isinstance(v, bytes) else _no("not bytes")

    def id(self, v):
        return base32(v) if isinstance(v, bytes) and len(v) == 16 else _no("not an id")

    def key(self, v):
        return v.hex() if isinstance(v, bytes) and len(v) == 32 else _no("not 32 bytes")

    def array(self, of):
        def read(v):
            return [of(x) for x in v] if isinstance(v, list) else _no("not an array")

        return read

    def texts(self, v):
        return self.array(self.text)(v)

    def ids(self, v):
        return self.array(self.id)(v)

    def pair(self, *names):
        def read(v):
            right = isinstance(v, list) and len(v) == len(names)
            return {n: self.text(x) for n, x in zip(names, v)} if right else _no("not a pair")

        return read

    def table(self, v):
        require(isinstance(v, dict), "body", "not a map")
        return {self.text(k): self.text(x) for k, x in v.items()}

    def one_of(self, words, first):
        def read(v):
            n = self.u(v)
            return words[n - first] if first <= n < first + len(words) else _no("a number without a meaning")

        return read

    def event(self, v):
        require(isinstance(v, list) and len(v) == 3, "body", "not an event")
        return f"{self.text(v[0])}/{self.u(v[1])}/{self.u(v[2])}"

    def moment(self, v):
        ns = 0
        if isinstance(v, list):
            require(len(v) == 2, "body", "not a moment")
            v, ns = v
            require(type(ns) is int and 1 <= ns <= 999999, "body", "nanoseconds out of their range")
        return _signed64(self.at + self.i(v)), ns

    def fraction(self, v):
        if type(v) is int:
            return self.u(v) / 1000
        require(isinstance(v, float), "body", "not a fraction")
        thousandths = round(v * 1000)
        require(thousandths < 0 or thousandths / 1000 != v, "body", "a fraction that has a shorter form")
        return v

    def map(self, fields, may_be_empty=False):
        """A map of numbered fields: key: (name, how it is read, whether it is always there)."""

        def read(v):
            require(isinstance(v, dict) and set(v) <= set(fields), "body", "not a map of these keys")
            require(v or may_be_empty, "body", "an empty map")
            out = {}
            for k, (name, how, always) in fields.items():  # ascending, as they are written
                if k in v:
                    require(always or self.something(v[k], how), "body", f"{name} is there, and empty")
                    out[name] = how(v[k])
                else:
                    require(always is not True, "body", f"{name} is missing")
            return out

        return read

    def something(self, v, how):
        if how == self.event:
            return v != ["", 0, 0]
        if how == self.id:
            return v != bytes(16)
        return how in (self.moment, self.patch) or v not in (0, "", b"", False, None, [], {})

    # what ops are made of

    def candidate(self, v):
        slot = self.map({
            1: ("subject", self.text, True), 2: ("attribute", self.text, True),
            3: ("value", self.text, False), 4: ("many", self.flag, False),
        })
        out = self.map({
            1: ("type", self.one_of(TYPES, 1), True), 2: ("text", self.text, True),
            3: ("lang", self.text, False), 4: ("user", self.text, True), 5: ("agent", self.text, False),
            6: ("run", self.text, False), 7: ("slot", slot, False), 8: ("negates", self.flag, False),
            9: ("fields", self.fields, False), 10: ("entities", self.array(self.pair("name", "kind")), False),
            11: ("links", self.array(self.link), False), 12: ("tags", self.texts, False),
            13: ("metadata", self.table, False), 14: ("evidence", self.array(self.evidence), False),
            15: ("source", lambda x: self.source(x, True), MAY_BE_EMPTY), 16: ("confidence", self.fraction, True),
            17: ("sensitivity", self.one_of(SENSITIVITIES, 0), True), 18: ("true_from", self.moment, False),
            19: ("true_to", self.moment, False), 20: ("expires", self.moment, False),
        })(v)
        out["owner"] = {name: out.pop(name) for name in ("user", "agent", "run") if name in out}
        return out

    def link(self, v):
        require(isinstance(v, list) and len(v) == 2, "body", "not a link")
        return {"relation": self.text(v[0]), "to": self.text(v[1])}

    def source(self, v, may_be_empty=False):
        names = ("device", "plugin", "version", "model")
        return self.map({i + 1: (n, self.text, False) for i, n in enumerate(names)}, may_be_empty)(v)

    def evidence(self, v):
        require(isinstance(v, dict), "body", "not evidence")
        end = v.get(7)
        out = self.map({
            1: ("event", self.event, False), 2: ("utterance", self.id, False), 3: ("speaker", self.text, False),
            4: ("at", self.moment, False), 5: ("excerpt", self.text, False), 6: ("start", self.i, False),
        }, may_be_empty=True)({k: x for k, x in v.items() if k != 7})
        usual = out.get("start", 0) + len(out.get("excerpt", "").encode())
        require(end is None or self.i(end) != usual, "body", "an end that follows from the start")
        end = usual if end is None else end
        return {**out, **({"end": end} if end else {})}

    def fields(self, v, may_be_empty=False):
        t, i, m = self.text, self.i, self.moment
        forms = {
            1: ("core", {1: ("block", t, True), 2: ("limit", i, True)}),
            2: ("episodic", {1: ("event_type", t, False), 2: ("details", t, False), 3: ("actor", t, False),
                             4: ("place", t, False), 5: ("started", m, False), 6: ("ended", m, False)}),
            3: ("semantic", {1: ("name", t, False), 2: ("details", t, False), 3: ("subject", t, False),
                             4: ("predicate", t, False), 5: ("object", t, False)}),
            4: ("procedural", {1: ("entry_type", t, False), 2: ("description", t, False),
                               3: ("steps", self.texts, False)}),
            5: ("resource", {1: ("title", t, False), 2: ("media_type", t, True), 3: ("content", t, False),
                             4: ("blob", t, False), 5: ("hash", t, False), 6: ("sharpness", self.fraction, True)}),
            6: ("vault", {1: ("entry_type", t, False), 2: ("label", t, True), 3: ("sealed", self.raw, True)}),
        }
        require(isinstance(v, dict) and len(v) <= 1 and set(v) <= set(forms), "body", "not a map of one type's fields")
        require(v or may_be_empty, "body", "fields of no type")
        return {forms[k][0]: self.map(forms[k][1], may_be_empty=True)(x) for k, x in v.items()}

    def patch(self, v):
        keep = {
            1: ("text", self.text), 2: ("value", self.text), 3: ("fields", lambda x: self.fields(x, True)),
            4: ("metadata", self.table), 5: ("sensitivity", self.one_of(SENSITIVITIES, 0)),
            6: ("validity", self.map({1: ("from", self.moment, False), 2: ("to", self.moment, False)}, True)),
        }
        require(isinstance(v, dict) and set(v) <= set(keep), "body", "not a patch")
        return {name: how(v[k]) for k, (name, how) in keep.items() if k in v}

    def dot(self, v):
        require(isinstance(v, list) and len(v) == 2, "body", "not a dot")
        require(v[0] != self.header.member, "body", "the author by its id")
        member = self.header.member if v[0] is None else v[0]
        require(isinstance(member, bytes) and len(member) == 8, "body", "not a member")
        return {"member": member.hex(), "seq": self.u(v[1])}

    def assertion(self, v):
        require(isinstance(v, dict) and 1 in v and 2 in v, "body", "an assertion without seq or clock")
        self.seq = (self.seq + self.u(v[1])) % (1 << 64)
        self.at = _signed64(self.at + self.i(v[2]))
        out = self.map({
            3: ("logical", self.u32, False), 4: ("rank", self.one_of((1, 2, 3), 1), True),
            5: ("memory", self.id, True), 6: ("act", self.one_of(ACTS, 1), True),
            7: ("candidate", self.candidate, False), 8: ("patch", self.patch, False),
            9: ("evidence", self.array(self.evidence), False), 10: ("tags", self.texts, False),
            11: ("seen", self.array(self.dot), False), 12: ("source", self.source, False),
            13: ("reason", self.text, False), 14: ("into", self.id, False),
        })({k: x for k, x in v.items() if k not in (1, 2)})
        out["clock"] = {"wall": self.at, "logical": out.pop("logical", 0)}
        out["dot"] = {"member": self.header.member.hex(), "seq": self.seq}
        out["space"] = base32(self.header.space)
        source = out.setdefault("source", {})
        if "candidate" in out:
            require(out["candidate"].get("source") != source, "body", "the assertion's source again")
            out["candidate"].setdefault("source", source)
        return out

    def utterance(self, v):
        out = self.map({
            1: ("id", self.id, True), 2: ("event", self.event, False), 3: ("session", self.text, False),
            4: ("at", self.moment, False), 5: ("zone", self.text, False), 6: ("speaker", self.text, False),
            7: ("lang", self.text, False), 8: ("text", self.text, True), 9: ("place", self.text, False),
            10: ("source", self.source, False), 11: ("redacted", self.i, False),
            12: ("received", self.moment, False),
        })(v)
        if "at" in out:
            self.at = out["at"][0]
        out["space"] = base32(self.header.space)
        return out

    def forget(self, v):
        out = self.map({
            1: ("memories", self.ids, False), 2: ("utterances", self.ids, False),
            3: ("events", self.array(self.event), False), 4: ("blobs", self.texts, False),
        })(v)
        return out

    def gone(self, v):
        require(isinstance(v, list), "body", "not places")
        return [self.place(p) for p in v]

    def place(self, v):
        require(isinstance(v, list) and len(v) == 3, "body", "not a place")
        require(isinstance(v[0], bytes) and len(v[0]) == 8, "body", "not a member")
        return {"member": v[0].hex(), "incarnation": self.u(v[1]), "seq": self.u(v[2])}

    def blob(self, v):
        return self.map({
            1: ("name", self.text, True), 2: ("sealed", self.key, True), 3: ("size", self.u, True),
            4: ("media_type", self.text, False), 5: ("key", self.key, True), 6: ("event", self.event, False),
            7: ("memory", self.id, False), 8: ("plain", self.u, False),
        })(v)

    def report(self, v):
        return self.map({1: ("number", self.u, True), 2: ("text", self.text, True)})(v)


def decode(header, plain):
    """The ops of a body's CBOR under its header."""
    top = cbor.decode(plain, "body", 12)
    require(isinstance(top, list) and len(top) == 2 and isinstance(top[1], list), "body", "not context and ops")
    require(top[0] == header.context, "context", "a body that was sealed for another header")
    require(1 <= len(top[1]) <= 4096, "body", "too few or too many ops")
    reader, ops = _Reader(header), []
    kinds = {1: "assertion", 2: "utterance", 3: "forget", 4: "blob", 5: "report", 6: "gone"}
    for op in top[1]:
        require(isinstance(op, dict) and len(op) == 1 and set(op) <= set(kinds), "body", "not an op")
        kind, = op
        name = kinds[kind]
        said = getattr(reader, name)(op[kind])
        getattr(rules, name)(said)
        ops.append({name: said})
    return ops


def open_padded(header, padded):
    return decode(header, decompress(unpad(padded)))


def open_sealed(header, sealed, epoch_key):
    return open_padded(header, age.open_epoch(sealed, epoch_key))


def rfc3339(moment):
    """A moment as the vectors' JSON writes it: milliseconds since 1970, and nanoseconds beyond."""
    ms, ns = moment
    at = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=ms)
    fraction = f"{ms % 1000:03d}{ns:06d}".rstrip("0")
    return at.strftime("%Y-%m-%dT%H:%M:%S") + ("." + fraction if fraction else "") + "Z"
