"""Checks the vectors of what devices say before they sync: pairing, signed requests, who is in the same network."""

import base64
import hashlib
import json
import types

import envelope
import heads
import httpsig
import lan
import pairing
import welcome
from age import derive, seal_chunks
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hybrid import Identity
from padding import padded_length, stream_length
from refusal import Refused, require
from space import Space


def same(got, want, what):
    require(got == want, "vector", f"{what}: {got!r:.300}, want {want!r:.300}")


def refused(check, reason, what):
    try:
        check()
    except Refused as r:
        same(r.reason, reason, f"{what} ({r})")
        return
    raise Refused("vector", f"{what}: was taken")


class Row:
    """A mailbox in which the messages lie already. What is posted is kept by its step."""

    def __init__(self, messages, key):
        self.messages, self.key, self.posted = messages, key, {}

    def post(self, box, data):
        step, no, body = pairing.parse_message(self.key, data)
        self.posted[step] = no, json.loads(body) if step == pairing.REVEAL else body

    def message(self, box, after):
        return self.messages[after]


def _side(v):
    s = v["side"]
    p = s["party"]
    side = pairing.Side(bytes.fromhex(p["member"]), base64.b64decode(p["key"]), p["recipient"], p["name"], bytes(s["nonce"]))
    same((side.hash().hex(), side.revealed().hex()), (v["hash"], v["revealed"]), p["name"])
    return side


def check_pairing(v):
    for text in [v["code"], *v["also"]]:
        same([b.hex() for b in pairing.keys(pairing.parse_code(text))], [v["mailbox"], v["mac_key"]], text)
    for text in v["no_code"]:
        refused(lambda: pairing.parse_code(text), "code", text)
    inviting, new, key = _side(v["in"]), _side(v["new"]), bytes.fromhex(v["mac_key"])
    digest = pairing.transcript(bytes.fromhex(v["mailbox"]), inviting, new)
    same((digest.hex(), pairing.words(digest)), (v["transcript"], v["words"]), "transcript")

    def join(messages):
        device = pairing.NewDevice("")
        device.key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(v["new"]["seed"]))
        device.identity, device.side = Identity(bytes.fromhex(v["new"]["identity"])), new
        same(device.identity.recipient(), new.recipient, "recipient")
        row = Row(messages, key)
        device.meet(row, v["code"].replace("-", ""))
        return device.agree(), row.posted

    messages = [m.encode() for m in v["messages"]]
    grant, posted = join(messages)
    same(grant, v["grant"], "grant")
    written = Row(messages, key)
    for step in (pairing.COMMIT, pairing.REVEAL, pairing.CONFIRM):
        written.post(b"", messages[step - 1])
    same(posted, written.posted, "what the new device says")
    for bad in v["refused"]:
        changed = list(messages)
        changed[bad["at"] - 1] = bad["message"].encode()
        refused(lambda: join(changed), bad["reason"], bad["name"])
    return len(v["refused"]) + len(messages)


def _request(r):
    fields = dict(r.get("fields") or {})
    return r["method"], r["authority"], r["path"], r.get("query", ""), fields


def check_requests(v):
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(v["seed"]))
    public = bytes.fromhex(v["public"])
    for r in v["signed"]:
        method, authority, path, query, fields = _request(r)
        made = httpsig.Signer(r["keyid"], key).sign(method, authority, path, query, fields, v["now"], r["nonce"])
        same(made, {"Signature-Input": r["input"], "Signature": r["signature"]}, r["name"])
        _verify(v, public, r)
    for r in v["refused"]:
        refused(lambda: _verify(v, public, r), r["reason"], r["name"])
    return len(v["signed"]) + len(v["refused"])


def _verify(v, public, r):
    method, authority, path, query, fields = _request(r)
    fields.update({k: r[n] for k, n in (("signature-input", "input"), ("signature", "signature")) if r.get(n)})
    httpsig.verify(public, method, authority, path, query, fields, r.get("body", "").encode(), v["now"])


