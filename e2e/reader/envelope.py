"""Headers, deltas and the membership log: sync/envelope/FORMAT.md."""

import hashlib
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

import cbor
from refusal import Late, Refused, require

ROOT = RECOVERY = bytes(8)
DELTA_DOMAIN, LOG_DOMAIN = "locket/v1 delta", "locket/v1 log"
OWNER, WRITER, EXTRACTOR, READER = 1, 2, 3, 4
ROLES = {OWNER: "owner", WRITER: "writer", EXTRACTOR: "extractor", READER: "reader"}
FOUND, ADD, REMOVE, EPOCH = 1, 2, 3, 4
MAX_MEMBERS = 64


def sha256(data):
    return hashlib.sha256(data).digest()


def signed(domain, message):
    """The bytes that Ed25519 signs for a message in a domain."""
    return b"locket/v1 sign\x00" + len(domain).to_bytes(4, "big") + domain.encode() + message


def verify(key, domain, message, signature):
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, signed(domain, message))
    except (InvalidSignature, ValueError):
        raise Refused("signature", "the signature is not this key's") from None


def _unsigned(value, bits, least=0):
    require(type(value) is int and least <= value < 1 << bits, "form", "not a number of its range")
    return value


def _bytes(value, size=None, least=1, most=None):
    require(isinstance(value, bytes), "form", "not bytes")
    require(size is None or len(value) == size, "form", "bytes of another length")
    require(most is None or least <= len(value) <= most, "form", "too few or too many bytes")
    return value


def _present(value):
    require(any(value), "form", "zeros where there must be something")
    return value


def _map(value, must, may=()):
    require(isinstance(value, dict), "form", "not a map")
    require(set(must) <= set(value) <= set(must) | set(may), "form", "a key is missing, or one too many")
    return value


def _strings(data, sizes):
    """An array on the wire whose parts are byte strings, or null where a size says so."""
    array = cbor.decode(data)
    require(isinstance(array, list) and len(array) == sizes, "form", "not an array of its length")
    return array


@dataclass
class Header:
    raw: bytes
    space: bytes
    member: bytes
    incarnation: int
    seq: int
    prev: bytes
    head: bytes
    epoch: int
    body_hash: bytes
    body_size: int

    @property
    def hash(self):
        return sha256(self.raw)

    @property
    def context(self):
        """The header's name before its body is known."""
        fields = cbor.decode(self.raw)
        return sha256(cbor.encode({**fields, 9: bytes(32), 10: 0}))


def parse_header(raw, with_body=True):
    require(len(raw) <= 192, "form", "a header over 192 bytes")
    m = _map(cbor.decode(raw), range(1, 11))
    require(_unsigned(m[1], 64) == 1, "form", "another version")
    seq = _unsigned(m[5], 64, 1)
    prev = _bytes(m[6], 32)
    require(any(prev) == (seq > 1), "form", "prev is zeros where seq is 1, and only there")
    size = _unsigned(m[10], 32, 1 if with_body else 0)
    require(size <= 1 << 20, "form", "a body over its limit")
    return Header(
        raw,
        space=_present(_bytes(m[2], 16)),
        member=_present(_bytes(m[3], 8)),
        incarnation=_unsigned(m[4], 64),
        seq=seq,
        prev=prev,
        head=_present(_bytes(m[7], 32)),
        epoch=_unsigned(m[8], 32, 1),
        body_hash=_bytes(m[9], 32),
        body_size=size,
    )


@dataclass
class Delta:
    header: Header
    signature: bytes
    body: bytes  # None where it was taken away


def parse_delta(wire):
    raw, signature, body = _strings(wire, 3)
    if body is not None:
        _bytes(body, most=1 << 20)
    return Delta(parse_header(_bytes(raw)), _bytes(signature, 64), body)


def check_body(delta):
    h = delta.header
    if delta.body is not None:
        same = len(delta.body) == h.body_size and sha256(delta.body) == h.body_hash
        require(same, "body", "not the body that the header names")


