"""Asks a relay about a space: docs/protocol.md, "Requests"."""

import os
import threading

import cbor
from asks_requests import founded, path
from body import base32
from envelope import ADD, EXTRACTOR, READER, RECOVERY, WRITER
from writer import Author, WrittenLog, header_hash


class Asked:
    """A space at a relay, and who asks."""

    def __init__(self, checks, wire, log):
        self.checks, self.wire, self.log = checks, wire, log

    def send(self, signer, method, rest, status, kind, what, query="", **more):
        return self.checks.answer(self.wire.send(signer, method, path(self.log, rest), query, **more), status, kind, what)

    def get(self, rest, what, query="", signer=None, status=200, kind=""):
        answer = self.send(signer or self.log.owner.signer, "GET", rest, status, kind, what, query)
        return answer.cbor() if answer.status == 200 else []

    def entry(self, wire, what, status=204, kind="", signer=None):
        return self.send(signer or self.log.owner.signer, "POST", "/log", status, kind, what, body=wire)

    def let_in(self, role, what):
        new, wire = self.log.add(role)
        self.entry(wire, what)
        return new

    def deltas(self, items, what, status=200, kind="", by=None):
        answer = self.send((by or self.log.owner).signer, "POST", "/deltas", status, kind, what, body=cbor.encode(items))
        return answer.cbor() if answer.status == 200 else answer


def entries(checks, wire):
    checks.begin("log")
    log = WrittenLog()
    a = Asked(checks, wire, log)
    other = WrittenLog()
    a.entry(other.founding, "another space's founding", 403, "forbidden", other.root_signer)
    a.entry(log.founding[:-1] + bytes([log.founding[-1] ^ 1]), "a founding that nobody signed", 403, "forbidden", log.root_signer)
    a.entry(log.founding, "founded by somebody else", 403, "forbidden", other.root_signer)
    a.entry(log.founding, "founded by the member", 204, "", log.owner.signer)
    a.entry(log.founding, "the same founding again", 204, "", log.root_signer)
    thief = WrittenLog(space=log.space)
    a.entry(thief.founding, "founded once more by another", 409, "conflict", thief.root_signer)
    writer, wire_ = log.add(WRITER)
    a.entry(wire_, "a writer")
    a.entry(wire_, "the same entry again")
    owner2, extractor, reader = a.let_in(1, "an owner"), a.let_in(EXTRACTOR, "an extractor"), a.let_in(READER, "a reader")
    last = log.entries.pop()
    a.entry(log.make(ADD, log.owner.id, log.owner.key, {11: Author(log.space).entry()}, [RECOVERY]), "prev is not the last", 409, "conflict")
    log.entries.append(last)
    a.entry(log.make(ADD, log.owner.id, log.owner.key, {11: writer.entry()}, [writer.id]), "who is in already", 403, "rule")
    new = Author(log.space)
    good = log.make(ADD, log.owner.id, log.owner.key, {11: new.entry()}, [new.id])
    a.entry(log.make(ADD, log.owner.id, writer.key, {11: new.entry()}, [new.id]), "signed by another", 403, "signature")
    a.entry(good, "brought by a writer", 403, "forbidden", writer.signer)
    a.entry(good[:-70] + bytes([good[-70] ^ 1]) + good[-69:], "an entry with a bit turned", 403, "signature")
    a.entry(log.make(ADD, writer.id, writer.key, {11: new.entry()}, [new.id]), "made by a writer", 403, "rule")
    gap = log.make(ADD, log.owner.id, log.owner.key, {11: new.entry()}, [new.id], k3=99)
    a.entry(gap, "a number that is not next", 409, "conflict")
    a.entry(good[:-1], "cut off", 400, "malformed")
    rooted = Author(log.space, READER)
    a.entry(log.append(ADD, bytes(8), log.root, {11: rooted.entry()}, [rooted.id]), "a reader, let in by the root", signer=log.root_signer)
    log.living.append(rooted)
    a.entry(log.next_epoch(), "a next epoch, brought by another owner", signer=owner2.signer)
    for _ in range(13):
        a.let_in(READER, "one more")
    wires = a.get("/log", "the first page")
    checks.same(len(wires), 16, "entries of an answer")
    checks.same(wires[0], log.founding, "the first entry as it was sent")
    checks.same(a.get("/log", "the rest", "after=16"), a.get("/log", "a larger limit", "after=16&limit=500"), "more than the limit is the limit")
    checks.same(len(wires) + len(a.get("/log", "the rest", "after=16")), len(log.entries), "all entries")
    checks.same(len(a.get("/log", "two", "after=3&limit=2")), 2, "limit=2")
    checks.same(len(a.get("/log", "none asked for", "after=3&limit=0")), 1, "limit=0 is one")
    checks.same(a.get("/log", "after the last", f"after={len(log.entries)}"), [], "after the last")
    a.get("/log", "beyond the last", f"after={len(log.entries) + 1}", status=409, kind="ahead")
    for odd in ("after=x", "after=-1", "after=9223372036854775808", "limit=x", "limit=2147483648", "wait=56", "wait=1.5", "after="):
        a.get("/log", odd, odd, status=400, kind="malformed")
        a.get("/deltas", odd, odd, status=400, kind="malformed")
    for who, role in ((reader, "reader"), (extractor, "extractor"), (writer, "writer")):
        a.get("/log", f"a {role} reads it", signer=who.signer)
    a.get("/log", "what is not known in a query is passed over", "other=1")


