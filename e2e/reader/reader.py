"""A second implementation that reads, written from docs/protocol.md and the FORMAT.md files alone. For tests only.

    reader.py vectors ROOT        checks every vector under ROOT, the repository's root
    reader.py space FROM          reads a phrase from standard input, gets the space that follows from it from FROM,
                                  a relay's URL or a folder, checks it whole, and prints one object of JSON for it
    reader.py restore URL         the same as a new device does it: of what a snapshot covers it reads no delta
    reader.py pair LINK           is paired as a new device, of which nothing is kept: prints the words, reads "yes" if they
                                  are the same, and prints the space as a member
    reader.py ask URL             asks an empty relay, open to all, for everything that a relay answers and refuses, and prints
                                  what it asked, and what was not answered as the documents say
    reader.py ask URL INVITE      the same of a relay with invitations and small quotas, which are those of asks_quota.py

Exit 0 done, 1 refused, which is said on standard error.
"""

import hashlib
import json
import sys

sys.dont_write_bytecode = True

import asks_blobs
import asks_quota
import asks_requests
import asks_space
import asks_waiting
import vectors
from body import unbase32
from folder import Folder
from pairing import NewDevice, parse_link
from phrase import Recovery
from refusal import Refused
from relay import Mailboxes, Relay, as_member, as_root
from restore import Restored
from space import Space
from wire import Checks, Wire


def main(args):
    if len(args) == 2 and args[0] == "vectors":
        print(json.dumps(vectors.check_all(args[1])))
        return 0
    if len(args) == 2 and args[0] in ("space", "restore"):
        recovery = Recovery(sys.stdin.read())
        source = Relay(args[1], as_root(recovery)) if "://" in args[1] else Folder(args[1])
        restored = Restored(Space.of_root(recovery, source.log(recovery.space)), source)
        print(json.dumps(tell(restored.jump() if args[0] == "restore" else restored.whole()), ensure_ascii=False))
        return 0
    if len(args) == 2 and args[0] == "pair":
        print(json.dumps(tell(pair(args[1])), ensure_ascii=False))
        return 0
    if len(args) in (2, 3) and args[0] == "ask":
        print(json.dumps(ask(*args[1:])))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


def ask(url, invite=None):
    """What was checked of a relay, and the faults."""
    checks, wire = Checks(), Wire(url)
    if invite:
        asks_quota.quotas(checks, wire, invite)
    else:
        for of in (asks_requests.signatures, asks_requests.bodies, asks_space.entries, asks_space.deltas, asks_space.removals, asks_space.chains,
                   asks_space.endings, asks_blobs.blobs, asks_blobs.checkpoints, asks_waiting.events, asks_waiting.answers, asks_waiting.mailboxes):
            of(checks, wire)
    return {"checks": checks.count, "faults": checks.faults}


def pair(link):
    """Reads a space as the new member that it becomes."""
    code, url = parse_link(link)
    device = NewDevice("a second implementation")
    print(json.dumps({"words": device.meet(Mailboxes(url), code)}), flush=True)
    if sys.stdin.readline().strip() != "yes":
        device.refuse()
        raise Refused("refused", "the words differ")
    grant = device.agree()
    space, member = unbase32(grant["space"], 16), device.side.member
    source = Relay(grant["relay"], as_member(space, member, device.key))
    return Restored(Space.of_member(space, member, device.identity, bytes.fromhex(grant["genesis"]), source.log(space)), source).whole()


def tell(restored):
    """What was read, as one object."""
    space, state = restored.space, restored.state
    blobs = {}
    for b in state.blobs.values():
        try:
            sealed = restored.source.blob(space.log.space, b["sealed"])
        except Refused:
            continue  # deleted there
        blobs[b["name"]] = hashlib.sha256(space.open_blob(b, sealed)).hexdigest()
    members = []
    for m in space.log.members.values():
        name, platform = space.name(m)
        members.append({"id": m.id.hex(), "role": m.role, "name": name, "platform": platform, "removed": bool(m.removed)})
    out = {
        "entries": len(space.log.entries), "epochs": sorted(space.keys), "members": members,
        "deltas": restored.deltas, "bodies": restored.bodies, "ops": state.ops, "memories": state.memories(),
        "utterances": {id: u["text"] for id, u in state.utterances.items()},
        "assertions": vectors.plain_json(state.live()), "blobs": blobs, "withheld": restored.bare.places(), "problems": restored.problems + getattr(restored.source, "problems", []),
    }
    if restored.taken:
        out["snapshot"] = {"cursor": restored.taken.checkpoint.cursor, "standing": restored.taken.standing}
    return out


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Refused as r:
        print(r, file=sys.stderr)
        sys.exit(1)
