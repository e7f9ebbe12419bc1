"""Asks a relay whose accounts need an invitation and may have little: docs/protocol.md, "Problems" and "Quotas"."""

import os

import cbor
from asks_blobs import Blobs
from asks_requests import path
from envelope import WRITER, sha256
from writer import WrittenLog

BYTES, BLOBS, DELTAS, SPACES = 40000, 2, 12, 2


def quotas(checks, wire, invite):
    checks.begin("quotas")
    log = WrittenLog()

    def found(log, what, status=204, kind="", **fields):
        return checks.answer(wire.send(log.root_signer, "POST", path(log, "/log"), body=log.founding, fields=fields), status, kind, what)

    def quota(answer, what, limit):
        told = answer.problem()
        checks.same((told.get("what"), told.get("limit")), (what, limit), "which limit")

    def used():
        return wire.send(log.root_signer, "GET", "/v1/account").json()

    found(log, "no invitation", 403, "invite")
    found(log, "another", 403, "invite", **{"locket-invite": "another"})
    found(log, "129 bytes", 403, "invite", **{"locket-invite": "x" * 129})
    found(log, "an invitation", **{"locket-invite": invite})
    found(WrittenLog(), "an invitation that was used", 403, "invite", **{"locket-invite": invite})
    found(WrittenLog(root=log.root), "a second space of the account, whatever the invitation", **{"locket-invite": "another"})
    quota(found(WrittenLog(root=log.root), "a third", 429, "quota"), "spaces", SPACES)

    a = Blobs(checks, wire, log)
    thief = a.let_in(WRITER, "a writer")
    small = [os.urandom(300), os.urandom(300)]
    for data in small:
        a.put(data, "a blob")
    quota(a.put(os.urandom(300), "a third blob", status=429, kind="quota"), "blobs", BLOBS)
    before = used()
    first = log.owner.delta(log)
    a.deltas([first], "a delta")
    after = used()
    counts = len(b"".join(cbor.decode(first))) + 128
    checks.same(after["bytes"] - before["bytes"], counts, "what a delta counts")
    checks.same(after["deltas_today"], 1, "deltas today")
    a.deltas([thief.delta(log) for _ in range(3)], "three of the writer's", by=thief)
    at = thief.seq, thief.prev
    quota(a.deltas([thief.delta(log) for _ in range(9)], "thirteen on a day", 429, "quota", by=thief), "deltas a day", DELTAS)
    thief.back(*at)
    a.deltas([first], "what is there already costs nothing")
    a.ask("DELETE", small[0], "a blob goes", 204)
    checks.same((after["bytes"] - used()["bytes"] + 3 * counts, used()["blobs"]), (300, 1), "and is counted no more")
    of_blobs = BYTES - BYTES // 64
    left = of_blobs - used()["bytes"]
    quota(a.put(os.urandom(left + 1), "a blob of a byte more than is left", 0, 300, 429, "quota"), "bytes", of_blobs)
    last = os.urandom(left)
    a.put(last, "the writer fills what blobs may have to the last byte", 0, left // 2, 204, by=thief)
    checks.same(used()["bytes"], of_blobs, "a blob counts from its first chunk on")
    a.put(last, "the rest of it is counted already", left // 2, by=thief)
    checks.same(used()["bytes"], of_blobs, "no blob goes in")
    at = thief.seq, thief.prev
    for body in range(BYTES - of_blobs):
        filling = thief.delta(log, os.urandom(body + 1))
        if len(b"".join(cbor.decode(filling))) + 128 == BYTES - of_blobs:
            break
        thief.back(*at)
    a.deltas([filling], "what is said does, to the last byte", by=thief)
    checks.same(used()["bytes"], BYTES, "it is full")

    # What makes room, and what shuts out who filled it, goes on. The rest waits.
    checks.begin("full")
    quota(a.deltas([log.owner.delta(log)], "a delta", 429, "quota"), "bytes", BYTES)
    log.owner.back(1, log.owner.prev)
    log.owner.begin()
    quota(a.entry(log.add(WRITER, take=False)[1], "somebody is let in", 429, "quota"), "bytes", BYTES)
    a.get("/deltas", "reading")
    removal = log.removal(thief, {thief.incarnation: 4}, take=True)
    a.entry(removal, "who filled it is removed")
    checks.same(used()["bytes"], BYTES + len(removal), "over the limit by the removal")
    refs = [[thief.id, thief.incarnation, n] for n in (1, 2, 3, 4)]
    forgotten = a.send(log.owner.signer, "POST", "/forget", 200, "", "what it sent is forgotten", body=cbor.encode(refs))
    checks.same(forgotten.json(), {"forgotten": 4}, "what it sent is forgotten")
    a.send(log.owner.signer, "POST", "/compact", 404, "not-found", "compaction is not a matter of room", body=sha256(b""))
    a.ask("DELETE", last, "its blob goes", 204)
    a.deltas([log.owner.delta(log)], "there is room again")
