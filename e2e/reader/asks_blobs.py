"""Asks a relay about blobs, and about checkpoints, whose parts are blobs: docs/protocol.md, "Blobs" and "Snapshots"."""

import os

import cbor
from asks_requests import founded, path
from asks_space import Asked
from envelope import EXTRACTOR, READER, WRITER, sha256
from writer import Author

CHUNK = 1 << 20
OCTETS = "application/octet-stream"


class Blobs(Asked):
    def put(self, data, what, start=0, end=None, status=201, kind="", by=None, size=None, id=None, **fields):
        part = data[start:end]
        size = len(data) if size is None else size
        fields = {"content-range": f"bytes {start}-{start + len(part) - 1}/{size}", "content-type": OCTETS, **fields}
        answer = self.wire.send((by or self.log.owner).signer, "PUT", path(self.log, f"/blobs/{id or sha256(data).hex()}"), fields=fields, body=part)
        return self.checks.answer(answer, status, kind, what)

    def ask(self, method, data, what, status=200, kind="", by=None, query="", id=None, fields=None):
        signer = by or self.log.owner.signer
        return self.send(signer, method, f"/blobs/{id or sha256(data).hex()}", status, kind, what, query, fields=fields)

    def at(self, answer, offset, size, what):
        have = answer.fields.get("upload-offset"), answer.fields.get("upload-length")
        self.checks.same(have, (str(offset), str(size)), what)


def blobs(checks, wire):
    checks.begin("blobs")
    log = founded(checks, wire)
    a = Blobs(checks, wire, log)
    writer, extractor, reader = a.let_in(WRITER, "a writer"), a.let_in(EXTRACTOR, "an extractor"), a.let_in(READER, "a reader")
    data = os.urandom(2 * CHUNK + 5000)
    size = len(data)
    a.ask("HEAD", data, "one that is not there", 404, "not-found")
    a.ask("GET", data, "one that is not there", 404, "not-found")
    a.ask("DELETE", data, "one that is not there", 404, "not-found")
    a.at(a.put(data, "a middle first", CHUNK, 2 * CHUNK, 409, "offset"), 0, size, "of one that is not there")
    a.ask("HEAD", data, "a middle begins nothing", 404, "not-found")
    a.at(a.put(data, "the first chunk", 0, CHUNK, 204), CHUNK, size, "after the first chunk")
    a.at(a.put(data, "the first chunk again", 0, CHUNK, 204), CHUNK, size, "after the first chunk again")
    a.at(a.put(data, "a chunk too far", CHUNK + 1, 2 * CHUNK, 409, "offset"), CHUNK, size, "to go on from")
    a.at(a.put(data, "a chunk that overlaps", CHUNK - 1, 2 * CHUNK - 1, 409, "offset"), CHUNK, size, "to go on from")
    a.at(a.put(data, "another size", CHUNK, 2 * CHUNK, 409, "offset", size=size + 1), CHUNK, size, "of the size that it was begun with")
    a.at(a.ask("HEAD", data, "while it is being put"), CHUNK, size, "while it is being put")
    a.ask("GET", data, "while it is being put", 404, "not-found")
    a.ask("DELETE", data, "another's that is not done, by a writer", 403, "forbidden", writer.signer)
    a.put(data, "a chunk by an extractor", CHUNK, 2 * CHUNK, 403, "forbidden", by=extractor)
    a.put(data, "a chunk by another member", CHUNK, 2 * CHUNK, 204, by=writer)
    a.at(a.put(data, "the last chunk", 2 * CHUNK), size, size, "when it is done")
    a.at(a.put(data, "a chunk of what is done", 0, CHUNK), size, size, "when it is done")
    a.at(a.ask("HEAD", data, "done"), size, size, "done")
    whole = a.ask("GET", data, "the whole", by=reader.signer)
    checks.holds(whole.body == data and whole.fields.get("content-type") == OCTETS, "its bytes", len(whole.body))

    def ranged(value, first, last):
        part = a.ask("GET", data, f"range {value}", 206, fields={"range": value})
        checks.holds(part.body == data[first:last + 1], f"bytes of {value}", len(part.body))
        checks.same(part.fields.get("content-range"), f"bytes {first}-{last}/{size}", f"Content-Range of {value}")

    ranged("bytes=0-0", 0, 0)
    ranged("bytes=1000-", 1000, size - 1)
    ranged(f"bytes={size - 1}-{size + 100}", size - 1, size - 1)
    for value in (f"bytes={size}-", "bytes=5-2", "bytes=-5", "bytes=0-1,3-4", "items=0-1", "bytes=a-"):
        a.ask("GET", data, f"range {value}", 416, "range", fields={"range": value})

    small = os.urandom(300)
    for value in ("", "bytes 0-299", "bytes 0-298/300", "bytes 0-299/299", "bytes 300-1/300", "bytes */300", "bytes 0-299/*", "bytes=0-299/300"):
        a.put(small, f"Content-Range {value!r}", status=400, kind="malformed", **{"content-range": value or None})
    a.put(small, "over 1 GiB", 0, 300, 413, "too-large", size=(1 << 30) + 1)
    a.put(small, "by an extractor", status=403, kind="forbidden", by=extractor)
    a.put(small, "by a reader", status=403, kind="forbidden", by=reader)
    a.send(log.root_signer, "PUT", "/blobs/" + sha256(small).hex(), 403, "forbidden", "by the root", body=small,
           fields={"content-range": "bytes 0-299/300"})
    for name in ("00", sha256(small).hex().upper(), "zz" * 32):
        a.put(small, f"the id {name}", status=400, kind="malformed", id=name)
        a.ask("HEAD", small, f"the id {name}", 400, "malformed", id=name)
    a.put(small, "what its id does not name", status=409, kind="blob-hash", id="ab" * 32)
    a.ask("HEAD", small, "what was not what its id names", 404, "not-found", id="ab" * 32)
    a.put(small, "by a writer", by=writer)
    a.ask("DELETE", small, "a done one, by its author", 403, "forbidden", writer.signer)
    begun = os.urandom(5000)
    a.put(begun, "begun by a writer", 0, 4000, 204, by=writer)
    a.ask("DELETE", begun, "one that is not done, by its author", 204, by=writer.signer)
    a.deltas([log.owner.delta(log)], "a delta")
    a.ask("DELETE", small, "at another cursor", 409, "conflict", query="cursor=0")
    a.ask("DELETE", small, "at a cursor that is none", 400, "malformed", query="cursor=x")
    a.ask("HEAD", small, "it is still there")
    a.ask("DELETE", small, "at the last cursor", 204, query="cursor=1")
    a.ask("DELETE", small, "once more", 404, "not-found", query="cursor=1")
    a.ask("DELETE", data, "by the root", 204, by=log.root_signer)
    request = wire.dressed(writer.signer, "PUT", path(log, "/blobs/" + sha256(small).hex()), "", {"content-range": "bytes 0-299/300"}, small, {})
    for status, kind, what in ((201, "", "once"), (401, "replayed", "the same request once more")):
        checks.answer(wire.plain("PUT", path(log, "/blobs/" + sha256(small).hex()), fields=request, body=small), status, kind, what)


