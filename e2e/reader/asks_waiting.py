"""Asks a relay for what it tells of itself, and by mailboxes: docs/protocol.md, "Events" and "Mailboxes"."""

import gzip
import json
import os
import threading

import cbor
import zstandard

from asks_blobs import Blobs
from asks_requests import founded, path
from asks_space import Asked
from envelope import WRITER


class Stream:
    """Server-sent events, one by one."""

    def __init__(self, wire, signer, where):
        fields = wire.dressed(signer, "GET", where, "", None, None, {})
        self.answer, self.connection = wire.open("GET", where, fields=fields)

    def next(self):
        """Name and data of the next event; None at the end."""
        event, data = "", ""
        while line := self.answer.readline():
            line = line.decode().rstrip("\r\n")
            name, _, value = line.partition(":")
            if name == "event":
                event = value.strip()
            elif name == "data":
                data = value.strip()
            elif not line and event:
                return event, data and json.loads(data)
        return None

    def until(self, wanted):
        """Whether such an event comes, after others."""
        for _ in range(20):
            if self.next() == wanted:
                return True
        return False


def events(checks, wire):
    checks.begin("events")
    log = founded(checks, wire)
    a = Blobs(checks, wire, log)
    writer = a.let_in(WRITER, "a writer")
    mine, theirs = Stream(wire, log.root_signer, path(log, "/events")), Stream(wire, writer.signer, path(log, "/events"))
    for stream in (mine, theirs):
        checks.same(stream.answer.getheader("Content-Type").partition(";")[0], "text/event-stream", "the type of a stream")
        checks.same(stream.next(), ("head", {"cursor": 0, "log": 2}), "at once")
    a.deltas([log.owner.delta(log)], "a delta")
    checks.holds(mine.until(("head", {"cursor": 1, "log": 2})), "after a delta")
    manifest = os.urandom(300)
    a.put(manifest, "a manifest")
    made = log.owner.checkpoint(log, 1, [log.owner.place], manifest)
    a.send(log.owner.signer, "POST", "/checkpoints", 204, "", "a checkpoint", body=made[0])
    checks.holds(mine.until(("head", {"cursor": 1, "log": 2, "records": 1})), "after a checkpoint")
    a.entry(log.removal(writer, {}, take=True), "the writer is removed")
    checks.holds(mine.until(("head", {"cursor": 1, "log": 3, "records": 1})), "after an entry")
    checks.holds(theirs.until(("gone", "")), "the removed hears it")
    checks.same(theirs.next(), None, "and the end")
    a.send(log.root_signer, "DELETE", "", 204, "", "the space is deleted")
    checks.holds(mine.until(("gone", "")), "the space is gone")


def answers(checks, wire):
    """Answers made smaller."""
    checks.begin("answers")
    log = founded(checks, wire)
    a = Asked(checks, wire, log)
    many = [log.owner.delta(log) for _ in range(20)]
    a.deltas(many, "twenty")
    unpack = {"gzip": gzip.decompress, "zstd": lambda b: zstandard.ZstdDecompressor().decompressobj().decompress(b), None: lambda b: b}
    for accepts, how in ((None, None), ("gzip", "gzip"), ("zstd", "zstd"), ("gzip, zstd", "zstd"), ("gzip, zstd;q=0.5", "gzip"), ("br", None),
                         ("gzip;q=0", None)):
        answer = a.send(log.owner.signer, "GET", "/deltas", 200, "", f"accepts {accepts}", fields={"accept-encoding": accepts})
        checks.same(answer.fields.get("content-encoding"), how, f"how it is packed for {accepts}")
        checks.same([d for _, d in cbor.decode(unpack[how](answer.body))], many, "what is in it")


def mailboxes(checks, wire):
    checks.begin("mailboxes")

    def ask(method, box, what, status, kind="", query="", body=None):
        return checks.answer(wire.plain(method, f"/v1/mailboxes/{box}", query, {"content-type": "application/octet-stream"} if body else None, body),
                             status, kind, what)

    box = os.urandom(16).hex()
    ask("GET", box, "an empty one", 204)
    messages = [os.urandom(8192)] + [os.urandom(10) for _ in range(7)]
    for n, message in enumerate(messages):
        posted = ask("POST", box, f"message {n + 1}", 201, body=message)
        checks.same(posted.fields.get("locket-message"), str(n + 1), "its number")
    ask("POST", box, "a ninth", 413, "too-large", body=b"x")
    for n in (0, 7):
        got = ask("GET", box, f"message {n + 1}", 200, query=f"after={n}")
        checks.same((got.body, got.fields.get("locket-message")), (messages[n], str(n + 1)), f"message {n + 1}")
    ask("GET", box, "after the last that may be", 404, "not-found", "after=8")
    ask("POST", os.urandom(16).hex(), "8,193 bytes", 413, "too-large", body=bytes(8193))
    ask("POST", os.urandom(16).hex(), "no bytes", 400, "malformed", body=b"")
    ask("GET", os.urandom(16).hex(), "a wait over its limit", 400, "malformed", "wait=56")
    for name in ("00", "zz" * 16, "AB" * 16):
        ask("GET", name, f"the id {name}", 400, "malformed")
    other, came = os.urandom(16).hex(), {}
    waits = threading.Thread(target=lambda: came.update(got=wire.plain("GET", f"/v1/mailboxes/{other}", "wait=55")))
    waits.start()
    ask("POST", other, "what somebody may wait for", 201, body=b"hello")
    waits.join()
    checks.same((came["got"].status, came["got"].body), (200, b"hello"), "who waited has it")
    # Whoever asks without a key may do so 60 times a minute: this is the last that is asked of this relay.
    for _ in range(70):
        answer = wire.plain("GET", f"/v1/mailboxes/{box}", "after=7")
        if answer.status != 200:
            break
    checks.answer(answer, 429, "quota", "one more than an address may")
    told = answer.problem()
    checks.same((told.get("what"), told.get("limit")), ("requests a minute without a key", 60), "which limit")
