"""Heads, which members compare: sync/envelope/FORMAT.md, "Heads"."""

import base64
from dataclasses import dataclass

import cbor
from checkpoint import _places, _seconds, _signed
from envelope import _bytes, _map, _present, _unsigned, verify
from refusal import Refused, require

PREFIX = "locket-heads-1."


@dataclass
class Heads:
    raw: bytes
    signature: bytes
    space: bytes
    member: bytes
    log: int
    head: bytes
    places: dict  # (member, incarnation): (seq, hash)


def parse_heads(text):
    text = "".join(text.split())
    require(text.startswith(PREFIX), "form", "another beginning")
    rest = text[len(PREFIX):]
    try:
        wire = base64.b64decode(rest + "=" * (-len(rest) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise Refused("form", "not base64url") from None
    require(base64.urlsafe_b64encode(wire).decode().rstrip("=") == rest, "form", "base64url of another form")
    raw, signature = _signed(wire, 73728)
    m = _map(cbor.decode(raw), range(1, 8))
    require(_unsigned(m[1], 64) == 1, "form", "another version")
    _seconds(m[7])
    return Heads(raw, signature, space=_present(_bytes(m[2], 16)), member=_present(_bytes(m[3], 8)), log=_unsigned(m[4], 64, 1),
                 head=_present(_bytes(m[5], 32)), places=_places(m[6]) if m[6] != [] else {})


def check_heads(log, h):
    """Refuses heads that don't count against a log, and names another log as a fork."""
    require(h.space == log.space, "rule", "of another space")
    m = log.members.get(h.member)
    require(m is not None or h.log <= len(log.entries), "unknown-head", "of who may come later in the log")
    require(m is not None and not m.removed, "rule", "of no member")
    verify(m.key, "locket/v1 heads", h.raw, h.signature)
    if h.log <= len(log.entries):
        require(log.entries[h.log - 1].hash == h.head, "fork", "another log")
