"""Checks the vectors in the testdata folders of sync/envelope and sync/delta, as their READMEs say."""

import base64
import hashlib
import json
import os

import age
import body
import cbor
import checkpoint
import envelope
import fold
import handshakes
import hybrid
import mlkem
import restored
import snapshot
import space
import worker
from handshakes import any_refusal, refused, same
from phrase import Recovery, entropy
from refusal import Refused, require


def load(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return json.load(f)


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


def take_header(log, wire):
    delta = envelope.parse_delta(wire)
    log.check(delta)
    return delta.header


def check_envelope(folder):
    v = load(folder, "vectors.json")
    for item in v["signing"]:
        message = bytes.fromhex(item["message"])
        same(envelope.signed(item["domain"], message).hex(), item["signed"], "signing")
        envelope.verify(bytes.fromhex(item["public"]), item["domain"], message, bytes.fromhex(item["signature"]))
    log = whole_log(v)
    chains = envelope.Chains()
    for item in v["deltas"]:
        delta = take_delta(log, bytes.fromhex(item["wire"]))
        h = delta.header
        chains.append(h)
        got = {
            "space": h.space.hex(), "member": h.member.hex(), "incarnation": f"{h.incarnation:016x}",
            "seq": h.seq, "prev": h.prev.hex(), "head": h.head.hex(), "epoch": h.epoch,
            "body": delta.body.hex(), "header": h.raw.hex(), "hash": h.hash.hex(),
            "context": h.context.hex(), "signature": delta.signature.hex(),
        }
        same(got, {k: item[k] for k in got}, item["name"])
        bare = take_delta(log, bytes.fromhex(item["wire_without_body"]))
        same((bare.header.hash, bare.body), (h.hash, None), item["name"])
    takers = {
        "delta": lambda wire: take_delta(log, wire),
        "chained": lambda wire: chains.append(take_header(log, wire)),
        "entry": lambda wire: log.append(envelope.parse_entry(wire)),
        "founding": lambda wire: envelope.Log(log.space).append(envelope.parse_entry(wire)),
    }
    for item in v["refused"]:
        refused(lambda: takers[item["what"]](bytes.fromhex(item["wire"])), item["reason"], item["name"])
    return sum(len(v[what]) for what in ("signing", "log", "deltas", "refused"))


def plain_json(value):
    """Ops as the vectors' JSON writes them: bytes in base64, evidence of no time in the year 1, none as null."""
    if isinstance(value, tuple):
        return body.rfc3339(value)
    if isinstance(value, dict):
        out = {k: plain_json(v) for k, v in value.items()}
        for name in ("key", "sealed"):
            if name in out and ("label" in out or name == "key"):
                out[name] = base64.b64encode(bytes.fromhex(out[name])).decode()
        if "confidence" in out:
            out.setdefault("evidence", None)
        for e in out.get("evidence") or ():
            e.setdefault("at", "0001-01-01T00:00:00Z")
        return out
    return [plain_json(v) for v in value] if isinstance(value, list) else value


def check_body(folder):
    v = load(folder, "body.json")
    header = envelope.parse_header(bytes.fromhex(v["header"]), with_body=False)
    padded = age.open_epoch(bytes.fromhex(v["sealed"]), bytes.fromhex(v["epoch_key"]))
    same(padded.hex(), v["padded"], "sealed")
    plain = body.decompress(body.unpad(padded))
    same(plain.hex(), v["plain"], "padded")
    ops = plain_json(body.decode(header, plain))
    same(ops, v["ops"], "plain")
    fields = cbor.decode(header.raw)
    for key in range(2, 9):
        other = dict(fields)
        other[key] = bytes([x ^ 1 for x in other[key]]) if isinstance(other[key], bytes) else other[key] + 1
        moved = envelope.parse_header(cbor.encode(other), with_body=False)
        refused(lambda: body.open_padded(moved, padded), "context", f"under another key {key}")
    return 1 + 7


def check_blob(folder):
    """One blob as two builds have sealed it: the newer key is of the epoch and the bytes alone."""
    v = load(folder, "blob.json")
    plain = bytes.fromhex(v["plain"])
    same(hashlib.sha256(plain).hexdigest(), v["digest"], "digest")
    same(v["blobs"][0]["label"], "space blob of " + v["digest"], "label")
    for b in v["blobs"]:
        same(age.derive(bytes.fromhex(v["epoch_key"]), b["label"]).hex(), b["key"], b["label"])
        sealed = bytes.fromhex(b["sealed"])
        op = {"sealed": b["id"], "size": len(sealed), "key": b["key"], "plain": len(plain)}
        same(space.Space.open_blob(None, op, sealed).hex(), v["plain"], b["label"])
    return len(v["blobs"])


def check_refused(folder):
    v = load(folder, "refused.json")
    header = envelope.parse_header(bytes.fromhex(v["header"]), with_body=False)
    openers = {
        "sealed": lambda b: age.open_epoch(b, bytes.fromhex(v["epoch_key"])),
        "padded": lambda b: body.open_padded(header, b),
        "plain": lambda b: body.decode(header, b),
    }
    wrong = []
    for item in v["refused"]:
        data = b"".join(bytes.fromhex(r["hex"]) * r.get("times", 1) for r in item["bytes"])
        try:
            refused(lambda: openers[item["layer"]](data), item["reason"], item["name"])
        except Refused as r:
            wrong.append(str(r))
    require(not wrong, "vector", "\n".join(wrong))
    return len(v["refused"])


def check_phrase(folder):
    vectors = load(folder, "vectors.json")
    for v in vectors:
        for phrase in [v["en"], v["zh"], *v["also"]]:
            same(entropy(phrase).hex(), v["entropy"], "phrase")
        for phrase in v["refused"]:
            refused(lambda: entropy(phrase), "phrase", phrase)
        r = Recovery(v["en"])
        got = r.root_public.hex(), r.space.hex(), r.identity.recipient()
        same(got, (v["root"], v["space"], v["recovery"]), "phrase")
    return len(vectors)


def check_checkpoints(folder):
    v = load(folder, "checkpoints.json")
    log = None
    for wire in v["log"]:
        entry = envelope.parse_entry(bytes.fromhex(wire))
        log = log or envelope.Log(entry.space)
        log.append(entry)
    kinds = {
        "checkpoint": (checkpoint.parse_checkpoint, checkpoint.check_checkpoint),
        "vote": (checkpoint.parse_vote, checkpoint.check_vote),
    }

    def take(what, wire):
        parse, check = kinds[what]
        got = parse(bytes.fromhex(wire))
        check(log, got)
        return got

    for item in v["signed"]:
        got = take(item["what"], item["wire"])
        same((got.raw.hex(), hashlib.sha256(got.raw).hexdigest()), (item["message"], item["hash"]), item["name"])
    for item in v["refused"]:
        refused(lambda: take(item["what"], item["wire"]), item["reason"], item["name"])
    for item in v["standing"]:
        c = checkpoint.parse_checkpoint(bytes.fromhex(item["checkpoint"]))
        votes = [checkpoint.parse_vote(bytes.fromhex(wire)) for wire in item["votes"] or ()]
        same(checkpoint.standing(log, c, votes), item["standing"], item["name"])
    return sum(len(v[what]) for what in ("signed", "refused", "standing"))


def check_snapshot(folder):
    v = load(folder, "snapshot.json")
    of = bytes.fromhex(v["space"]), bytes.fromhex(v["author"]), v["cursor"]
    chunks, chunk = snapshot.Chunks(*of), bytes.fromhex(v["chunk"])
    items = chunks.read(chunk)
    same([own.hex() for _, _, own in items], v["items"], "the items of a snapshot")
    same(sorted({key for key, _, _ in items}), [1, 2, 3, 4, 5, 6], "their kinds")
    same(chunks.digest().hex(), v["digest"], "the digest of a snapshot")
    digest, parts = snapshot.manifest(*of, bytes.fromhex(v["manifest"]))
    same(digest.hex(), v["digest"], "the digest in the manifest")
    same(parts, [(bytes.fromhex(v["manifest_chunk_sealed"]), v["manifest_chunk_size"])], "the chunks in the manifest")
    space, author, cursor = of
    for name, other in {"space": (bytes([space[0] ^ 1]) + space[1:], author, cursor), "author": (space, author[::-1], cursor),
                        "cursor": (space, author, cursor + 1)}.items():
        refused(lambda: snapshot.Chunks(*other).read(chunk), "context", f"a chunk under another {name}")
        refused(lambda: snapshot.manifest(*other, bytes.fromhex(v["manifest"])), "context", f"a manifest under another {name}")
    refused(lambda: chunks.read(chunk), "context", "a chunk under another number")
    return len(items) + 8


def without_nulls(value):
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return [without_nulls(v) for v in value] if isinstance(value, list) else value


def check_worker(folder):
    vectors, wrong = load(folder, "accept.json"), []
    for v in vectors:
        got = worker.verdict(without_nulls(v["op"]), bytes.fromhex(v["by"]), v["grant"], v["known"])
        if got != v["verdict"]:
            wrong.append(f"{v['name']}: {got}, want {v['verdict']}")
    require(not wrong, "vector", "\n".join(wrong))
    return len(vectors)


def check_fold(folder):
    """What one memory says, whatever the order in which it was said."""
    vectors, wrong = load(folder, "fold.json"), []
    for v in vectors:
        for said in (v["said"], v["said"][::-1]):
            got = fold.fold(said)
            if got != v["memory"]:
                wrong.append(f"{v['name']}: {got}, want {v['memory']}")
    require(not wrong, "vector", "\n".join(wrong))
    return len(vectors)


def flipped(data, step):
    """Copies of data with one bit changed, every so many bits."""
    for i in range(0, 8 * len(data), step):
        changed = bytearray(data)
        changed[i // 8] ^= 1 << i % 8
        yield i, bytes(changed)


def check_bits(root):
    """A sample of single bits of a delta (header, signature, body), of log entries and of a sealed body."""
    v, n = load(os.path.join(root, "sync", "envelope", "testdata"), "vectors.json"), 0
    log = whole_log(v)
    for item in v["deltas"]:
        for i, wire in flipped(bytes.fromhex(item["wire"]), 7):
            any_refusal(lambda: take_delta(log, wire), f"{item['name']}, bit {i}")
            n += 1
    before = envelope.Log(log.space)
    for item in v["log"]:
        for i, wire in flipped(bytes.fromhex(item["wire"]), 31):
            any_refusal(lambda: before.append(envelope.parse_entry(wire)), f"{item['name']}, bit {i}")
            n += 1
        before.append(envelope.parse_entry(bytes.fromhex(item["wire"])))
    v = load(os.path.join(root, "sync", "delta", "testdata"), "body.json")
    for i, sealed in flipped(bytes.fromhex(v["sealed"]), 13):
        any_refusal(lambda: age.open_epoch(sealed, bytes.fromhex(v["epoch_key"])), f"sealed, bit {i}")
        n += 1
    return n


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
        "blob": check_blob(os.path.join(root, "sync", "delta", "testdata")),
        "refused": check_refused(os.path.join(root, "sync", "delta", "testdata")),
        "checkpoints": check_checkpoints(os.path.join(root, "sync", "envelope", "testdata")),
        "snapshot": check_snapshot(os.path.join(root, "sync", "delta", "testdata")),
        "fold": check_fold(os.path.join(root, "sync", "delta", "testdata")),
        "worker": check_worker(os.path.join(root, "sync", "delta", "testdata")),
        "restore": restored.check(load(os.path.join(root, "sync", "replica", "testdata", "restore"), "vectors.json")),
        "phrase": check_phrase(os.path.join(root, "crypto", "keyring", "testdata", "phrase")),
        "pairing": handshakes.check_pairing(load(os.path.join(root, "sync", "pairing", "testdata"), "vectors.json")),
        "requests": handshakes.check_requests(load(os.path.join(root, "sync", "httpsig", "testdata"), "vectors.json")),
        "lan": handshakes.check_lan(load(os.path.join(root, "node", "lan", "testdata"), "vectors.json"),
                                    load(os.path.join(root, "sync", "peer", "testdata"), "vectors.json")),
        "heads": handshakes.check_heads(load(os.path.join(root, "sync", "envelope", "testdata"), "heads.json")),
        "welcomes": handshakes.check_welcomes(),
        "blobs": handshakes.check_blobs(load(os.path.join(root, "crypto", "seal", "testdata"), "blobs.json")),
        "bits": check_bits(root),
        "ml_kem_768": check_ml_kem(),
        "recipient": check_recipient(),
    }