def deltas(checks, wire):
    checks.begin("deltas")
    log = founded(checks, wire)
    a = Asked(checks, wire, log)
    me = log.owner
    writer, extractor, reader = a.let_in(WRITER, "a writer"), a.let_in(EXTRACTOR, "an extractor"), a.let_in(READER, "a reader")
    checks.same(a.get("/deltas", "none yet"), [], "none yet")
    one, two = me.delta(log), me.delta(log)
    checks.same(a.deltas([one, two], "two"), [1, 2], "cursors")
    checks.same(a.deltas([two, one], "both again"), [2, 1], "the old cursors")
    at = me.seq, me.prev
    three = me.delta(log)
    me.back(*at)
    forked = me.delta(log)
    checks.same(a.deltas([three, three, one], "one twice in a request"), [3, 3, 1], "cursors of one twice")
    a.deltas([forked], "another in its place", 409, "fork")
    me.back(3, header_hash(three))
    four, five = me.delta(log), me.delta(log)
    a.deltas([five], "one is missing before it", 409, "gap")
    at = me.seq, me.prev
    me.back(3, os.urandom(32))
    a.deltas([me.delta(log)], "the next, of another before it", 409, "fork")
    me.back(*at)
    a.deltas([four, forked, five], "one of three is a fork", 409, "fork")
    checks.same(len(a.get("/deltas", "all")), 3, "all or none of a request are taken")
    bare = cbor.encode(cbor.decode(four)[:2] + [None])
    checks.same(a.deltas([bare, five], "one whose body is gone"), [4, 5], "cursors")
    checks.same(a.deltas([four], "its body afterwards"), [4], "cursor of what comes again")
    a.deltas([cbor.encode(cbor.decode(four)[:2] + [os.urandom(300)])], "what is there, with another body", 400, "body")
    page = a.get("/deltas", "all")
    checks.same([c for c, _ in page], [1, 2, 3, 4, 5], "cursors without gaps")
    checks.same([d for _, d in page], [one, two, three, bare, five], "deltas as they were sent; a body is not put back")
    checks.same([c for c, _ in a.get("/deltas", "two of them", "after=1&limit=2")], [2, 3], "after and limit")
    checks.same(len(a.get("/deltas", "limit=0", "limit=0")), 1, "limit=0 is one")
    checks.same(a.get("/deltas", "after the last", "after=5"), [], "after the last")
    a.get("/deltas", "beyond the last", "after=6", status=409, kind="ahead")

    checks.same(a.deltas([writer.delta(log)], "a writer's own", by=writer), [6], "cursor")
    checks.same(a.deltas([extractor.delta(log)], "an extractor's own", by=extractor), [7], "cursor")
    a.deltas([reader.delta(log)], "a reader's own", 403, "rule", by=reader)
    a.deltas([extractor.delta(log)], "an extractor's by the writer", 403, "forbidden", by=writer)
    extractor.back(1, extractor.prev)
    extractor.begin()
    checks.same(a.deltas([writer.delta(log), extractor.delta(log)], "others' by the owner"), [8, 9], "cursors")
    a.send(log.root_signer, "POST", "/deltas", 403, "forbidden", "by the root", body=cbor.encode([me.delta(log)]))

    def odd(what, status, kind, make):
        me.begin()
        a.deltas([make()], what, status, kind)

    def turned(delta):
        raw, signature, body = cbor.decode(delta)
        return cbor.encode([raw, bytes([signature[0] ^ 1]) + signature[1:], body])

    odd("a signature with a bit turned", 403, "signature", lambda: turned(me.delta(log)))
    odd("another body", 400, "body", lambda: cbor.encode(cbor.decode(me.delta(log))[:2] + [os.urandom(300)]))
    odd("a longer body", 400, "body", lambda: cbor.encode(cbor.decode(me.delta(log))[:2] + [os.urandom(301)]))
    odd("a head that is not known", 409, "unknown-head", lambda: me.delta(log, k7=os.urandom(32)))
    odd("another epoch", 403, "rule", lambda: me.delta(log, k8=2))
    odd("another space", 403, "rule", lambda: me.delta(log, k2=os.urandom(16)))
    odd("another version", 400, "malformed", lambda: me.delta(log, k1=2))
    odd("seq 0", 400, "malformed", lambda: me.delta(log, k5=0))
    odd("seq 1 with a prev", 400, "malformed", lambda: me.delta(log, k6=os.urandom(32)))
    odd("who never was in", 403, "rule", lambda: Author(log.space).delta(log))
    odd("a chain that begins at 2", 409, "gap", lambda: me.delta(log, k5=2, k6=os.urandom(32)))
    odd("no delta", 400, "malformed", lambda: b"\x80")
    odd("an empty body", 400, "malformed", lambda: cbor.encode(cbor.decode(me.delta(log))[:2] + [b""]))
    me.begin()
    checks.same(a.deltas([me.delta(log, os.urandom(1 << 20))], "the largest"), [10], "cursor of the largest")
    large = [me.delta(log, os.urandom(1 << 20)) for _ in range(4)]
    checks.same(a.deltas(large, "four of them"), [11, 12, 13, 14], "cursors of 4 MiB")
    some = len(a.get("/deltas", "an answer of what fits", "after=9"))
    checks.holds(1 <= some < 5, "an answer has 4 MiB at most", some)
    checks.same(len(a.get("/deltas", "each of them", "after=13&limit=256")), 1, "the last of them")

    waiting = {}
    asks = threading.Thread(target=lambda: waiting.update(page=wire.send(writer.signer, "GET", path(log, "/deltas"), "after=14&wait=55")))
    asks.start()
    small = me.delta(log)
    a.deltas([small], "while somebody waits")
    asks.join()
    checks.same(waiting["page"].cbor(), [[15, small]], "who waited is given it")
    checks.same(a.get("/deltas", "a second's wait", "after=15&wait=1"), [], "nothing, after the wait")

    def ref(author, seq, incarnation=None):
        return [author.id, author.incarnation if incarnation is None else incarnation, seq]

    def forget(refs, what, signer=me.signer, status=200, kind="", forgotten=None):
        answer = a.send(signer, "POST", "/forget", status, kind, what, body=cbor.encode(refs))
        if status == 200:
            checks.same(answer.json(), {"forgotten": forgotten}, what)

    forget([ref(me, 1), ref(me, 2), ref(me, 99)], "two, and one that is not", forgotten=2)
    forget([ref(me, 1)], "one that is gone", forgotten=0)
    forget([], "none", forgotten=0)
    forget([ref(writer, 1)], "its own", writer.signer, forgotten=1)
    forget([ref(me, 3)], "another's", writer.signer, 403, "forbidden")
    forget([ref(writer, 2)], "another's, by the owner", forgotten=1)
    forget([ref(me, 3)], "another's, by the root", log.root_signer, forgotten=1)
    forget([ref(me, 4)] * 256, "256 of them", forgotten=1)
    forget([ref(me, 4)] * 257, "257 of them", status=400, kind="malformed")
    forget([[me.id, 1]], "no seq", status=400, kind="malformed")
    gone = cbor.decode(a.get("/deltas", "one whose body was forgotten", "after=9&limit=1")[0][1])
    checks.same(gone[2], None, "its body")


