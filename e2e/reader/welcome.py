"""Requests and welcomes: sync/envelope/FORMAT.md, "Request and welcome"."""

import base64

from envelope import sha256, verify
from refusal import Refused, require


def _text(text, prefix):
    text = "".join(text.split())
    require(text.startswith(prefix), "form", f"it does not begin with {prefix}")
    rest = text[len(prefix):]
    try:
        data = base64.b64decode(rest + "=" * (-len(rest) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise Refused("form", "not base64url") from None
    require(base64.urlsafe_b64encode(data).decode().rstrip("=") == rest, "form", "base64url of another form")
    return data


def parse_request(text):
    """Key and recipient of who asks to be let in."""
    data = _text(text, "locket-member-1.")
    key, signature, recipient = data[:32], data[32:96], data[96:]
    require(1 <= len(recipient) <= 2048 and all(33 <= c < 127 for c in recipient), "form", "a recipient of another form")
    verify(key, "locket/v1 request", key + recipient, signature)
    return key, recipient.decode()


def member_of(key, space):
    return sha256(b"locket/v1 member\0" + space + key)[:8]


def parse_welcome(text):
    """Space, and the hash of its first entry."""
    data = _text(text, "locket-space-1.")
    require(len(data) == 52 and sha256(data[:48])[:4] == data[48:], "form", "cut short, or changed")
    return data[:16], data[16:48]
