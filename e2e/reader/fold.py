"""What one memory says: FORMAT.md of the body. How memories of a group end each other is no part of it."""

from body import SENSITIVITIES

CLOUD, PERSON = 1, 3


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


class Voices:
    """Whose word counts in one memory, and what for."""

    def __init__(self, said):
        self.proposals = [a for a in said if a["act"] == "propose"]
        self.workers = all(a["rank"] == CLOUD for a in self.proposals)
        self.theirs = self.workers and all(a["rank"] == CLOUD for a in said if a["act"] == "correct")
        self.vault = any(a["candidate"]["type"] == "vault" for a in self.proposals)
        pin = _winner([a for a in said if a["act"] in ("pin", "unpin") and a["rank"] == PERSON])
        self.pin = pin if pin and pin["act"] == "pin" else None
        shaping = [a for a in self.proposals if self.workers or a["rank"] > CLOUD]
        self.shown = max(shaping, key=_later)
        if self.pin and self.shown["rank"] < PERSON:
            named = [a for a in shaping if dot(a) in _seen(self.pin)]
            self.shown = max(named, key=_later) if named else min(shaping, key=lambda a: (_clock(a), dot(a)))

    def counts(self, a):
        if self.pin:
            return a["rank"] == PERSON
        return a["rank"] > CLOUD or self.theirs and not self.vault

    def shapes(self, a):
        return a["rank"] > CLOUD or self.workers and (not self.pin or a is self.shown)

    def private(self, said):
        """What makes a memory of workers' words the most private."""
        out = [self.shown["candidate"]["sensitivity"]]
        for a in said:
            if a["rank"] > CLOUD or self.pin and a is not self.shown and dot(a) not in _seen(self.pin):
                continue
            part = a["candidate"] if a["act"] == "propose" else a.get("patch") or {}
            out += [part["sensitivity"]] if a["act"] in ("propose", "correct") and "sensitivity" in part else []
        return max(out, key=SENSITIVITIES.index)


def fold(said):
    """The memory that follows from its assertions, {} where it is erased, or None where nobody proposed it."""
    said = _standing(said)
    if not any(a["act"] == "propose" for a in said):
        return None
    if any(a["act"] == "erase" for a in said):
        return {}
    voices = Voices(said)
    shown = voices.shown["candidate"]
    memory = {"text": shown["text"], "sensitivity": shown["sensitivity"], "pinned": voices.pin is not None}
    best = _winner([a for a in said if a["act"] == "correct" and "text" in a["patch"] and voices.counts(a)])
    if best:
        memory["text"] = best["patch"]["text"]
    best = _winner([a for a in said if a["act"] == "correct" and "sensitivity" in a["patch"] and a["rank"] > CLOUD and voices.counts(a)])
    if best:
        memory["sensitivity"] = best["patch"]["sensitivity"]
    elif voices.workers:
        memory["sensitivity"] = voices.private(said)
    shaping = [a for a in said if voices.shapes(a)]

    def untagged(t, a):
        return any(u["act"] == "untag" and u["rank"] >= a["rank"] and t in u.get("tags", ()) and dot(a) in _seen(u) for u in shaping)

    given = [(t, a) for a in shaping for t in (a["candidate"] if a["act"] == "propose" else a).get("tags", ())
             if a["act"] in ("propose", "tag")]
    memory["tags"] = sorted({t for t, a in given if not untagged(t, a)})
    return memory


def shown_type(said):
    """The type of a memory that is there."""
    return Voices(_standing(said)).shown["candidate"]["type"]


def memories(assertions):
    """All memories that are not erased, by id."""
    said, out = {}, {}
    for a in assertions:
        said.setdefault(a["memory"], []).append(a)
    for id, assertions in said.items():
        memory = fold(assertions)
        if memory:
            out[id] = memory
    return out