def removals(checks, wire):
    checks.begin("removals")
    log = founded(checks, wire)
    a = Asked(checks, wire, log)
    writer = a.let_in(WRITER, "a writer")
    first, second, third, fourth = (writer.delta(log) for _ in range(4))
    checks.same(a.deltas([first, second], "two of the writer", by=writer), [1, 2], "cursors")
    less = log.removal(writer, {writer.incarnation: 1})
    a.entry(less, "a removal that leaves out what is here", 409, "conflict")
    a.deltas([third], "who is being removed", 503, "busy", by=writer)
    a.entry(log.removal(writer, {writer.incarnation: 3}, take=True), "a removal that leaves out nothing")
    checks.same(a.deltas([third], "what the removal accepts", by=writer), [3], "cursor")
    a.deltas([fourth], "what it does not accept", 403, "rule", by=writer)
    for rest in ("/log", "/deltas", "/checkpoints", "/events", "/places?cursor=1"):
        a.get(rest.split("?")[0], f"the removed asks for {rest}", rest.partition("?")[2], writer.signer, 403, "forbidden")
    a.send(writer.signer, "POST", "/forget", 403, "forbidden", "the removed forgets", body=cbor.encode([[writer.id, writer.incarnation, 1]]))
    again = a.let_in(WRITER, "another writer")
    checks.same(a.deltas([again.delta(log), again.delta(log)], "two of it", by=again), [4, 5], "cursors")
    twice = log.removal(again, {}, take=True)
    a.entry(twice, "all is left out", 409, "conflict")
    a.entry(twice, "and once more, with the same places")
    places = a.get("/places", "places, as far as they count", "cursor=5")
    checks.same(places, [{1: writer.id, 2: writer.incarnation, 3: 3, 4: header_hash(third)}], "what the removal leaves out is in no place")


