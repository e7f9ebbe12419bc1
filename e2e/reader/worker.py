"""What becomes of a worker's op: sync/delta/FORMAT.md, "What a worker may say". Reports are not held to their JSON here."""

import rules
from body import SENSITIVITIES
from refusal import Refused

REFUSED, WAITING, ACCEPTED = "refused", "waiting", "accepted"
CLOUD, PER_EVIDENCE, MAX_EVIDENCE = 1, 16, 8


class Verdict(Exception):
    """Ends the looking at an op that is not accepted."""


def _else(verdict, holds):
    if not holds:
        raise Verdict(verdict)


def verdict(op, grant, known):
    """refused, waiting or accepted. known: memories, utterances, sources, and how often the worker cited a piece of evidence before."""
    try:
        if "assertion" in op:
            _assertion(op["assertion"], grant, known)
        elif "utterance" in op:
            _utterance(op["utterance"], grant, known)
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
        _else(REFUSED, _degree(c["sensitivity"]) >= _degree("personal"))
        _evidence(c.get("evidence") or (), grant, known)
        if a["memory"] in known["memories"]:
            _touch(a["memory"], grant, known)
    elif act == "reinforce":
        _touch(a["memory"], grant, known)
        _evidence(a.get("evidence") or (), grant, known)
    elif act in ("correct", "close"):
        m = _touch(a["memory"], grant, known)
        _else(WAITING, m["rank"] == CLOUD)
        patch = a["patch"]
        _else(REFUSED, "sensitivity" not in patch or _degree(patch["sensitivity"]) >= _degree(m["sensitivity"]))
        _else(REFUSED, "vault" not in (patch.get("fields") or {}))
    elif act == "archive":
        _else(REFUSED, "into" in a)
        for id in (a["memory"], a["into"]):
            _else(WAITING, _touch(id, grant, known)["rank"] == CLOUD)
    else:
        raise Verdict(REFUSED)


def _degree(sensitivity):
    return SENSITIVITIES.index(sensitivity)


def _granted(kind, grant):
    _else(REFUSED, kind != "vault" and kind in (grant["types"] or ()))


def _touch(id, grant, known):
    """The memory, which a worker may touch."""
    m = known["memories"].get(id)
    _else(WAITING, m is not None)
    _else(REFUSED, m["state"] != "erased")
    _else(WAITING, not m["pinned"])
    _granted(m["type"], grant)
    return m


def _evidence(pieces, grant, known):
    _else(REFUSED, 1 <= len(pieces) <= MAX_EVIDENCE)
    for e in pieces:
        if "utterance" in e:
            u = known["utterances"].get(e["utterance"])
            _else(WAITING, u is not None)
            _else(REFUSED, "event" not in e or e["event"] == u.get("event"))
            _else(REFUSED, e.get("excerpt", "") != "" and e["excerpt"] in u["text"])
        else:
            _else(REFUSED, "event" in e)
            _else(WAITING, e["event"] in known["sources"])
        _else(REFUSED, known["cited"] < (grant["per_evidence"] or PER_EVIDENCE))


def _utterance(u, grant, known):
    _else(REFUSED, grant["transcribe"])
    _else(REFUSED, u["text"].strip() != "" and "event" in u)
    old = known["utterances"].get(u["id"])
    said = ("event", "text", "speaker", "at", "place", "redacted")
    _else(REFUSED, old is None or all(old.get(k) == u.get(k) for k in said))
    _else(WAITING, u["event"] in known["sources"])
