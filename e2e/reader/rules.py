"""What an op must be, beyond the form of its fields: FORMAT.md of the body, "What an op must be"."""

import unicodedata

from padding import padded_length, stream_length
from refusal import require

MAX_TEXT, MAX_CONTENT, MAX_EXCERPT, MAX_NAME, MAX_VALUE = 65536, 524288, 512, 128, 4096
NO_ID = "0" * 26
KINDS = ("core", "episodic", "semantic", "procedural", "resource", "vault")


def _must(holds, why):
    require(holds, "body", why)


def _at_most(limit, *texts):
    _must(all(len(t.encode()) <= limit for t in texts), f"over {limit} bytes")


def _says_something(text):
    """Has a letter, a digit or a mark."""
    return any(unicodedata.category(c)[0] in "LM" or unicodedata.category(c) == "Nd" for c in text)


def _years(*moments):
    """Years 1 to 9999 of UTC. A moment that the vectors have as a text of RFC 3339 has no other."""
    _must(all(isinstance(m, str) or -62135596800000 <= m[0] <= 253402300799999 for m in moments), "a year that is not 1 to 9999")


def _among(table, *keys):
    return [table[k] for k in keys if k in table]


def _evidence(pieces):
    for e in pieces:
        _at_most(MAX_EXCERPT, e.get("excerpt", ""))


def _metadata(table):
    _must(len(table) <= 64 and "" not in table, "metadata: too many keys, or an empty one")
    _at_most(MAX_NAME, *table.keys())
    _at_most(MAX_VALUE, *table.values())


def _fields(kind, fields):
    _must(set(fields) <= {kind}, "fields of another type than the memory's")
    f = fields.get(kind)
    if f is None:
        _must(kind in ("episodic", "semantic"), "a type that needs fields has none")
    elif kind == "core":
        _must(f["block"].strip() != "" and 1 <= f["limit"] <= MAX_TEXT, "core: its block or limit")
        _at_most(MAX_NAME, f["block"])
    elif kind == "episodic":
        _years(*_among(f, "started", "ended"))
        _must("ended" not in f or "started" not in f or f["ended"] >= f["started"], "episodic: ended before it started")
        _at_most(MAX_TEXT, f.get("details", ""))
        _at_most(MAX_NAME, *(f.get(n, "") for n in ("event_type", "actor", "place")))
    elif kind == "semantic":
        _must("predicate" not in f or "object" in f, "semantic: a predicate without an object")
        _at_most(MAX_TEXT, *(f.get(n, "") for n in ("details", "subject", "object")))
        _at_most(MAX_NAME, *(f.get(n, "") for n in ("name", "predicate")))
    elif kind == "procedural":
        steps = f.get("steps", [])
        _must(1 <= len(steps) <= 256 and all(s.strip() for s in steps), "procedural: its steps")
        _at_most(MAX_TEXT, f.get("description", ""), *steps)
        _at_most(MAX_NAME, f.get("entry_type", ""))
    elif kind == "resource":
        media, slash, sub = f["media_type"].partition("/")
        _must(media and slash and sub, "resource: its media type")
        _at_most(MAX_CONTENT, f.get("content", ""))
        _at_most(MAX_TEXT, f.get("title", ""))
    else:
        _must(f["label"].strip() != "" and f["sealed"] != "", "vault: its label or secret")
        _at_most(MAX_TEXT, f["label"])
        _at_most(MAX_NAME, f.get("entry_type", ""))


def _candidate(c):
    _must(c["text"] != "" and c["owner"]["user"] != "", "no text, or no user")
    _at_most(MAX_TEXT, c["text"])
    _must(0 <= c["confidence"] <= 1, "confidence")
    _years(*_among(c, "true_from", "true_to", "expires"), *(e["at"] for e in c.get("evidence", ()) if "at" in e))
    _must("true_from" not in c or "true_to" not in c or c["true_to"] >= c["true_from"], "true to before true from")
    slot = c.get("slot")
    if slot:
        _must(_says_something(slot["subject"]) and _says_something(slot["attribute"]), "a slot's subject or attribute")
        _must(c.get("negates") or _says_something(slot.get("value", "")), "a slot without a value")
    _evidence(c.get("evidence", ()))
    _at_most(MAX_NAME, *c.get("tags", ()))
    _metadata(c.get("metadata", {}))
    _fields(c["type"], c.get("fields", {}))


def assertion(a):
    act, patch = a["act"], a.get("patch")
    _must(a["dot"]["seq"] > 0 and a["memory"] != NO_ID, "no seq, or no memory")
    _must("into" not in a or act == "archive" and a["into"] not in (NO_ID, a["memory"]), "into")
    _must(("candidate" in a) == (act == "propose"), "a candidate goes with a proposal, and with nothing else")
    if act == "propose":
        _candidate(a["candidate"])
    _must(act != "correct" or patch is not None, "a correction of nothing")
    _must(act != "close" or patch is not None and "validity" in patch, "a close without validity")
    if act in ("correct", "close"):
        _years(*_among(patch.get("validity") or {}, "from", "to"))
    _must(act != "erase" or a["rank"] == 3, "an erasure by no person")
    _must(act != "withdraw" or a.get("seen"), "a withdrawal of nothing")
    _evidence(a.get("evidence", ()))


def utterance(u):
    _must(u["id"] != NO_ID, "an utterance without an id")
    _at_most(MAX_TEXT, u["text"])
    _at_most(MAX_NAME, *(u.get(n, "") for n in ("session", "zone", "speaker", "lang", "place")))
    _must(u.get("redacted", 0) >= 0, "fewer than no secrets")


def forget(f):
    _must(f and all(len(ids) <= 4096 for ids in f.values()), "forget: none, or too many")


def blob(b):
    _must(b["name"] != "" and 0 < b["size"] <= stream_length(padded_length(1 << 40)) and b["sealed"] != "00" * 32, "a blob's name, size or hash")
    if "plain" in b:
        _must(b["plain"] <= 1 << 40 and stream_length(padded_length(b["plain"])) == b["size"], "a blob's size in plain")
    _at_most(MAX_NAME, b["name"], b.get("media_type", ""))


def report(r):
    _must(r["number"] > 0 and r["text"] != "" and len(r["text"].encode()) <= 65536, "a report's number or text")


def gone(places):
    _must(1 <= len(places) <= 4096, "gone: none, or too many")
    _must(all(p["seq"] > 0 and p["member"] != "00" * 8 for p in places), "gone: of nobody, or at no place")
    order = [(p["member"], p["incarnation"], p["seq"]) for p in places]
    _must(all(a < b for a, b in zip(order, order[1:])), "gone: not ascending")
