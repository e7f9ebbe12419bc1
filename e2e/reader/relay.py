"""A relay, asked as the root (docs/protocol.md, "Requests"): RFC 9421 with Ed25519."""

import base64
import os
import time
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import cbor
from body import base32
from refusal import Refused, require


class Relay:
    anybodys = False  # it has checked headers and chains before

    def __init__(self, url, recovery):
        self.url, self.recovery = url.rstrip("/"), recovery
        self.authority = urlsplit(self.url).netloc

    def get(self, path, query=""):
        covered = ("@method", "@authority", "@path", "@query")
        keyid = "root/" + self.recovery.root_public.hex()
        nonce = base64.urlsafe_b64encode(os.urandom(18)).decode()
        params = "(%s);created=%d;keyid=\"%s\";nonce=\"%s\";alg=\"ed25519\"" % (
            " ".join(f'"{c}"' for c in covered), time.time(), keyid, nonce)
        values = ("GET", self.authority, path, "?" + query)
        lines = [f'"{c}": {v}' for c, v in zip(covered, values)] + [f'"@signature-params": {params}']
        signature = base64.b64encode(self.recovery.root.sign("\n".join(lines).encode())).decode()
        request = urllib.request.Request(self.url + path + ("?" + query if query else ""), headers={
            "Signature-Input": "locket=" + params, "Signature": f"locket=:{signature}:"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.read()
        except urllib.error.HTTPError as e:
            raise Refused("relay", f"GET {path}: {e.code} {e.read().decode(errors='replace')}") from None

    def log(self, space):
        """The entries' bytes as they stand on the wire, in order."""
        out = []
        while True:
            page = cbor.decode(self.get(f"/v1/spaces/{base32(space)}/log", f"after={len(out)}"), "relay")
            if not page:
                return out
            out += page

    def deltas(self, space, after):
        """Cursors, and the deltas' bytes as they stand on the wire, in the relay's order."""
        while True:
            page = cbor.decode(self.get(f"/v1/spaces/{base32(space)}/deltas", f"after={after}"), "relay")
            if not page:
                return
            for cursor, delta in page:
                require(cursor == after + 1, "relay", "cursors with a gap")
                after = cursor
                yield cursor, delta

    def checkpoints(self, space):
        """Checkpoints and the votes on each, as they stand on the wire."""
        for item in cbor.decode(self.get(f"/v1/spaces/{base32(space)}/checkpoints"), "relay"):
            require(isinstance(item, list) and len(item) == 2 and isinstance(item[1], list), "relay", "not a checkpoint with votes")
            yield item[0], item[1]

    def blob(self, space, sealed):
        return self.get(f"/v1/spaces/{base32(space)}/blobs/{sealed}")
