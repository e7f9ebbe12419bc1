"""A relay, asked as the root or as a member (docs/protocol.md, "Requests"), and its mailboxes."""

import urllib.error
import urllib.request
from urllib.parse import urlsplit

import cbor
from body import base32
from httpsig import Signer
from refusal import Refused, require


def as_root(recovery):
    return Signer("root/" + recovery.root_public.hex(), recovery.root)


def as_member(space, member, key):
    return Signer(f"{base32(space)}/{member.hex()}", key)


def ask(method, url, fields=None, body=None):
    """Status, fields and body of an answer."""
    request = urllib.request.Request(url, method=method, headers=fields or {}, data=body)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as e:
        raise Refused("relay", f"{method} {urlsplit(url).path}: {e.code} {e.read().decode(errors='replace')}") from None


class Mailboxes:
    """A relay's, for which nobody signs."""

    def __init__(self, url):
        self.url = url.rstrip("/") + "/v1/mailboxes/"

    def post(self, box, data):
        ask("POST", self.url + box.hex(), {"Content-Type": "application/octet-stream"}, data)

    def message(self, box, after):
        """The message after that many, or None where it has not come within a while."""
        status, fields, body = ask("GET", f"{self.url}{box.hex()}?after={after}&wait=20")
        if status == 204:
            return None
        require(fields["Locket-Message"] == str(after + 1), "relay", "another message than the next")
        return body


class Relay:
    anybodys = False  # it has checked headers and chains before

    def __init__(self, url, signer):
        self.url, self.signer = url.rstrip("/"), signer
        self.authority = urlsplit(self.url).netloc

    def get(self, path, query=""):
        fields = self.signer.sign("GET", self.authority, path, query, {})
        return ask("GET", self.url + path + ("?" + query if query else ""), fields)[2]

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
