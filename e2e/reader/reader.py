"""A second implementation that reads, written from docs/protocol.md and the FORMAT.md files alone. For tests only.

    reader.py vectors ROOT        checks every vector under ROOT, the repository's root
    reader.py space URL           reads a phrase from standard input, gets the space that follows from it from the
                                  relay at URL, checks it whole, and prints one object of JSON for it

Exit 0 done, 1 refused, which is said on standard error.
"""

import hashlib
import json
import sys

sys.dont_write_bytecode = True

import vectors
from fold import memories
from phrase import Recovery
from refusal import Refused
from relay import Relay
from space import Space
from withheld import Withheld


def main(args):
    if len(args) == 2 and args[0] == "vectors":
        print(json.dumps(vectors.check_all(args[1])))
        return 0
    if len(args) == 2 and args[0] == "space":
        print(json.dumps(read_space(Recovery(sys.stdin.read()), args[1]), ensure_ascii=False))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


def read_space(recovery, url):
    relay = Relay(url, recovery)
    space = Space(recovery, relay.log(recovery.space))
    bodies, ops, bare = 0, [], Withheld()
    wires = relay.deltas(recovery.space)
    for wire in wires:
        delta, said = space.open(wire)
        bodies += delta.body is not None
        bare.take(space.log.members[delta.header.member], delta, said)
        ops += said
    blobs = {}
    for op in ops:
        if "blob" in op:
            b = op["blob"]
            try:
                sealed = relay.blob(recovery.space, b["sealed"])
            except Refused:
                continue  # deleted at the relay
            blobs[b["name"]] = hashlib.sha256(space.open_blob(b, sealed)).hexdigest()
    members = []
    for m in space.log.members.values():
        name, platform = space.name(m)
        members.append({"id": m.id.hex(), "role": m.role, "name": name, "platform": platform, "removed": bool(m.removed)})
    return {
        "entries": len(space.log.entries), "epochs": sorted(space.keys), "members": members,
        "deltas": len(wires), "bodies": bodies, "ops": len(ops), "memories": memories(ops),
        "utterances": {op["utterance"]["id"]: op["utterance"]["text"] for op in ops if "utterance" in op},
        "blobs": blobs, "withheld": bare.places(),
    }


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Refused as r:
        print(r, file=sys.stderr)
        sys.exit(1)
