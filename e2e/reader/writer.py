"""Makes what members and roots say of a space, for who asks a relay: sync/envelope/FORMAT.md. Bodies and wraps are
random bytes here, as no relay can tell."""

import os
import time

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import cbor
from envelope import ADD, EPOCH, FOUND, OWNER, RECOVERY, REMOVE, ROOT, parse_entry, parse_header, sha256, signed
from httpsig import Signer
from relay import as_member

RECIPIENT = "age1example"


def public(key):
    return key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def on_wire(message, key, domain):
    """An array of a map's bytes and their signature."""
    return cbor.encode([message, key.sign(signed(domain, message))])


class Author:
    """A member of a space, with one chain."""

    def __init__(self, space, role=OWNER):
        self.space, self.role = space, role
        self.id, self.key = os.urandom(8), Ed25519PrivateKey.generate()
        self.begin()

    def begin(self):
        self.incarnation, self.seq, self.prev = int.from_bytes(os.urandom(8), "big"), 0, bytes(32)

    @property
    def signer(self):
        return as_member(self.space, self.id, self.key)

    def entry(self):
        """As the log has a member."""
        return {1: self.id, 2: public(self.key), 3: RECIPIENT, 4: self.role}

    def delta(self, log, body=None, bare=False, **other):
        """The next of its chain, on the wire; other changes fields before they are signed."""
        body = body or os.urandom(300)
        fields = {1: 1, 2: self.space, 3: self.id, 4: self.incarnation, 5: self.seq + 1, 6: self.prev, 7: log.head, 8: log.epoch,
                  9: sha256(body), 10: len(body)}
        fields.update({int(k[1:]): v for k, v in other.items()})
        raw = cbor.encode(fields)
        self.seq, self.prev = fields[5], sha256(raw)
        return cbor.encode([raw, self.key.sign(signed("locket/v1 delta", raw)), None if bare else body])

    def back(self, seq, prev):
        """Has the next delta stand where another stood."""
        self.seq, self.prev = seq, prev

    @property
    def place(self):
        return {1: self.id, 2: self.incarnation, 3: self.seq, 4: self.prev}

    def checkpoint(self, log, cursor, places, manifest, **other):
        """On the wire, and its hash."""
        fields = {1: 1, 2: self.space, 3: self.id, 4: log.head, 5: log.epoch, 6: int(time.time()), 7: cursor,
                  8: sorted(places, key=lambda p: (p[1], p[2])), 9: sha256(manifest), 10: len(manifest)}
        fields.update({int(k[1:]): v for k, v in other.items()})
        raw = cbor.encode(fields)
        return on_wire(raw, self.key, "locket/v1 checkpoint"), sha256(raw)

    def vote(self, log, checkpoint, verdict=1, **other):
        fields = {1: 1, 2: self.space, 3: self.id, 4: checkpoint, 5: verdict, 6: log.head}
        fields.update({int(k[1:]): v for k, v in other.items()})
        return on_wire(cbor.encode(fields), self.key, "locket/v1 vote")


class WrittenLog:
    """A space's log as its root and owners write it."""

    def __init__(self, root=None, space=None):
        self.space, self.root = space or os.urandom(16), root or Ed25519PrivateKey.generate()
        self.owner = Author(self.space)
        self.living, self.entries, self.epoch = [self.owner], [], 1
        self.founding = self.append(FOUND, ROOT, self.root, {9: public(self.root), 10: RECIPIENT, 11: self.owner.entry()}, [RECOVERY, self.owner.id])

    @property
    def head(self):
        return self.entries[-1].hash if self.entries else bytes(32)

    @property
    def root_signer(self):
        return Signer("root/" + public(self.root).hex(), self.root)

    def make(self, action, author, key, besides, to, **other):
        """An entry on the wire that would come next."""
        fields = {1: 1, 2: self.space, 3: len(self.entries) + 1, 4: self.head, 5: author, 6: action, 7: int(time.time()), 8: self.epoch,
                  14: [{1: m, 2: os.urandom(60)} for m in sorted(to)], **besides}
        fields.update({int(k[1:]): v for k, v in other.items()})
        return on_wire(cbor.encode(fields), key, "locket/v1 log")

    def append(self, *args):
        """The same, and it counts from here on."""
        wire = self.make(*args)
        self.entries.append(parse_entry(wire))
        return wire

    def add(self, role=OWNER, take=True):
        """The new member, and the entry that adds it, by the first owner."""
        new = Author(self.space, role)
        act = self.append if take else self.make
        wire = act(ADD, self.owner.id, self.owner.key, {11: new.entry()}, [new.id])
        if take:
            self.living.append(new)
        return new, wire

    def next_epoch(self):
        self.epoch += 1
        return self.append(EPOCH, self.owner.id, self.owner.key, {}, [RECOVERY] + [m.id for m in self.living])

    def removal(self, gone, accepted, take=False):
        """The entry by which the first owner removes a member; accepted has the last seq of each of its incarnations."""
        left = [m for m in self.living if m is not gone]
        besides = {12: gone.id}
        if accepted:
            besides[13] = [{1: i, 2: accepted[i]} for i in sorted(accepted)]
        self.epoch += 1
        args = (REMOVE, self.owner.id, self.owner.key, besides, [RECOVERY] + [m.id for m in left])
        if take:
            self.living = left
            return self.append(*args)
        wire = self.make(*args)
        self.epoch -= 1
        return wire


def header_hash(wire):
    return parse_header(cbor.decode(wire)[0]).hash
