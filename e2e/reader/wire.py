"""One request to a relay, as it stands on the wire, spoiled on wish: docs/protocol.md, "HTTP"."""

import http.client
import json
from dataclasses import dataclass
from urllib.parse import urlsplit

import cbor
from httpsig import digest
from refusal import Refused

CBOR = "application/cbor"
PATIENCE = 90  # seconds


@dataclass
class Answer:
    status: int
    fields: dict  # by their names in lower case
    body: bytes

    @property
    def kind(self):
        """What kind of problem it is, "" for none; the field and the body must say the same."""
        kind = self.fields.get("locket-problem", "")
        if self.fields.get("content-type") == "application/problem+json" and self.body:
            told = json.loads(self.body)
            same = told["type"] == "urn:locket:problem:" + kind and told["status"] == self.status
            if not same or told["instance"] != "urn:locket:request:" + self.fields.get("request-id", ""):
                return f"{kind}, and another in the body: {told}"
        return kind

    def problem(self):
        return json.loads(self.body)

    def json(self):
        return json.loads(self.body)

    def cbor(self):
        return cbor.decode(self.body, "relay")


class Wire:
    """A relay's address. Each request has a connection of its own, so that one that breaks off spoils no other."""

    def __init__(self, url):
        self.url, parts = url.rstrip("/"), urlsplit(url)
        self.authority, self.host, self.port = parts.netloc, parts.hostname, parts.port

    def open(self, method, path, query="", fields=None, body=None, chunked=False):
        """The answer's head, and the connection, for who reads a stream."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        connection.putrequest(method, path + ("?" + query if query else ""), skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": self.authority, **(fields or {})}.items():
            for line in value if isinstance(value, list) else [value]:
                connection.putheader(name, line)
        if chunked:
            connection.putheader("Transfer-Encoding", "chunked")
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        elif body is not None:
            connection.putheader("Content-Length", str(len(body)))
        try:
            connection.endheaders(body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it is refused before the body has gone; the answer is there to be read
        return connection.getresponse(), connection

    def plain(self, method, path, query="", fields=None, body=None, chunked=False):
        """An answer to a request that nobody signs."""
        answer, connection = self.open(method, path, query, fields, body, chunked)
        try:
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def dressed(self, signer, method, path, query, fields, body, signing):
        """The fields of a request, with digest, type and signature where they are not given."""
        fields = {k.lower(): v for k, v in (fields or {}).items()}
        if body is not None:
            fields.setdefault("content-digest", digest(body))
            fields.setdefault("content-type", CBOR)
        fields = {k: v for k, v in fields.items() if v is not None}
        fields.update(signer.sign(method, fields.get("host", self.authority), path, query, fields, **signing))
        return fields

    def send(self, signer, method, path, query="", fields=None, body=None, chunked=False, after=None, **signing):
        """A signed request. after changes the fields once they are signed; signing is what Signer.sign takes."""
        fields = self.dressed(signer, method, path, query, fields, body, signing)
        if after:
            after(fields)
        return self.plain(method, path, query, fields, body, chunked)


class Checks:
    """What was asked of a relay, and what it did not answer as the documents say."""

    def __init__(self):
        self.count, self.faults, self.section = {}, [], ""

    def begin(self, section):
        self.section = section
        self.count[section] = 0

    def holds(self, is_so, what, seen=""):
        self.count[self.section] += 1
        if not is_so:
            self.faults.append(f"{self.section}: {what}: {seen}")

    def answer(self, answer, status, kind, what):
        """Checks an answer's status, and a problem's kind."""
        shown = answer.body[:300].decode(errors="replace") if answer.status >= 300 else f"{len(answer.body)} bytes"
        self.holds((answer.status, answer.kind) == (status, kind), f"{what}: want {status} {kind}",
                   f"{answer.status} {answer.kind} {shown}")
        if answer.status in (429, 503, 507):
            wait = answer.fields.get("retry-after", "")
            self.holds(wait.isdigit() and int(wait) > 0, f"{what}: Retry-After", wait)
        return answer

    def same(self, have, want, what):
        self.holds(have == want, what, f"{have!r}, want {want!r}")

    def refuses(self, act, what):
        """Nothing comes of it: the connection ends, or the answer is no success."""
        try:
            answer = act()
        except (http.client.HTTPException, OSError, Refused):
            answer = None
        self.holds(answer is None or answer.status >= 400, what, answer and answer.status)
