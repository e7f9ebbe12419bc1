"""A whole space, opened from the phrase alone: its log, its epoch keys, its deltas' ops."""

import hashlib

import cbor
import envelope
from age import derive, open_chunks, open_hybrid
from body import open_sealed
from padding import padded_length
from refusal import require
from value import open_note


def epoch_keys(wrapped, space):
    """The keys within an opened wrap, by epoch."""
    require(wrapped[:1] == b"\x01" and wrapped[1:17] == space, "wrap", "a wrap of another version or space")
    rest, out, last = wrapped[17:], {}, 0
    require(rest and len(rest) % 36 == 0, "wrap", "a wrap of another length")
    for i in range(0, len(rest), 36):
        epoch, key = int.from_bytes(rest[i : i + 4], "big"), rest[i + 4 : i + 36]
        require(epoch > last, "wrap", "epochs out of order")
        out[epoch], last = key, epoch
    return out


class Space:
    """A space that somebody may read: recovery, whose id is zeros, or a member."""

    @classmethod
    def of_root(cls, recovery, entries):
        out = cls(recovery.space, envelope.RECOVERY, recovery.identity, entries)
        require(out.log.root == recovery.root_public, "rule", "a space that another root founded")
        require(out.log.entries[0].recovery == recovery.identity.recipient(), "rule", "another recovery recipient")
        return out

    @classmethod
    def of_member(cls, space, member, identity, genesis, entries):
        """genesis is the hash of the first entry, as a grant or a welcome says it."""
        out = cls(space, member, identity, entries)
        require(out.log.entries[0].hash == genesis, "rule", "a log that begins otherwise")
        me = out.log.living().get(member)
        require(me is not None and me.recipient == identity.recipient(), "rule", "this member is not in the log")
        return out

    def __init__(self, space, reader, identity, entries):
        self.log, self.keys = envelope.Log(space), {}
        for wire in entries:
            entry = envelope.parse_entry(wire)
            self.log.append(entry)
            if reader in entry.wraps:
                self.keys.update(epoch_keys(open_hybrid(entry.wraps[reader], identity), space))
        require(self.log.entries, "rule", "an empty log")
        self.chains = envelope.Chains()
        self.grants = {m.id: self._grant(m) for m in self.log.members.values() if m.role == envelope.EXTRACTOR}

    def take(self, wire):
        """A delta that counts, and is next in its chain."""
        delta = envelope.parse_delta(wire)
        self.log.check(delta)
        envelope.check_body(delta)
        self.chains.append(delta.header)
        return delta

    def open(self, delta):
        """Its ops; none where its body was taken away."""
        if delta.body is None:
            return []
        h = delta.header
        require(h.epoch in self.keys, "seal", "no key of its epoch")
        return open_sealed(h, delta.body, self.keys[h.epoch])

    def name(self, member):
        """What a member calls itself, and what it runs on."""
        if not member.name:
            return "", ""
        called = open_note("member name", member.name, self.log.space, member.id, self.keys).decode()
        name, _, platform = called.partition("\0")
        return name, platform

    def _grant(self, member):
        """What a worker may say: nothing, where its grant does not open."""
        grant = {"types": [], "transcribe": False, "per_evidence": 0}
        if not member.grant:
            return grant
        fields = cbor.decode(open_note("member grant", member.grant, self.log.space, member.id, self.keys))
        require(isinstance(fields, dict) and set(fields) <= {1, 2, 3}, "form", "not a grant")
        grant.update({("types", "transcribe", "per_evidence")[k - 1]: v for k, v in fields.items()})
        return grant

    def open_blob(self, op, sealed):
        require(len(sealed) == op["size"], "blob", "a blob of another size")
        require(hashlib.sha256(sealed).hexdigest() == op["sealed"], "blob", "another blob")
        padded = open_chunks(derive(bytes.fromhex(op["key"]), "stream"), sealed)
        if "plain" not in op:
            return padded
        plain = op["plain"]
        require(len(padded) == padded_length(plain), "blob", "a blob with other padding than follows")
        require(not padded[plain:].strip(b"\x00"), "blob", "something in the padding")
        return padded[:plain]
