"""Checkpoints and votes: sync/envelope/FORMAT.md."""

from dataclasses import dataclass

from envelope import OWNER, WRITER, _bytes, _map, _present, _strings, _unsigned, sha256, verify
import cbor
from refusal import Refused, require

AGREE, OBJECT = 1, 2


@dataclass
class Checkpoint:
    raw: bytes
    signature: bytes
    space: bytes
    author: bytes
    head: bytes
    epoch: int
    cursor: int
    places: dict  # (member, incarnation): (seq, hash)
    manifest: bytes
    size: int

    @property
    def hash(self):
        return sha256(self.raw)


@dataclass
class Vote:
    raw: bytes
    signature: bytes
    space: bytes
    member: bytes
    checkpoint: bytes
    verdict: int
    head: bytes


def _signed(wire, limit):
    require(len(wire) <= limit, "form", "over its limit")
    raw, signature = _strings(wire, 2)
    return _bytes(raw), _bytes(signature, 64)


def _seconds(value):
    require(type(value) is int and -(1 << 63) <= value < 1 << 63, "form", "not a time")


def _places(value):
    require(isinstance(value, list) and 1 <= len(value) <= 1024, "form", "too few or too many places")
    out, last = {}, None
    for item in value:
        p = _map(item, (1, 2, 3, 4))
        at = _present(_bytes(p[1], 8)), _unsigned(p[2], 64)
        require(last is None or last < at, "form", "places out of order")
        out[at], last = (_unsigned(p[3], 64, 1), _present(_bytes(p[4], 32))), at
    return out


def parse_checkpoint(wire):
    raw, signature = _signed(wire, 73728)
    m = _map(cbor.decode(raw), range(1, 11))
    require(_unsigned(m[1], 64) == 1, "form", "another version")
    _seconds(m[6])
    size = _unsigned(m[10], 32, 1)
    require(size <= 1 << 20, "form", "a manifest over its limit")
    return Checkpoint(
        raw, signature, space=_present(_bytes(m[2], 16)), author=_present(_bytes(m[3], 8)), head=_present(_bytes(m[4], 32)),
        epoch=_unsigned(m[5], 32, 1), cursor=_unsigned(m[7], 64, 1), places=_places(m[8]),
        manifest=_present(_bytes(m[9], 32)), size=size)


def parse_vote(wire):
    raw, signature = _signed(wire, 256)
    m = _map(cbor.decode(raw), range(1, 7))
    require(_unsigned(m[1], 64) == 1, "form", "another version")
    require(m[5] in (AGREE, OBJECT), "form", "neither agrees nor objects")
    return Vote(raw, signature, space=_present(_bytes(m[2], 16)), member=_present(_bytes(m[3], 8)),
                checkpoint=_present(_bytes(m[4], 32)), verdict=m[5], head=_present(_bytes(m[6], 32)))


def check_checkpoint(log, c):
    """Refuses one that does not count against a log."""
    require(c.space == log.space, "rule", "of another space")
    require(c.head in log.number, "unknown-head", "the log entry that it names is not there")
    n = log.number[c.head]
    m = log.members.get(c.author)
    require(m is not None and m.added <= n and not m.removed and m.role == OWNER, "rule", "its author is no owner")
    require(c.epoch == log.entries[n - 1].epoch, "rule", "another epoch than the one in force")
    require(all(member in log.members for member, _ in c.places), "rule", "it covers who never was a member")
    verify(m.key, "locket/v1 checkpoint", c.raw, c.signature)


def check_vote(log, v):
    require(v.space == log.space, "rule", "of another space")
    require(v.head in log.number, "unknown-head", "the log entry that it names is not there")
    m = log.members.get(v.member)
    require(m is not None and not m.removed and m.role in (OWNER, WRITER), "rule", "its member has no vote")
    verify(m.key, "locket/v1 vote", v.raw, v.signature)


def standing(log, c, votes):
    """What follows from the votes on a checkpoint that counts."""
    agreed = False
    for v in votes:
        try:
            check_vote(log, v)
        except Refused:
            continue
        if v.checkpoint != c.hash:
            continue
        if v.verdict == OBJECT:
            return "disputed"
        agreed = agreed or v.member != c.author
    alone = all(m.id == c.author for m in log.living().values() if m.role in (OWNER, WRITER))
    return "verified" if agreed or alone else "unverified"
