"""A new device's side of pairing: docs/protocol.md, "Pairing"."""

import base64
import hashlib
import hmac
import json
import os
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from age import open_hybrid
from envelope import verify
from hybrid import Identity
from phrase import word_list
from refusal import Refused, require

LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
COMMIT, INVITE, REVEAL, AGREE, CONFIRM, GRANT = 1, 2, 3, 4, 5, 6
GRANT_DOMAIN = "locket/v1 pairing grant"


def parse_code(text):
    letters = "".join({"o": "0", "i": "1", "l": "1"}.get(c, c) for c in text.lower() if c not in " -\t")
    require(len(letters) == 8 and all(c in LETTERS for c in letters), "code", "not eight letters of the code")
    return letters


def parse_link(text):
    """Code and relay of what a QR code says."""
    kind, _, query = text.strip().partition("?")
    fields = parse_qs(query, strict_parsing=True)
    require(kind == "locket:pair" and set(fields) == {"code", "relay"}, "code", "not a link")
    return parse_code(fields["code"][0]), fields["relay"][0]


def keys(code):
    """The mailbox's id, and the key of the messages' MACs."""
    out = hashlib.scrypt(code.encode(), salt=b"locket/v1 pairing", n=1 << 15, r=8, p=1, maxmem=64 << 20, dklen=48)
    return out[:16], out[16:]


def parts(*ps):
    return b"".join(len(p).to_bytes(4, "big") + p for p in ps)


def _sum(*ps):
    return hashlib.sha256(parts(*ps)).digest()


def _from64(text):
    try:
        return base64.b64decode(text or "", validate=True)
    except (ValueError, TypeError):
        raise Refused("tampered", "not base64") from None


class Side:
    """What one device shows of itself."""

    def __init__(self, member, key, recipient, name, nonce):
        self.member, self.key, self.recipient, self.name, self.nonce = member, key, recipient, name, nonce

    @classmethod
    def parse(cls, body):
        try:
            v = json.loads(body)
            p = v["party"]
            side = cls(bytes.fromhex(p["member"]), _from64(p["key"]), p["recipient"], p["name"], bytes(v["nonce"]))
        except (ValueError, KeyError, TypeError):
            raise Refused("tampered", "not a side") from None
        right = len(side.member) == 8 and len(side.key) == 32 and len(side.nonce) == 32 and len(side.name.encode()) <= 128
        require(right and side.recipient.startswith("age1pq1"), "tampered", "keys of another form")
        return side

    def json(self):
        party = {"member": self.member.hex(), "key": base64.b64encode(self.key).decode(), "recipient": self.recipient, "name": self.name}
        return json.dumps({"party": party, "nonce": list(self.nonce)}).encode()

    def _hash(self, label):
        return _sum(label, self.member, self.key, self.recipient.encode(), self.name.encode(), self.nonce)

    def hash(self):
        return self._hash(b"locket/v1 pairing side")

    def revealed(self):
        return self._hash(b"locket/v1 pairing revealed")


def transcript(box, inviting, new):
    return _sum(b"locket/v1 pairing", box, inviting.hash(), new.revealed())


def words(digest):
    """Five words of the first 55 bits."""
    listed = sorted(word_list("english").items(), key=lambda item: item[1])
    bits = int.from_bytes(digest[:7], "big") >> 1
    return [listed[bits >> 11 * (4 - i) & 2047][0] for i in range(5)]


def mac(key, step, no, body):
    return hmac.new(key, parts(b"locket/v1 pairing message", bytes([step, no]), body), hashlib.sha256).digest()


def message(key, step, body, no=False):
    m = {"step": step, "body": base64.b64encode(body).decode(), "mac": base64.b64encode(mac(key, step, no, body)).decode()}
    return json.dumps({**m, "no": True} if no else m).encode()


def parse_message(key, data):
    """Step and body of a message, by whoever knows the code."""
    try:
        m = json.loads(data)
        step, no, body, tag = m["step"], m.get("no", False), _from64(m["body"]), _from64(m["mac"])
        right = hmac.compare_digest(tag, mac(key, step, no, body))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Refused("tampered", "not a message") from None
    require(right, "tampered", "a message by who does not know the code")
    return step, no, body


def open_grant(body, inviting, digest, identity):
    """Where the space is: what the device that is in has sealed, and signed for this pairing."""
    try:
        v = json.loads(body)
        sealed, signature = _from64(v["sealed"]), _from64(v["signature"])
    except (ValueError, KeyError, TypeError):
        raise Refused("tampered", "not a grant") from None
    try:
        verify(inviting.key, GRANT_DOMAIN, parts(b"grant", digest, sealed), signature)
    except Refused:
        raise Refused("tampered", "a grant that the other device has not signed for this pairing") from None
    return json.loads(open_hybrid(sealed, identity))


class NewDevice:
    """Keys of its own, and its end of a mailbox."""

    def __init__(self, name):
        self.key, self.identity = Ed25519PrivateKey.generate(), Identity(os.urandom(32))
        public = self.key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        self.side = Side(os.urandom(8), public, self.identity.recipient(), name, os.urandom(32))

    def meet(self, mail, code):
        """Shows itself, and gives the words that a person compares."""
        self.mail, self.read = mail, 0
        self.box, self.mac_key = keys(code)
        self._say(COMMIT, self.side.hash())
        self.inviting = Side.parse(self._hear(INVITE))
        self._say(REVEAL, self.side.json())
        self.digest = transcript(self.box, self.inviting, self.side)
        return words(self.digest)

    def agree(self):
        """Says that the words are the same, and gives the grant once the other side has said so."""
        self._say(CONFIRM, self.digest)
        require(self._hear(AGREE) == self.digest, "tampered", "it agrees to something else")
        return open_grant(self._hear(GRANT), self.inviting, self.digest, self.identity)

    def refuse(self):
        self._say(CONFIRM, b"", no=True)

    def _say(self, step, body, no=False):
        self.mail.post(self.box, message(self.mac_key, step, body, no))

    def _hear(self, step):
        while True:
            data = self.mail.message(self.box, self.read)
            if data is None:
                continue  # not yet
            self.read += 1
            got, no, body = parse_message(self.mac_key, data)
            if got % 2 == 1:
                continue  # its own
            require(not no, "refused", "the other device's person says no")
            require(got == step, "tampered", f"step {got} in place of {step}")
            return body
