"""Checks the vectors of sync/replica/testdata/restore: what a new device takes of a space whose bodies were dropped."""

import hashlib
import os
import tempfile

from body import base32
from envelope import parse_delta, parse_entry
from folder import Folder
from phrase import Recovery
from refusal import Refused, require
from restore import Restored
from space import Space


class Shown:
    """What a relay shows in one of the cases."""

    anybodys = False

    def __init__(self, v, case):
        self.wires = [bytes.fromhex(w) for w in v["deltas"]]
        self.records = [(bytes.fromhex(c["checkpoint"]), [bytes.fromhex(w) for w in c["votes"] or ()]) for c in case["checkpoints"]]
        self.blobs = {**v["blobs"], **case.get("changed", {})}
        for id in case.get("gone", ()):
            del self.blobs[id]

    def deltas(self, space, after):
        return [(i, w) for i, w in enumerate(self.wires, 1) if i > after]

    def checkpoints(self, space):
        return self.records

    def blob(self, space, sealed):
        require(sealed in self.blobs, "missing", "the blob is not there")
        return bytes.fromhex(self.blobs[sealed])


def check(v):
    """How many cases there were, each read with all headers and with none."""
    recovery, wrong = Recovery(v["phrase"]), []
    log = [bytes.fromhex(w) for w in v["log"]]
    for case in v["cases"]:
        for how in ("whole", "jump"):
            restored = Restored(Space.of_root(recovery, log), Shown(v, case))
            try:
                getattr(restored, how)()
            except Refused as r:
                restored.problems.append(f"ended: {r}")
            wrong += [f"{case['name']}, {how}: {w}" for w in _wrong(v, case, how, restored)]
    _folder(v, recovery, log)
    require(not wrong, "vector", "\n".join(wrong))
    return len(v["cases"])


def _wrong(v, case, how, restored):
    memories = restored.state.memories()
    if "takes" in case:
        if memories != v["memories"] or restored.bare.places() or not restored.taken or restored.taken.standing != case["takes"]:
            yield f"{memories}, withheld {restored.bare.places()}, taken {restored.taken and restored.taken.standing}, {restored.problems}"
        photos = {b["name"]: _photo(restored, b) for b in restored.state.blobs.values()}
        if photos != v["photos"]:
            yield f"photos {photos}"
        return
    if case.get("headers") and how == "jump":
        if not any(p.startswith("ended: ") for p in restored.problems):
            yield f"what comes after the places fits: {restored.problems}"
        return
    if not set(memories) <= set(v["after"]) or restored.taken:
        yield f"taken: {memories}"
    if how == "whole" and not restored.bare.places():
        yield "no body is withheld"
    reason = case["refused"]
    if reason != "disputed" and not any(p.startswith(reason + ": ") for p in restored.problems):
        yield f"{restored.problems}, want {reason}"


def _photo(restored, b):
    sealed = restored.source.blob(restored.space.log.space, b["sealed"])
    return hashlib.sha256(restored.space.open_blob(b, sealed)).hexdigest()


def _folder(v, recovery, log):
    """The same space as files: everything but what a relay's snapshot has, and what else lies there is passed over."""
    with tempfile.TemporaryDirectory() as path:
        def put(name, data):
            at = os.path.join(path, base32(recovery.space), name)
            os.makedirs(os.path.dirname(at), exist_ok=True)
            with open(at, "wb") as f:
                f.write(data)

        for wire in log:
            e = parse_entry(wire)
            put(f"log/{e.n:08d}-{e.hash[:8].hex()}.entry", wire)
        for wire in map(bytes.fromhex, v["deltas"]):
            h = parse_delta(wire).header
            put(f"deltas/{h.member.hex()}-{h.incarnation:016x}/{h.seq:012d}.delta", wire)
            put(f"deltas/{h.member.hex()}-{h.incarnation:016x}/{h.seq:012d} (copy).delta", wire[:-1])
        put(f"deltas/{h.member.hex()}-{h.incarnation + 1:016x}/{1:012d}.delta", wire)  # another than its name says
        for id, data in v["blobs"].items():
            put(f"blobs/{id}.blob", bytes.fromhex(data))
        source = Folder(path)
        restored = Restored(Space.of_root(recovery, source.log(recovery.space)), source).whole()
        bare = sum(parse_delta(bytes.fromhex(w)).body is None for w in v["deltas"])
        require(set(restored.state.memories()) == set(v["after"]), "vector", f"from a folder: {restored.state.memories()}")
        require(len(restored.bare.places()) == bare, "vector", f"withheld by a folder: {restored.bare.places()}")
        require([p.split(": ")[1] for p in source.problems] == ["folder"], "vector", f"in a folder: {source.problems}")
        for id in v["blobs"]:
            require(hashlib.sha256(source.blob(recovery.space, id)).hexdigest() == id, "vector", "a blob from a folder")