def checkpoints(checks, wire):
    checks.begin("checkpoints")
    log = founded(checks, wire)
    a = Blobs(checks, wire, log)
    me = log.owner
    other, writer = a.let_in(1, "another owner"), a.let_in(WRITER, "a writer")
    reader = a.let_in(READER, "a reader")
    a.deltas([me.delta(log), me.delta(log)], "two deltas")
    at_two = me.place
    a.deltas([writer.delta(log)], "one of the writer's", by=writer)
    places = sorted([at_two, writer.place], key=lambda p: (p[1], p[2]))
    checks.same(a.get("/places", "places", "cursor=3"), places, "where each chain is")
    checks.same(a.get("/places", "places before", "cursor=2"), [at_two], "where each chain was")
    checks.same(a.get("/places", "places at the start", "cursor=0"), [], "at the start")
    a.get("/places", "places past the end", "cursor=4", status=409, kind="ahead")
    for odd in ("", "cursor=", "cursor=x", "cursor=9223372036854775808"):
        a.get("/places", f"places at {odd!r}", odd, status=400, kind="malformed")
    checks.same(a.get("/checkpoints", "none yet"), [], "none yet")
    manifest = os.urandom(400)

    def put(made, what, status=204, kind="", by=me):
        a.send(by.signer, "POST", "/checkpoints", status, kind, what, body=made[0])
        return made

    good = me.checkpoint(log, 3, places, manifest)
    put(good, "a manifest that is not there", 409, "conflict")
    a.put(manifest, "the manifest")
    put(good, "brought by another", 403, "forbidden", other)
    a.send(log.root_signer, "POST", "/checkpoints", 403, "forbidden", "brought by the root", body=good[0])
    put(writer.checkpoint(log, 3, places, manifest), "of a writer", 403, "rule", writer)
    put(me.checkpoint(log, 3, [at_two], manifest), "a chain is left out", 409, "conflict")
    put(me.checkpoint(log, 2, places, manifest), "the places of another cursor", 409, "conflict")
    put(me.checkpoint(log, 4, places, manifest), "a cursor past the end", 409, "ahead")
    put(me.checkpoint(log, 3, places, manifest, k4=os.urandom(32)), "a head that is not known", 409, "unknown-head")
    put(me.checkpoint(log, 3, places, manifest, k5=2), "another epoch", 403, "rule")
    put(me.checkpoint(log, 3, places, manifest, k2=os.urandom(16)), "another space", 403, "forbidden")
    put(me.checkpoint(log, 3, places, manifest, k10=401), "another size of the manifest", 409, "conflict")
    put((good[0][:-1] + bytes([good[0][-1] ^ 1]), good[1]), "a signature with a bit turned", 403, "signature")
    put((b"\x82\x40\x40", b""), "no checkpoint", 400, "malformed")
    put(good, "as it should be")
    put(good, "the same again")

    def vote(by, checkpoint, what, status=204, kind="", wire_=None, **other_):
        made = wire_ or by.vote(log, checkpoint, **other_)
        a.send(by.signer, "POST", "/votes", status, kind, what, body=made)
        return made

    def compact(by, hash_, status, kind, what, dropped=None):
        answer = a.send(by, "POST", "/compact", status, kind, what, body=hash_)
        if status == 200:
            checks.same(answer.json(), {"dropped": dropped}, what)

    checks.same(a.get("/checkpoints", "without votes"), [[good[0], []]], "a checkpoint without votes")
    compact(me.signer, good[1], 403, "rule", "before it is verified")
    vote(other, os.urandom(32), "on what is not there", 404, "not-found")
    vote(other, good[1], "brought by another", 403, "forbidden", writer.vote(log, good[1]))
    vote(Author(log.space), good[1], "who is not in", 403, "forbidden")
    vote(reader, good[1], "a reader's", 403, "rule")
    vote(other, good[1], "a head that is not known", 409, "unknown-head", k6=os.urandom(32))
    vote(other, good[1], "neither of the verdicts", 400, "malformed", verdict=3)
    agreed = vote(writer, good[1], "agrees")
    vote(writer, good[1], "the same vote again", wire_=agreed)
    checks.same(a.get("/checkpoints", "with a vote"), [[good[0], [agreed]]], "a checkpoint with its vote")
    compact(writer.signer, good[1], 403, "forbidden", "by a writer")
    compact(log.root_signer, good[1], 403, "forbidden", "by the root")
    compact(me.signer, os.urandom(32), 404, "not-found", "for what is not there")
    compact(me.signer, good[1][:31], 400, "malformed", "31 bytes")
    compact(me.signer, good[1], 200, "", "verified", 3)
    compact(me.signer, good[1], 200, "", "once more", 0)
    checks.same([cbor.decode(d)[2] for _, d in a.get("/deltas", "bare")], [None] * 3, "bodies that were dropped")
    vote(other, good[1], "objects", verdict=2)
    compact(me.signer, good[1], 403, "rule", "disputed")
    made = [me.checkpoint(log, 3, places, manifest, k6=i) for i in range(8)]
    for c in made[:7]:
        put(c, "another at the same cursor")
    put(made[7], "a ninth", 409, "conflict")
    checks.same(len(a.get("/checkpoints", "eight")), 8, "eight of them")
    drop = f"/checkpoints/{good[1].hex()}"
    a.send(writer.signer, "DELETE", drop, 403, "forbidden", "by a writer")
    a.send(me.signer, "DELETE", drop, 204, "", "by an owner")
    a.send(me.signer, "DELETE", drop, 204, "", "what is gone")
    a.send(me.signer, "DELETE", "/checkpoints/00", 400, "malformed", "what is no hash")
    a.send(me.signer, "DELETE", drop.upper().replace("/CHECKPOINTS", "/checkpoints"), 400, "malformed", "a hash in capitals")
    a.send(log.root_signer, "DELETE", f"/checkpoints/{made[0][1].hex()}", 204, "", "by the root")
    checks.same([c[0] for c in a.get("/checkpoints", "six")], [c[0] for c in made[1:7]], "what is left, in the order of coming")
