"""Asks a relay about requests themselves: docs/protocol.md, "A request, and its signature"."""

import email.utils
import os
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import cbor
from body import base32
from httpsig import ALWAYS, Signer, digest, fresh_nonce
from wire import CBOR
from writer import Author, WrittenLog, public


def founded(checks, wire, log=None, signer=None):
    """A space that the relay has taken."""
    log = log or WrittenLog()
    done = wire.send(signer or log.root_signer, "POST", path(log, "/log"), body=log.founding)
    checks.answer(done, 204, "", "a space is founded")
    return log


def path(log, rest=""):
    return f"/v1/spaces/{base32(log.space)}{rest}"


def params(signer, created=None, nonce=None, keyid=None, more=""):
    """Parameters one by one, each of which may be left out with ""."""
    out = f";created={int(time.time()) if created is None else created}" if created != "" else ""
    out += f';keyid="{keyid or signer.keyid}"' if keyid != "" else ""
    out += f';nonce="{nonce or fresh_nonce()}"' if nonce != "" else ""
    return out + more


def signatures(checks, wire):
    checks.begin("signatures")
    log = founded(checks, wire)
    me, where = log.owner.signer, path(log, "/log")

    def ask(kind, what, status=401, signer=me, **more):
        return checks.answer(wire.send(signer, "GET", where, **more), status, kind, what)

    ask("", "as it should be", 200)
    ask("", "under another label", 200, label="sig1")
    ask("", "components in another order", 200, covered=("@query", "@path", "@authority", "@method"))
    ask("", "a field more is covered", 200, fields={"accept": "*/*"}, covered=ALWAYS + ("accept",))
    ask("", "parameters in another order, and no alg", 200, params=f';nonce="{fresh_nonce()}";keyid="{me.keyid}";created={int(time.time())}')
    ask("", "expires and tag", 200, params=params(me, more=f';expires={int(time.time()) + 60};tag="x"'))
    ask("unsigned", "without", after=lambda f: (f.pop("Signature"), f.pop("Signature-Input")))
    ask("unsigned", "without Signature", after=lambda f: f.pop("Signature"))
    ask("malformed", "two signatures", 400, after=lambda f: f.update(
        {"Signature": f["Signature"] + ", b" + f["Signature"][6:], "Signature-Input": f["Signature-Input"] + ", b" + f["Signature-Input"][6:]}))
    ask("malformed", "another label in Signature", 400, after=lambda f: f.update({"Signature": "b" + f["Signature"][6:]}))
    ask("malformed", "not base64", 400, after=lambda f: f.update({"Signature": "locket=:%%%:"}))
    ask("malformed", "63 bytes", 400, after=lambda f: f.update({"Signature": "locket=:" + "A" * 84 + ":"}))
    ask("malformed", "another alg", 400, params=params(me, more=';alg="rsa-v1_5-sha256"'))
    ask("malformed", "an unknown parameter", 400, params=params(me, more=';other="x"'))
    ask("malformed", "no created", 400, params=params(me, created=""))
    ask("malformed", "no nonce", 400, params=params(me, nonce=""))
    ask("malformed", "no keyid", 400, params=params(me, keyid=""))
    ask("malformed", "created is text", 400, params=params(me, created='"now"'))
    ask("", "a nonce of 64", 200, nonce="n" * 40 + os.urandom(12).hex())
    ask("malformed", "a nonce of 65", 400, nonce="n" * 65)
    ask("malformed", "a keyid of 257", 400, params=params(me, keyid="k" * 257))
    ask("malformed", "a component twice", 400, covered=ALWAYS + ("@query",))
    many = tuple(f"x-{i}" for i in range(13))
    ask("malformed", "17 components", 400, covered=ALWAYS + many, fields=dict.fromkeys(many, "1"))
    ask("", "16 components", 200, covered=ALWAYS + many[:12], fields=dict.fromkeys(many, "1"))
    for left in ALWAYS:
        ask("malformed", f"{left} is not covered", 400, covered=tuple(c for c in ALWAYS if c != left))
    ask("malformed", "range is not covered", 400, fields={"range": "bytes=0-"}, covered=ALWAYS)
    ask("malformed", "locket-invite is not covered", 400, fields={"locket-invite": "code"}, covered=ALWAYS)
    ask("malformed", "a covered field is gone", 400, fields={"accept": "*/*"}, covered=ALWAYS + ("accept",), after=lambda f: f.pop("accept"))
    ask("forged", "a covered field is another", fields={"accept": "*/*"}, covered=ALWAYS + ("accept",), after=lambda f: f.update(accept="text/*"))
    ask("forged", "another's key", signer=Signer(me.keyid, Ed25519PrivateKey.generate()))
    ask("forged", "for another relay", after=lambda f: f.update(host="other.example"))
    stale = [ask("stale", "six minutes old", created=time.time() - 360), ask("stale", "six minutes ahead", created=time.time() + 360)]
    for answer in stale:
        told = email.utils.parsedate_to_datetime(answer.fields.get("date", "Thu, 01 Jan 1970 00:00:00 GMT")).timestamp()
        checks.holds(abs(told - time.time()) < 60, "Date of a stale one is the relay's time", answer.fields.get("date"))
    ask("", "four minutes old", 200, created=time.time() - 240)
    ask("", "four minutes ahead", 200, created=time.time() + 240)
    fields = wire.dressed(me, "GET", where, "", None, None, {})
    checks.answer(wire.plain("GET", where, fields=fields), 200, "", "once")
    checks.answer(wire.plain("GET", where, fields=fields), 401, "replayed", "twice")
    fields = wire.dressed(me, "GET", where, "after=0", None, None, {})
    checks.answer(wire.plain("GET", where, "after=1", fields=fields), 401, "forged", "another query")
    checks.answer(wire.plain("HEAD", where, "after=0", fields=fields), 405, "method", "another method")
    space, member = me.keyid.split("/")
    strangers = {
        "a member who never was": f"{space}/{os.urandom(8).hex()}",
        "another space's": f"{base32(os.urandom(16))}/{member}",
        "a root who never was": "root/" + public(Ed25519PrivateKey.generate()).hex(),
    }
    for what, keyid in strangers.items():
        ask("forbidden", what, 403, signer=Signer(keyid, me.key))
    for what, keyid in {"one word": "me", "a short root": "root/00", "a root in capitals": "root/" + "AB" * 32, "a member in capitals": f"{space}/{'AB' * 8}",
                        "a space in capitals": f"{space.upper()}/{member}", "a long member": f"{space}/{member}00"}.items():
        ask("malformed", "keyid: " + what, 400, signer=Signer(keyid, me.key))
    ask("", "the root", 200, signer=log.root_signer)
    ask("forbidden", "another account's root", 403, signer=founded(checks, wire).root_signer)
    for what, name in {"no such space": base32(os.urandom(16)), "a name that is none": "x", "capitals": space.upper(), "zeros": "0" * 26}.items():
        checks.answer(wire.send(me, "GET", f"/v1/spaces/{name}/log"), 403, "forbidden", what)
    request_id = wire.send(me, "GET", where).fields.get("request-id")
    checks.holds(request_id, "an answer has a Request-Id", request_id)


