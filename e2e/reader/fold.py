"""What one memory says: FORMAT.md of the body. How memories of a group end each other is no part of it."""

PERSON = 3


def dot(a):
    return bytes.fromhex(a["dot"]["member"]), a["dot"]["seq"]


def _seen(a):
    return {(bytes.fromhex(d["member"]), d["seq"]) for d in a.get("seen", ())}


def _clock(a):
    return a["clock"]["wall"], a["clock"]["logical"]


def _later(a):
    return a["rank"], _clock(a), dot(a)


def _standing(said):
    """Without withdrawals, and what they take back."""
    person = any(a["rank"] == PERSON and a["act"] != "withdraw" for a in said)

    def gone(a):
        if a["act"] == "withdraw":
            return True
        if a["rank"] == PERSON or person and a["act"] == "propose":
            return False
        return any(w["act"] == "withdraw" and dot(a) in _seen(w) and a["rank"] <= w["rank"] for w in said)

    return [a for a in said if not gone(a)]


def _winner(register):
    """The assertion of a register that counts, or None."""
    def overruled(a):
        return any(dot(a) in _seen(o) and dot(o) != dot(a) and o["rank"] >= a["rank"] for o in register)

    left = [a for a in register if not overruled(a)] or register
    return max(left, key=_later, default=None)


def fold(said):
    """The memory that follows from its assertions, {} where it is erased, or None where nobody proposed it."""
    said = _standing(said)
    proposals = [a for a in said if a["act"] == "propose"]
    if not proposals:
        return None
    if any(a["act"] == "erase" for a in said):
        return {}
    pin = _winner([a for a in said if a["act"] in ("pin", "unpin")])
    pinned = pin is not None and pin["act"] == "pin"
    shown = max(proposals, key=_later)
    if pinned and shown["rank"] < PERSON:
        shown = min(proposals, key=lambda a: (_clock(a), dot(a)))
    memory = {"text": shown["candidate"]["text"], "sensitivity": shown["candidate"]["sensitivity"], "pinned": pinned}
    may = [a for a in said if not pinned or a["rank"] == PERSON]
    for name in ("text", "sensitivity"):
        best = _winner([a for a in may if a["act"] == "correct" and name in a["patch"]])
        if best:
            memory[name] = best["patch"][name]
    def untagged(t, a):
        return any(u["act"] == "untag" and u["rank"] >= a["rank"] and t in u.get("tags", ()) and dot(a) in _seen(u) for u in said)

    given = [(t, a) for a in said for t in (a["candidate"] if a["act"] == "propose" else a).get("tags", ())
             if a["act"] in ("propose", "tag")]
    memory["tags"] = sorted({t for t, a in given if not untagged(t, a)})
    return memory


def memories(ops):
    """All memories that are not erased, by id."""
    said, out = {}, {}
    for op in ops:
        if "assertion" in op:
            said.setdefault(op["assertion"]["memory"], []).append(op["assertion"])
    for id, assertions in said.items():
        memory = fold(assertions)
        if memory:
            out[id] = memory
    return out
