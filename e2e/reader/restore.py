"""Reads a space as a new device does: a snapshot in place of bodies that are gone, deltas for the rest (docs/protocol.md, "Snapshots")."""

import checkpoint
import snapshot
from age import open_epoch
from envelope import Chains, sha256
from refusal import Late, Refused, require
from state import State
from withheld import Withheld


class Offer:
    """A checkpoint that counts, and how the votes on it stand."""

    def __init__(self, log, wire, votes):
        self.checkpoint = checkpoint.parse_checkpoint(wire)
        checkpoint.check_checkpoint(log, self.checkpoint)
        parsed = []
        for v in votes:
            try:
                parsed.append(checkpoint.parse_vote(v))
            except Refused:
                continue  # what is no vote does not count
        self.standing = checkpoint.standing(log, self.checkpoint, parsed)


class Restored:
    """The state of a space, and how it came to be."""

    def __init__(self, space, source):
        self.space, self.source, self.problems = space, source, []
        self.taken, self.state, self.bare = None, State(), Withheld()
        self.deltas = self.bodies = 0

    def offers(self):
        """What may be taken, the best first: the newest verified, then the newest that nobody disputes."""
        out = []
        for wire, votes in self.source.checkpoints(self.space.log.space):
            try:
                out.append(Offer(self.space.log, wire, votes))
            except Refused as r:
                self.problems.append(str(r))
        undisputed = [o for o in out if o.standing != "disputed"]
        return sorted(undisputed, key=lambda o: (o.standing == "verified", o.checkpoint.cursor), reverse=True)

    def whole(self):
        """Reads all headers, and takes a snapshot only where a body that it covers is gone."""
        heard, chains_at = [], {}
        offers = self.offers()
        wanted = {o.checkpoint.cursor for o in offers}
        for cursor, wire in self.source.deltas(self.space.log.space, 0):
            heard.append(self._read(wire))
            if cursor in wanted:
                chains_at[cursor] = dict(self.space.chains.last)
        self._apply(heard)
        if not self.bare.places():
            return self
        for offer in offers:
            try:
                items = self._items(offer.checkpoint)
                at = chains_at.get(offer.checkpoint.cursor)
                require(at is not None, "places", "a checkpoint beyond the end of what there is")
                require(at == offer.checkpoint.places, "places", "a checkpoint with places that the chains don't have")
            except Refused as r:
                self.problems.append(str(r))
                continue
            self._begin(offer, items)
            self._apply(heard[offer.checkpoint.cursor :])
            break
        return self

    def jump(self):
        """Takes a snapshot first, and no header that it covers; the next of each chain must follow from its place."""
        for offer in self.offers():
            try:
                items = self._items(offer.checkpoint)
            except Refused as r:
                self.problems.append(str(r))
                continue
            self._begin(offer, items)
            self.space.chains = Chains()
            self.space.chains.last = dict(offer.checkpoint.places)
            break
        cursor = self.taken.checkpoint.cursor if self.taken else 0
        self._apply([self._read(wire) for _, wire in self.source.deltas(self.space.log.space, cursor)])
        return self

    def _read(self, wire):
        """A delta and its ops, or None. A relay checks headers and chains: what does not fit there ends the reading."""
        try:
            delta = self.space.take(wire)
        except Refused as r:
            if not isinstance(r, Late) and not self.source.anybodys:
                raise
            self.problems.append(str(r))
            return None
        self.deltas += 1
        self.bodies += delta.body is not None
        try:
            return delta, self.space.open(delta)
        except Refused as r:  # by its author: none of it is taken, and what follows is
            self.problems.append(str(r))
            return delta, []

    def _begin(self, offer, items):
        self.taken, self.state, self.bare = offer, State(), Withheld()
        for key, said in items:
            self.state.take_item(key, said, self.space.log.members, self.space.grants)

    def _apply(self, heard):
        for delta, ops in filter(None, heard):
            member = self.space.log.members[delta.header.member]
            self.bare.take(member, delta, ops)
            self.state.take(member, self.space.grants.get(member.id), ops)

    def _part(self, id, size, epoch):
        sealed = self.source.blob(self.space.log.space, id.hex())
        require(len(sealed) == size and sha256(sealed) == id, "part", "a part of another size or hash")
        return open_epoch(sealed, self.space.keys[epoch])

    def _items(self, c):
        """All that a snapshot holds, once every part of it was opened and is what its checkpoint says."""
        require(c.epoch in self.space.keys, "seal", "no key of its epoch")
        of = c.space, c.author, c.cursor
        digest, parts = snapshot.manifest(*of, self._part(c.manifest, c.size, c.epoch))
        chunks, out = snapshot.Chunks(*of), []
        for id, size in parts:
            out += [(key, said) for key, said, _ in chunks.read(self._part(id, size, c.epoch))]
        require(chunks.digest() == digest, "digest", "items of another digest than the manifest's")
        members = self.space.log.members
        said_by = [said["dot"]["member"] for key, said in out if key == 1]
        require(all(bytes.fromhex(m) in members for m in said_by), "rule", "an assertion of who never was a member")
        return out