def bodies(checks, wire):
    """What is said of a body, of paths and of methods."""
    checks.begin("bodies")
    log = founded(checks, wire)
    me, where = log.owner.signer, path(log, "/deltas")

    def send(kind, what, status, body=None, **more):
        body = cbor.encode([log.owner.delta(log)]) if body is None else body
        answer = checks.answer(wire.send(me, "POST", where, body=body, **more), status, kind, what)
        if status >= 400:  # it was not taken: the next has its place
            log.owner.begin()
        return answer

    send("", "as it should be", 200)
    send("", "as octets", 200, fields={"content-type": "application/octet-stream"})
    send("", "with a parameter of its type", 200, fields={"content-type": CBOR + "; charset=binary"})
    send("", "without a type", 200, fields={"content-type": None})
    send("media-type", "of JSON", 415, fields={"content-type": "application/json"})
    send("encoding", "compressed, it says", 415, fields={"content-encoding": "gzip"})
    send("", "not compressed, it says", 200, fields={"content-encoding": "identity"})
    send("length", "in chunks", 411, chunked=True)
    send("malformed", "without a digest", 400, fields={"content-digest": None})
    send("malformed", "the digest is not covered", 400, covered=ALWAYS)
    send("body", "of another body", 400, fields={"content-digest": digest(b"another")})
    send("body", "by another hash alone", 400, fields={"content-digest": "sha-512=:" + "A" * 86 + "==:"})
    two = cbor.encode([log.owner.delta(log)])
    send("", "by another hash, too", 200, body=two, fields={"content-digest": f"sha-512=:{'A' * 86}==:, {digest(two)}"})
    send("malformed", "a digest that is none", 400, fields={"content-digest": "sha-256=:abc"})
    send("body", "a digest that is a word", 400, fields={"content-digest": "sha-256=abc"})
    send("malformed", "no array", 400, body=b"\xa0")
    send("malformed", "bytes after it", 400, body=b"\x80\x00")
    send("malformed", "of an indefinite length", 400, body=b"\x9f\xff")
    send("malformed", "an empty array", 400, body=b"\x80")
    send("malformed", "an empty body", 400, body=b"")
    send("malformed", "257 deltas", 400, body=cbor.encode([b"\x80"] * 257))
    send("too-large", "over its limit", 413, body=bytes(5243201))
    checks.answer(wire.send(me, "GET", where, body=b"\x80"), 413, "too-large", "a body where there is none")
    for method, rest, limit in (("POST", "/log", 262144), ("POST", "/forget", 16384), ("POST", "/checkpoints", 73728), ("POST", "/votes", 256),
                                ("POST", "/compact", 64), ("PUT", "/blobs/" + "00" * 32, 1 << 20)):
        answer = wire.send(me, method, path(log, rest), body=bytes(limit + 1))
        checks.answer(answer, 413, "too-large", f"{method} {rest}: {limit + 1} bytes")
        checks.answer(wire.send(me, method, path(log, rest), body=b""), 400, "malformed", f"{method} {rest}: no body")
        checks.answer(wire.send(me, method, path(log, rest), body=bytes(limit)), 400, "malformed", f"{method} {rest}: zeros")
    checks.answer(wire.send(me, "GET", path(log, "/nothing")), 404, "not-found", "no such path")
    checks.answer(wire.send(me, "GET", path(log, "/log/")), 404, "not-found", "a slash at the end")
    checks.answer(wire.plain("GET", "/"), 404, "not-found", "the root, by nobody")
    checks.answer(wire.plain("DELETE", path(log, "/log")), 405, "method", "another method, by nobody")
    checks.answer(wire.send(me, "GET", path(log, "/%6cog")), 400, "malformed", "a path that is escaped")
    checks.refuses(lambda: wire.send(me, "GET", path(log, "/log"), fields={"x-long": "x" * 17000}), "a head over 16 KiB")
    for where, said in (("/healthz", "ok"), ("/readyz", "ready")):
        checks.same(checks.answer(wire.plain("GET", where), 200, "", where).json(), {"status": said}, where)
    stranger = Author(log.space)
    checks.answer(wire.send(stranger.signer, "GET", path(log, "/log"), body=bytes(100)), 413, "too-large", "length comes before the key")
    checks.answer(wire.send(stranger.signer, "GET", path(log, "/log"), created=1), 401, "stale", "time comes before the key")
    checks.answer(wire.send(stranger.signer, "GET", path(log, "/log"), created=1, covered=ALWAYS[:2]), 401, "stale", "time comes before what is covered")
    checks.answer(wire.send(stranger.signer, "GET", path(log, "/log"), covered=ALWAYS[:2]), 400, "malformed", "what is covered comes before the key")
    checks.answer(wire.send(log.owner.signer, "GET", path(log, "/log"), "after=x", after=lambda f: f.update(host="b.example")), 401, "forged",
                  "the signature comes before the query")
