"""A space's envelopes as files: sync/envstore/FORMAT.md."""

import os
import re
import stat

import envelope
from body import base32
from refusal import Refused, require

CHAIN = re.compile(r"[0-9a-f]{16}-[0-9a-f]{16}")
ENTRY = re.compile(r"[0-9]{8}-[0-9a-f]{16}\.entry")
DELTA = re.compile(r"[0-9]{12}\.delta")
LIMITS = {".entry": 262144, ".delta": (1 << 20) + 320, ".blob": 1 << 30}


class Folder:
    """What lies in a folder. It is believed nothing: no cursors of a relay are there, and no checkpoints."""

    anybodys = True  # whoever can write into it may have put anything there

    def __init__(self, path):
        self.path, self.problems = path, []

    def _within(self, space, name):
        return os.path.join(self.path, base32(space), name)

    def _names(self, path):
        try:
            return sorted(os.listdir(path))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _read(self, path):
        """A plain file within its limit, or None."""
        try:
            at = os.lstat(path)
            if not stat.S_ISREG(at.st_mode) or at.st_size > LIMITS[os.path.splitext(path)[1]]:
                return None
            with open(path, "rb") as f:
                return f.read()
        except FileNotFoundError:
            return None

    def _envelope(self, path, parse, name):
        """What a file holds, if it is what its name says."""
        wire = self._read(path)
        if wire is None:
            return None
        try:
            require(name(parse(wire)) == os.path.basename(path), "folder", "it is another one than its name says")
            return wire
        except Refused as r:
            self.problems.append(f"{os.path.basename(path)}: {r}")
            return None

    def log(self, space):
        at, out = self._within(space, "log"), []
        for file in self._names(at):
            if ENTRY.fullmatch(file):
                out.append(self._envelope(os.path.join(at, file), envelope.parse_entry, lambda e: f"{e.n:08d}-{e.hash[:8].hex()}.entry"))
        return [wire for wire in out if wire is not None]

    def deltas(self, space, after):
        """Chain by chain: any order derives the same."""
        at, cursor = self._within(space, "deltas"), 0
        for chain in filter(CHAIN.fullmatch, self._names(at)):
            place = os.path.join(at, chain)

            def name(delta):
                h = delta.header
                return f"{h.seq:012d}.delta" if f"{h.member.hex()}-{h.incarnation:016x}" == chain else ""

            for file in filter(DELTA.fullmatch, self._names(place)):
                wire = self._envelope(os.path.join(place, file), envelope.parse_delta, name)
                cursor += 1
                if wire is not None and cursor > after:
                    yield cursor, wire

    def checkpoints(self, space):
        return []

    def blob(self, space, sealed):
        wire = self._read(os.path.join(self._within(space, "blobs"), sealed + ".blob"))
        require(wire is not None, "missing", "the blob is not in the folder")
        return wire
