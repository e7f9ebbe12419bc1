"""What becomes of a worker's op: sync/delta/FORMAT.md, "What a worker may say". Reports are not held to their JSON here."""

import hashlib
from datetime import datetime

import rules
from body import SENSITIVITIES, unbase32
from refusal import Refused

REFUSED, WAITING, ACCEPTED, MISQUOTED = "refused", "waiting", "accepted", "misquoted"
CLOUD, PER_EVIDENCE, MAX_EVIDENCE, MAX_CHANGES, MAX_LINES, LINE_COUNTS = 1, 16, 8, 128, 256, 32
MAX_APART = 24 * 60 * 60 * 10**9
PREFIX = "worker/"
NO_TIME = "0001-01-01T00:00:00Z"  # as the vectors write that there is none


def evidence_name(e):
    """By what a worker's assertions that cite a piece of evidence are counted."""
    if "utterance" in e:
        return e["utterance"]
    return hashlib.sha256(e.get("event", "").encode()).digest()[:16].hex()


def counted(a):
    """What an assertion is counted under: the evidence that it cites, and the memory that it changes."""
    changed = [a["memory"]] if a["act"] in ("correct", "close", "archive") else []
    return list(dict.fromkeys(changed + [evidence_name(e) for e in pieces(a)[:MAX_EVIDENCE]]))


def line_count(u):
    """By what a worker's lines are counted, and a line's number there."""
    id = unbase32(u["id"], 16)
    name = f"line {id[15] % LINE_COUNTS} {u.get('event', '')}"
    return hashlib.sha256(name.encode()).digest()[:16].hex(), int.from_bytes(id[8:], "big")


def ns(moment):
    """Nanoseconds since 1970 of a moment, or of what the vectors write for one."""
    if isinstance(moment, str):
        moment = round(datetime.fromisoformat(moment).timestamp() * 1000), 0
    return moment[0] * 10**6 + moment[1]


def near(a, b):
    return abs(ns(a) - ns(b)) <= MAX_APART


def pieces(a):
    """All evidence that stands in an assertion."""
    return [*a.get("evidence", ()), *a.get("candidate", {}).get("evidence", ())]


def _times(before, what):
    return before if isinstance(before, int) else before.get(what, 0)


def named(u):
    """A worker's utterance, whose source says so."""
    plugin = u.get("source", {}).get("plugin", "")
    return u if plugin.startswith(PREFIX) else {**u, "source": {**u.get("source", {}), "plugin": PREFIX + plugin}}


def stays(u, against):
    """Whether an utterance stays against another one with its id."""
    def order(x):
        source = x.get("source", {})
        device, boot, seq = x.get("event", "/0/0").rsplit("/", 2)
        texts = [x.get(n, "").encode() for n in ("zone", "speaker", "lang", "place")]
        texts += [source.get(n, "").encode() for n in ("device", "plugin", "version", "model")]
        none = (-1 << 63, 0)
        return (not source.get("plugin", "").startswith(PREFIX), x.get("redacted", 0), x["text"].encode(), device.encode(), int(boot), int(seq),
                x.get("session", "").encode(), x.get("at", none), *texts, x.get("received", none))

    return order(u) > order(against)


class Verdict(Exception):
    """Ends the looking at an op that is not accepted."""


def _else(verdict, holds):
    if not holds:
        raise Verdict(verdict)


def verdict(op, by, grant, known):
    """refused, waiting, misquoted or accepted; by: the worker's member id. known: types of proposals by memory, what is gone, utterances,
    sources, when these were made, and how often the worker cited a piece of evidence, and changed a memory, before: a number, or by what; lines:
    how many of the line's count it has said before."""
    try:
        if "assertion" in op:
            _assertion(op["assertion"], grant, known)
        elif "utterance" in op:
            _utterance(op["utterance"], by, grant, known)
        else:
            _else(REFUSED, "gone" in op)
    except Verdict as v:
        return v.args[0]
    except Refused:  # what breaks the rules of any op
        return REFUSED
    return ACCEPTED


def _assertion(a, grant, known):
    rules.assertion(a)
    _else(REFUSED, a["rank"] == CLOUD)
    _else(REFUSED, all(d["member"] == a["dot"]["member"] for d in a.get("seen") or ()))
    act = a["act"]
    if act == "propose":
        c = a["candidate"]
        _granted(c["type"], grant)
        _not_public(c["sensitivity"])
        if a["memory"] not in (known["gone"] or ()):
            _evidence(c.get("evidence") or (), grant, known)
    elif act == "reinforce":
        pieces = a.get("evidence") or ()
        _else(REFUSED, 1 <= len(pieces) <= MAX_EVIDENCE)
        _touch(a["memory"], grant, known)
        if a["memory"] not in (known["gone"] or ()):
            _evidence(pieces, grant, known)
    elif act in ("correct", "close"):
        if "sensitivity" in a["patch"]:
            _not_public(a["patch"]["sensitivity"])
        _else(REFUSED, "vault" not in (a["patch"].get("fields") or {}))
        _change(a["memory"], grant, known)
    elif act == "archive":
        _else(REFUSED, "into" in a)
        _change(a["memory"], grant, known)
        _touch(a["into"], grant, known)
    else:
        raise Verdict(REFUSED)


def _not_public(sensitivity):
    _else(REFUSED, SENSITIVITIES.index(sensitivity) >= SENSITIVITIES.index("personal"))


def _may(kind, grant):
    return kind != "vault" and kind in (grant["types"] or ())


def _granted(kind, grant):
    _else(REFUSED, _may(kind, grant))


def _touch(id, grant, known):
    """Somebody has proposed it in a type of the grant, or it is gone, and what is said of it is absorbed."""
    types = known["proposed"].get(id) or ()
    _else(WAITING, id in (known["gone"] or ()) or any(_may(t, grant) for t in types))


def _change(id, grant, known):
    _else(REFUSED, _times(known["changed"], id) < MAX_CHANGES)
    _touch(id, grant, known)


def _evidence(pieces, grant, known):
    _else(REFUSED, 1 <= len(pieces) <= MAX_EVIDENCE)
    for e in pieces:
        if "utterance" in e:
            u = known["utterances"].get(e["utterance"])
            _else(REFUSED, e.get("excerpt", "") != "")
            _else(WAITING, u is not None)
            _else(MISQUOTED, "event" not in e or e["event"] == u.get("event"))
            _else(MISQUOTED, e["excerpt"] in u["text"])
        else:
            _else(REFUSED, "event" in e)
            _else(WAITING, e["event"] in known["sources"])
        _else(REFUSED, _times(known["cited"], evidence_name(e)) < (grant["per_evidence"] or PER_EVIDENCE))


def _utterance(u, by, grant, known):
    _else(REFUSED, grant["transcribe"])
    _else(REFUSED, u["text"].strip() != "" and "event" in u and u.get("at", NO_TIME) != NO_TIME)
    _else(REFUSED, unbase32(u["id"], 16)[:8] == by)
    _else(REFUSED, known["lines"] < MAX_LINES)
    _else(WAITING, u["event"] in known["sources"])
    _else(WAITING, any(near(u["at"], made) for made in known["made"].get(u["event"], ())))