@dataclass
class Member:
    id: bytes
    key: bytes
    recipient: str
    role: int
    name: bytes
    grant: bytes
    added: int
    removed: int = 0  # the number of the entry, zero while it is a member
    accepted: dict = field(default_factory=dict)  # incarnation: last seq, once removed


@dataclass
class Entry:
    raw: bytes
    signature: bytes
    space: bytes
    n: int
    prev: bytes
    author: bytes
    action: int
    epoch: int
    root: bytes
    recovery: str
    member: Member
    removed: bytes
    positions: dict
    wraps: dict

    @property
    def hash(self):
        return sha256(self.raw)


def _recipient(value):
    require(isinstance(value, str) and 1 <= len(value.encode()) <= 2048, "form", "a recipient's length")
    return value


def _member(value, n):
    m = _map(value, (1, 2, 3, 4), (5, 6))
    return Member(
        id=_present(_bytes(m[1], 8)),
        key=_bytes(m[2], 32),
        recipient=_recipient(m[3]),
        role=m[4] if _unsigned(m[4], 64) in ROLES else _unsigned(None, 0),
        name=_bytes(m.get(5, b"\x00"), most=2048) if 5 in m else b"",
        grant=_bytes(m.get(6, b"\x00"), most=8192) if 6 in m else b"",
        added=n,
    )


def _positions(value):
    require(isinstance(value, list) and 1 <= len(value) <= 128, "form", "too few or too many positions")
    out, last = {}, -1
    for item in value:
        p = _map(item, (1, 2))
        incarnation = _unsigned(p[1], 64)
        require(incarnation > last, "form", "positions out of order")
        out[incarnation], last = _unsigned(p[2], 64, 1), incarnation
    return out


def _wraps(value, action):
    require(isinstance(value, list) and 1 <= len(value) <= 65, "form", "too few or too many wraps")
    most = 229376 if action == ADD and len(value) == 1 else 8192
    out, last = {}, None
    for item in value:
        w = _map(item, (1, 2))
        to = _bytes(w[1], 8)
        require(last is None or to > last, "form", "wraps out of order")
        out[to], last = _bytes(w[2], most=most), to
    return out


_ALL = (1, 2, 3, 4, 5, 6, 7, 8, 14)
_KEYS = {FOUND: ((9, 10, 11), ()), ADD: ((11,), ()), REMOVE: ((12,), (13,)), EPOCH: ((), ())}


def parse_entry(wire):
    require(len(wire) <= 262144, "form", "an entry over its limit")
    raw, signature = _strings(wire, 2)
    _bytes(raw), _bytes(signature, 64)
    m = cbor.decode(raw)
    require(isinstance(m, dict) and type(m.get(6)) is int and m[6] in _KEYS, "form", "no such action")
    must, may = _KEYS[m[6]]
    _map(m, _ALL + must, may)
    require(_unsigned(m[1], 64) == 1, "form", "another version")
    require(type(m[7]) is int and -(1 << 63) <= m[7] < 1 << 63, "form", "a time out of its range")
    n = _unsigned(m[3], 64, 1)
    prev = _bytes(m[4], 32)
    require(any(prev) == (n > 1), "form", "prev is zeros where n is 1, and only there")
    require((m[6] == FOUND) == (n == 1), "form", "the first entry founds, and no other")
    require(n > 1 or m[5] == ROOT, "form", "the root founds")
    return Entry(
        raw,
        signature,
        space=_present(_bytes(m[2], 16)),
        n=n,
        prev=prev,
        author=_bytes(m[5], 8),
        action=m[6],
        epoch=_unsigned(m[8], 32, 1),
        root=_bytes(m[9], 32) if 9 in m else b"",
        recovery=_recipient(m[10]) if 10 in m else "",
        member=_member(m[11], n) if 11 in m else None,
        removed=_bytes(m[12], 8) if 12 in m else b"",
        positions=_positions(m[13]) if 13 in m else {},
        wraps=_wraps(m[14], m[6]),
    )


