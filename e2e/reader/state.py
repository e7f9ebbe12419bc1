"""What was taken of a space: assertions, utterances and blobs, and what of workers' words waits (FORMAT.md of the body)."""

import worker
from envelope import EXTRACTOR
from fold import fold, memories, shown_type
from worker import ACCEPTED, MISQUOTED, REFUSED

KEPT = 256  # of one worker's ops that wait, and as many that misquote
COUNTED = 256  # numbers under one piece of evidence, or one memory


class State:
    def __init__(self):
        self.said, self.utterances, self.blobs, self.erased = {}, {}, {}, set()
        self.ops = 0
        self.counts = {}  # (worker, evidence or memory): the numbers of its assertions, as they came
        self.quoting = {}  # a worker's op that was taken: (member, grant, op), by its number
        self.kept = []  # (member, grant, op, verdict)

    def take(self, member, grant, ops):
        """What one member says in one delta. grant is None for whom no rules hold but those of each op."""
        self.ops += len(ops)
        for op in ops:
            if member.role == EXTRACTOR:
                self._hold(member, grant, op)
            else:
                self._apply(member, op)
        self._ask_again()

    def take_item(self, key, said, members, grants):
        """One item of a snapshot: it was held to its rules by whoever made it, and by whoever agreed."""
        if key == 1:
            self._assertion(said)
            member = members[bytes.fromhex(said["dot"]["member"])]
            if member.role == EXTRACTOR:
                self.quoting[said["dot"]["member"], said["dot"]["seq"]] = member, grants[member.id], {"assertion": said}
        elif key == 2:
            self._utterance(None, said)
        elif key == 3:
            self._blob(said)
        elif key == 4:
            self.counts[said["member"], said["evidence"]] = list(said["numbers"])
        elif key == 5:
            for id in said:
                self._erase(id)

    def _apply(self, member, op):
        kind, = op
        if kind == "assertion":
            self._assertion(op[kind])
        elif kind == "utterance":
            self._utterance(member, op[kind])
        elif kind == "blob":
            self._blob(op[kind])
        elif kind == "forget":
            for id in op[kind].get("memories", []) + op[kind].get("utterances", []):
                self._erase(id)
            for name in op[kind].get("blobs", []):
                self.blobs.pop(name, None)

    def _assertion(self, a):
        if a["act"] == "erase":
            self._erase(a["memory"])
        if a["memory"] not in self.erased:
            self.said[a["dot"]["member"], a["dot"]["seq"]] = a

    def _blob(self, b):
        if b.get("memory") not in self.erased:
            self.blobs[b["name"]] = b

    def _erase(self, id):
        self.erased.add(id)
        self.blobs = {name: b for name, b in self.blobs.items() if b.get("memory") != id}
        self.utterances.pop(id, None)
        self.said = {dot: a for dot, a in self.said.items() if a["memory"] != id}

    def _utterance(self, member, u):
        if u["id"] in self.erased:
            return
        worker_said = member is not None and member.role == EXTRACTOR
        if worker_said:
            u = worker.named(u)
        was = self.utterances.get(u["id"])
        if was is not None and not worker.stays(u, was):
            return
        self.utterances[u["id"]] = u
        if was is not None and was["text"] != u["text"]:
            self._take_back(u["id"])

    # Workers' words.

    def _hold(self, member, grant, op):
        for what, number in self._counted(op):
            numbers = self.counts.setdefault((member.id.hex(), what), [])
            if number not in numbers and len(numbers) < COUNTED:
                numbers.append(number)
        self._judge(member, grant, op)

    @staticmethod
    def _counted(op):
        if "utterance" in op:
            return [worker.line_count(op["utterance"])]
        a = op.get("assertion")
        return [(what, a["dot"]["seq"]) for what in worker.counted(a)] if a is not None else []

    def _judge(self, member, grant, op):
        verdict = worker.verdict(op, member.id, grant, self._known(member, op))
        if verdict == ACCEPTED:
            self._apply(member, op)
            if "assertion" in op:
                self.quoting[op["assertion"]["dot"]["member"], op["assertion"]["dot"]["seq"]] = member, grant, op
        elif verdict != REFUSED:
            alike = sum(m.id == member.id and v == verdict for m, _, _, v in self.kept)
            if alike < KEPT:
                self.kept.append((member, grant, op, verdict))
        return verdict

    def _known(self, member, op):
        proposed = {}
        for a in self.said.values():
            if a["act"] == "propose":
                proposed.setdefault(a["memory"], []).append(a["candidate"]["type"])
        before = {}
        for what, number in self._counted(op):
            numbers = self.counts[member.id.hex(), what]
            before[what] = numbers.index(number) if number in numbers else COUNTED
        sources, made = self._sources()
        return {
            "proposed": proposed, "gone": self.erased, "utterances": self.utterances,
            "sources": sources, "made": made, "cited": before, "changed": before, "lines": max(before.values(), default=0),
        }

    def _sources(self):
        """The events of recordings and photos: what resources cite; and when these were made, by who is no worker."""
        by, out, made = {}, set(), {}
        for a in self.said.values():
            by.setdefault(a["memory"], []).append(a)
        for said in by.values():
            if fold(said) and shown_type(said) == "resource":
                cited = [(a, e) for a in said if a["act"] in ("propose", "reinforce") for e in worker.pieces(a) if "event" in e]
                out |= {e["event"] for _, e in cited}
                by_others = [a for a in said if a["rank"] != worker.CLOUD]
                began = [a.get("candidate", {}).get("true_from") for a in by_others]
                began += [a.get("patch", {}).get("validity", {}).get("from") for a in by_others]
                for event in {e["event"] for _, e in cited}:
                    at = [e.get("at") for a in by_others for e in worker.pieces(a) if e.get("event") == event]
                    made.setdefault(event, []).extend(m for m in began + at if m is not None)
        return out, made

    def _ask_again(self):
        """What waits, or misquotes, until nothing more of it is taken."""
        more = True
        while more:
            more, kept, self.kept = False, self.kept, []
            for member, grant, op, _ in kept:
                more = self._judge(member, grant, op) == ACCEPTED or more

    def _take_back(self, utterance):
        """Holds what quotes a line to the rules once more, as the line is another."""
        for dot, (member, grant, op) in list(self.quoting.items()):
            a = op["assertion"]
            if dot not in self.said or all(e.get("utterance") != utterance for e in worker.pieces(a)):
                continue
            if worker.verdict(op, member.id, grant, self._known(member, op)) == ACCEPTED:
                continue
            self._withdraw(dot, member, grant, op)
            if a["act"] == "propose":
                for other, (m, g, o) in list(self.quoting.items()):
                    if o["assertion"]["memory"] == a["memory"]:
                        self._withdraw(other, m, g, o)

    def _withdraw(self, dot, member, grant, op):
        if self.quoting.pop(dot, None) is not None:
            self.said.pop(dot, None)
            self.kept.append((member, grant, op, MISQUOTED))

    def memories(self):
        return memories(self.said.values())

    def live(self):
        """The assertions of memories that are not erased, and that somebody proposed."""
        by = {}
        for a in self.said.values():
            by.setdefault(a["memory"], []).append(a)
        return [a for said in by.values() if fold(said) for a in said]