def chains(checks, wire):
    checks.begin("chains")
    log = founded(checks, wire)
    a = Asked(checks, wire, log)
    first = log.owner.delta(log)
    begun = [first]
    for _ in range(127):
        log.owner.begin()
        begun.append(log.owner.delta(log))
    checks.same(a.deltas(begun, "128 chains of a member"), list(range(1, 129)), "cursors")
    goes_on = log.owner.delta(log)
    log.owner.begin()
    a.deltas([log.owner.delta(log)], "one more", 409, "chains")
    checks.same(a.deltas([goes_on, first], "those that it has go on"), [129, 1], "cursors")
    checks.same(len(a.get("/places", "places of all", "cursor=129")), 128, "places")
    checks.same(len(a.get("/places", "places of some", "cursor=7")), 7, "places at an earlier cursor")


def endings(checks, wire):
    """Accounts, and what is deleted whole."""
    checks.begin("accounts")
    log = founded(checks, wire)
    a = Asked(checks, wire, log)
    a.deltas([log.owner.delta(log)], "a delta")
    root = log.root_signer
    second = founded(checks, wire, WrittenLog(root=log.root))

    def account(status=200, kind="", signer=root):
        return checks.answer(wire.send(signer, "GET", "/v1/account"), status, kind, "the account")

    told = account().json()
    checks.same(sorted(told), ["blobs", "bytes", "deltas_today", "spaces"], "what is told of an account")
    checks.same(sorted(told["spaces"]), sorted([base32(log.space), base32(second.space)]), "its spaces")
    checks.same((told["blobs"], told["deltas_today"]), (0, 1), "blobs and deltas")
    checks.holds(told["bytes"] > 600, "bytes", told["bytes"])
    account(403, "forbidden", log.owner.signer)
    a.send(log.owner.signer, "DELETE", "", 403, "forbidden", "a member deletes the space")
    a.send(second.root_signer, "DELETE", "", 204, "", "the root deletes a space")
    a.send(root, "DELETE", "", 403, "forbidden", "a space that is gone")
    a.get("/log", "a space that is gone", status=403, kind="forbidden")
    checks.same(account().json()["spaces"], [base32(second.space)], "spaces that are left")
    checks.answer(wire.send(root, "DELETE", f"/v1/spaces/{base32(second.space)}"), 204, "", "the last one")
    checks.same(account().json(), {"bytes": 0, "blobs": 0, "deltas_today": 1, "spaces": []}, "an account without a space")
    founded(checks, wire, log, root)
    checks.answer(wire.send(log.owner.signer, "DELETE", "/v1/account"), 403, "forbidden", "a member deletes the account")
    checks.answer(wire.send(root, "DELETE", "/v1/account"), 204, "", "the root deletes the account")
    account(403, "forbidden")
    a.get("/log", "a space of it", status=403, kind="forbidden")