def check_lan(beacons, proofs):
    key = lan.key(bytes.fromhex(beacons["epoch_key"]))
    same(key.hex(), beacons["key"], "the key of the network")
    for b in beacons["beacons"]:
        same(lan.beacon(key, b["time"], bytes.fromhex(b["nonce"]), b["address"]), b["name"], "beacon")
    for b in beacons["heard"]:
        same(lan.knows([key], b["time"], b["name"], b["address"]), b["member"], b["why"])
    secret = bytes.fromhex(proofs["key"])
    for p in proofs["proofs"]:
        public = bytes.fromhex(p["public"])
        proof = lan.prove(secret, public, p["host"], bytes.fromhex(p["member"]))
        same(proof.hex(), p["proof"], "proof")
        same(lan.who(secret, public, p["host"], proof).hex(), p["member"], "who is there")
    for p in proofs["refused"]:
        refused(lambda: lan.who(secret, bytes.fromhex(p["public"]), p["host"], bytes.fromhex(p["proof"])), "stranger", p["why"])
    return sum(len(of) for of in (beacons["beacons"], beacons["heard"], proofs["proofs"], proofs["refused"]))


# Of FORMAT.md of the envelope, "Request and welcome".
REQUEST = ("locket-member-1.6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iwLore3Nj2Uja3QM4jv7XhsR7ExUG-n4_PKRf4LlbHigqOJF3wkPNrBIQxQ5j"
           "PpuniDtTiE4nVnpEtEtwfBopsPYWdlMWV4YW1wbGU")
WELCOME = "locket-space-1.AQEBAQEBAQEBAQEBAQEBAQICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICrCvKPQ"


def check_welcomes():
    key, recipient = welcome.parse_request(REQUEST)
    same((recipient, welcome.member_of(key, b"\x01" * 16).hex()), ("age1example", "44f66f82422f008e"), "request")
    same(welcome.parse_welcome(f" {WELCOME[:30]}\n{WELCOME[30:]} "), (b"\x01" * 16, b"\x02" * 32), "welcome")
    n = 2
    for text, parse in ((REQUEST, welcome.parse_request), (WELCOME, welcome.parse_welcome)):
        for i in range(len(text)):
            changed = text[:i] + ("B" if text[i] == "A" else "A") + text[i + 1 :]
            try:
                parse(changed)
            except Refused:
                n += 1
                continue
            raise Refused("vector", f"{changed}: was taken")
    return n


def check_heads(v):
    log = None
    for wire in v["log"]:
        entry = envelope.parse_entry(bytes.fromhex(wire))
        log = log or envelope.Log(entry.space)
        log.append(entry)
    first = heads.parse_heads(v["taken"][0]["text"])
    places = {(bytes.fromhex(p["member"]), int(p["incarnation"], 16)): (p["seq"], bytes.fromhex(p["hash"])) for p in v["places"]}
    same(first.places, places, "places")
    for h in v["taken"]:
        heads.check_heads(log, heads.parse_heads(h["text"]))
    for h in v["refused"]:
        refused(lambda: heads.check_heads(log, heads.parse_heads(h["text"])), h["reason"], h["name"])
    return len(v["taken"]) + len(v["refused"])


def check_blobs(v):
    """Sealed forms byte for byte, and what is none."""
    key = bytes.fromhex(v["key"])
    space = types.SimpleNamespace()
    for b in v["sealed"]:
        plain = bytes(i % 251 for i in range(b["plain"]))
        sealed = seal_chunks(derive(key, "stream"), plain + bytes(padded_length(len(plain)) - len(plain)))
        same((len(sealed), hashlib.sha256(sealed).hexdigest()), (b["size"], b["sha256"]), f"a blob of {len(plain)} bytes")
        same(stream_length(padded_length(len(plain))), b["size"], "its length")
        same(Space.open_blob(space, _noted(v, sealed, b["plain"]), sealed), plain, "opened")
    for b in v["refused"]:
        sealed = bytes.fromhex(b["sealed"])
        any_refusal(lambda: Space.open_blob(space, _noted(v, sealed, b["plain"]), sealed), b["why"])
    return len(v["sealed"]) + len(v["refused"])


def _noted(v, sealed, plain):
    return {"size": len(sealed), "sealed": hashlib.sha256(sealed).hexdigest(), "key": v["key"], "plain": plain}


def any_refusal(check, what):
    try:
        check()
    except Refused:
        return
    raise Refused("vector", f"{what}: was taken")