class Log:
    """What follows from a space's entries, appended in order."""

    def __init__(self, space):
        self.space, self.entries, self.members = space, [], {}
        self.root, self.number = b"", {}  # the number of each entry, by its hash

    @property
    def epoch(self):
        return self.entries[-1].epoch if self.entries else 0

    def living(self):
        return {m.id: m for m in self.members.values() if not m.removed}

    def append(self, e):
        require(e.space == self.space, "rule", "an entry of another space")
        last = self.entries[-1] if self.entries else None
        require(e.n <= len(self.entries) + 1, "gap", "earlier entries are missing")
        verify(self._key(e), LOG_DOMAIN, e.raw, e.signature)
        if e.n <= len(self.entries) and self.entries[e.n - 1].hash == e.hash:
            raise Refused("known", "taken already")
        if e.n <= len(self.entries) or e.prev != (last.hash if last else bytes(32)):
            raise Refused("fork", "another entry stands in its place")
        self._rules(e, last)
        self._take(e)

    def _key(self, e):
        if e.author == ROOT:
            return e.root if e.action == FOUND else self.root
        require(e.author in self.members, "rule", "the author was never a member")
        return self.members[e.author].key

    def _rules(self, e, last):
        living = self.living()
        owner = e.author == ROOT or (e.author in living and living[e.author].role == OWNER)
        require(owner, "rule", "the author is no owner")
        epoch = 1 if last is None else last.epoch + (e.action in (REMOVE, EPOCH))
        require(e.epoch == epoch, "rule", "another epoch than the one that follows")
        if e.action == FOUND:
            require(e.member.role == OWNER and e.member.key != e.root, "rule", "the first member is an owner")
            to = {RECOVERY, e.member.id}
        elif e.action == ADD:
            m = e.member
            fresh = m.id not in self.members and all(m.key != o.key for o in self.members.values())
            require(fresh and m.key != self.root, "rule", "an id or a key that was there before")
            require(len(living) < MAX_MEMBERS, "rule", "too many members")
            to = {m.id}
        elif e.action == REMOVE:
            require(e.removed in living, "rule", "the removed is no member")
            above = e.author == ROOT or living[e.removed].role != OWNER
            require(above, "rule", "only the root removes an owner")
            to = {RECOVERY} | set(living) - {e.removed}
        else:
            to = {RECOVERY} | set(living)
        require(set(e.wraps) == to, "rule", "wraps to others than it says")

    def _take(self, e):
        if e.action == FOUND:
            self.root = e.root
        if e.member:
            self.members[e.member.id] = e.member
        if e.action == REMOVE:
            m = self.members[e.removed]
            m.removed, m.accepted = e.n, e.positions
        self.entries.append(e)
        self.number[e.hash] = e.n

    def check(self, delta):
        """Whether a delta's header counts against the log as far as it is known."""
        h = delta.header
        require(h.space == self.space, "rule", "a delta of another space")
        require(h.head in self.number, "head", "the log entry that it names is not known")
        at = self.number[h.head]
        m = self.members.get(h.member)
        require(m is not None and m.added <= at, "rule", "the author was no member yet")
        require(not m.removed or m.removed > at, "rule", "the author was removed before")
        require(m.role in (OWNER, WRITER, EXTRACTOR), "rule", "the author's role does not write")
        require(h.epoch == self.entries[at - 1].epoch, "rule", "not the epoch in force there")
        verify(m.key, DELTA_DOMAIN, h.raw, delta.signature)
        if m.removed and h.seq > m.accepted.get(h.incarnation, 0):
            raise Late("rule", "after the last that is accepted of who was removed")


class Chains:
    """The chain of each member's incarnations."""

    def __init__(self):
        self.last = {}

    def append(self, h):
        place = (h.member, h.incarnation)
        seq, digest = self.last.get(place, (0, bytes(32)))
        if h.seq == seq and h.hash == digest:
            raise Refused("known", "taken already")
        require(h.seq >= seq, "older", "taken before the last: compare it with what is kept there")
        require(h.seq <= seq + 1, "gap", "earlier deltas are missing")
        ahead = h.seq == seq + 1 and h.prev == digest
        require(ahead, "fork", "another delta stands in its place")
        self.last[place] = (h.seq, h.hash)
