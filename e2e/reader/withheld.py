"""Which bodies a relay keeps back: FORMAT.md of the body, "6 gone"."""

OWNER, WRITER = 1, 2


class Withheld:
    def __init__(self):
        self.bare, self.said = set(), set()

    def take(self, member, delta, ops):
        """One delta by that member, and what it says."""
        if delta.body is None:
            h = delta.header
            self.bare.add((h.member.hex(), h.incarnation, h.seq))
        for op in ops:
            for p in op.get("gone", ()):
                if member.role in (OWNER, WRITER) or p["member"] == member.id.hex():
                    self.said.add((p["member"], p["incarnation"], p["seq"]))

    def places(self):
        """Those that came bare, and of which nobody who may has said that they do."""
        return [f"{m}/{i:016x}/{s}" for m, i, s in sorted(self.bare - self.said)]
