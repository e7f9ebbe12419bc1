"""Checks the vectors in the testdata folders of sync/envelope and sync/delta, as their READMEs say."""

import base64
import hashlib
import json
import os

import age
import body
import cbor
import envelope
import hybrid
import mlkem
from refusal import Refused, require


def load(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return json.load(f)


def same(got, want, what):
    require(got == want, "vector", f"{what}: {got!r}, want {want!r}")


def refused(check, reason, what):
    try:
        check()
    except Refused as r:
        same(r.reason, reason, f"{what} ({r})")
        return
    raise Refused("vector", f"{what}: was taken")


def whole_log(v):
    log = None
    for item in v["log"]:
        entry = envelope.parse_entry(bytes.fromhex(item["wire"]))
        log = log or envelope.Log(entry.space)
        log.append(entry)
        same(entry.raw.hex(), item["entry"], item["name"])
        same(entry.hash.hex(), item["hash"], item["name"])
        same(log.epoch, item["epoch_after"], item["name"])
        members = [f"{m.id.hex()} {envelope.ROLES[m.role]}" for _, m in sorted(log.living().items())]
        same(members, item["members_after"], item["name"])
    return log


def take_delta(log, wire):
    delta = envelope.parse_delta(wire)
    log.check(delta)
    envelope.check_body(delta)
    return delta


def check_envelope(folder):
    v = load(folder, "vectors.json")
    for item in v["signing"]:
        message = bytes.fromhex(item["message"])
        same(envelope.signed(item["domain"], message).hex(), item["signed"], "signing")
        envelope.verify(bytes.fromhex(item["public"]), item["domain"], message, bytes.fromhex(item["signature"]))
    log = whole_log(v)
    for item in v["deltas"]:
        delta = take_delta(log, bytes.fromhex(item["wire"]))
        h = delta.header
        got = {
            "space": h.space.hex(), "member": h.member.hex(), "incarnation": f"{h.incarnation:016x}",
            "seq": h.seq, "prev": h.prev.hex(), "head": h.head.hex(), "epoch": h.epoch,
            "body": delta.body.hex(), "header": h.raw.hex(), "hash": h.hash.hex(),
            "context": h.context.hex(), "signature": delta.signature.hex(),
        }
        same(got, {k: item[k] for k in got}, item["name"])
        bare = take_delta(log, bytes.fromhex(item["wire_without_body"]))
        same((bare.header.hash, bare.body), (h.hash, None), item["name"])
    for item in v["refused"]:
        wire = bytes.fromhex(item["wire"])
        if item["what"] == "delta":
            refused(lambda: take_delta(log, wire), item["reason"], item["name"])
        else:
            refused(lambda: log.append(envelope.parse_entry(wire)), item["reason"], item["name"])
    return sum(len(v[what]) for what in ("signing", "log", "deltas", "refused"))


def plain_json(value):
    """Ops as the vectors' JSON writes them."""
    if isinstance(value, tuple):
        return body.rfc3339(value)
    if isinstance(value, dict):
        return {k: plain_json(v) for k, v in value.items()}
    return [plain_json(v) for v in value] if isinstance(value, list) else value


def check_body(folder):
    v = load(folder, "body.json")
    header = envelope.parse_header(bytes.fromhex(v["header"]), with_body=False)
    padded = age.open_epoch(bytes.fromhex(v["sealed"]), bytes.fromhex(v["epoch_key"]))
    same(padded.hex(), v["padded"], "sealed")
    plain = body.decompress(body.unpad(padded))
    same(plain.hex(), v["plain"], "padded")
    ops = plain_json(body.decode(header, plain))
    for op in ops:
        if "blob" in op:
            op["blob"]["key"] = base64.b64encode(bytes.fromhex(op["blob"]["key"])).decode()
    same(ops, v["ops"], "plain")
    fields = cbor.decode(header.raw)
    for key in range(2, 9):
        other = dict(fields)
        other[key] = bytes([x ^ 1 for x in other[key]]) if isinstance(other[key], bytes) else other[key] + 1
        moved = envelope.parse_header(cbor.encode(other), with_body=False)
        refused(lambda: body.open_padded(moved, padded), "context", f"under another key {key}")
    return 1 + 7


def check_ml_kem():
    """The hash of 100 key pairs, ciphertexts and shared keys from SHAKE128 (C2SP's CCTV, ML-KEM, "accumulated")."""
    source = hashlib.shake_128(b"").digest(100 * (64 + 32 + mlkem.CT_SIZE))
    out, at = hashlib.shake_128(), 0
    for _ in range(100):
        d, z, message = (source[at + i : at + i + 32] for i in (0, 32, 64))
        other = source[at + 96 : at + 96 + mlkem.CT_SIZE]
        at += 96 + mlkem.CT_SIZE
        ek, dk = mlkem.key_pair(d, z)
        key, ciphertext = mlkem.encapsulate(ek, message)
        same(mlkem.decapsulate(dk, ciphertext), key, "ML-KEM-768")
        for part in (ek, ciphertext, key, mlkem.decapsulate(dk, other)):
            out.update(part)
    same(out.hexdigest(32), "1114b1b6699ed191734fa339376afa7e285c9e6acf6ff0177d346696ce564415", "ML-KEM-768")
    return 100


def check_recipient():
    """The example of C2SP's age.md: AGE-SECRET-KEY-PQ-1XX76JR…, as its 32 bytes, and its age1pq recipient's hash."""
    seed = bytes.fromhex("31bda90fbf9fccdde5cfc0ed5a0378c5ea67ea193d7938b03b8c5dabb9a67de3")
    recipient = hybrid.Identity(seed).recipient()
    same(recipient[:20] + recipient[-20:], "age1pq1x34nzsvr0rxjs" + "yty7saeq0d3fzv49zc0k", "recipient")
    return 1


def check_all(root):
    return {
        "envelope": check_envelope(os.path.join(root, "sync", "envelope", "testdata")),
        "body": check_body(os.path.join(root, "sync", "delta", "testdata")),
        "ml_kem_768": check_ml_kem(),
        "recipient": check_recipient(),
    }
