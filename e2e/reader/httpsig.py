"""Signed requests (docs/protocol.md, "A request, and its signature"): RFC 9421 with Ed25519, RFC 9530."""

import base64
import hashlib
import os
import re
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from refusal import Refused, require

ALWAYS = ("@method", "@authority", "@path", "@query")
FIELDS = ("content-digest", "content-range", "range", "locket-invite")


def digest(body):
    return "sha-256=:" + base64.b64encode(hashlib.sha256(body).digest()).decode() + ":"


def component(name, method, authority, path, query, fields):
    derived = {"@method": method, "@authority": authority.lower(), "@path": path or "/", "@query": "?" + query}
    if name in derived:
        return derived[name]
    require(name in fields, "malformed", f"{name} is covered, and not there")
    return fields[name].strip(" \t")


def base(covered, params, *request):
    """What Ed25519 signs. params is the text from the parenthesis on."""
    lines = [f'"{name}": {component(name, *request)}' for name in covered]
    return "\n".join([*lines, f'"@signature-params": {params}']).encode()


def fresh_nonce():
    return base64.urlsafe_b64encode(os.urandom(18)).decode()


class Signer:
    """Signs requests as a member ("SPACE/MEMBER") or as a root ("root/KEY")."""

    def __init__(self, keyid, key):
        self.keyid, self.key = keyid, key

    def sign(self, method, authority, path, query, fields, created=None, nonce=None, covered=None, params=None, label="locket"):
        """The two fields of a request's signature. params are in place of all four, with which none is left out."""
        if covered is None:
            covered = ALWAYS + tuple(f for f in FIELDS if f in fields)
        if params is None:
            nonce = nonce or fresh_nonce()
            params = f';created={int(time.time() if created is None else created)};keyid="{self.keyid}";nonce="{nonce}";alg="ed25519"'
        params = "(%s)%s" % (" ".join(f'"{c}"' for c in covered), params)
        signature = self.key.sign(base(covered, params, method, authority, path, query, fields))
        return {"Signature-Input": f"{label}={params}", "Signature": f"{label}=:{base64.b64encode(signature).decode()}:"}


_PARAM = r';(?:created=(?P<created>[0-9]{1,15})|keyid="(?P<keyid>[ !#-\[\]-~]*)"|nonce="(?P<nonce>[ !#-\[\]-~]*)"|alg="(?P<alg>[ !#-\[\]-~]*)")'


def verify(public, method, authority, path, query, fields, body, now):
    """The keyid of a signed request, if all of it holds. fields are by names in lower case."""
    require("signature-input" in fields and "signature" in fields, "unsigned", "no signature")
    signed = re.fullmatch(r'([a-z*][a-z0-9_.*-]*)=(\(((?:"[^"]*"(?: (?="))?)*)\)((?:;[a-z]+=(?:"[^"]*"|[0-9]+))*))', fields["signature-input"])
    made = re.fullmatch(r"([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*=*):", fields["signature"])
    require(signed and made and signed[1] == made[1], "malformed", "not one signature under one label")
    covered = re.findall(r'"([^"]*)"', signed[3])
    params = {}
    for m in re.finditer(_PARAM, signed[4]):
        params.update({k: v for k, v in m.groupdict().items() if v is not None})
    require("".join(m[0] for m in re.finditer(_PARAM, signed[4])) == signed[4], "malformed", "a parameter of another form")
    require(params.get("alg", "ed25519") == "ed25519", "malformed", "another algorithm")
    require(len(covered) == len(set(covered)), "malformed", "a component twice")
    require("created" in params and abs(int(params["created"]) - now) <= 300, "stale", "too old, or ahead of its time")
    require(1 <= len(params.get("nonce", "")) <= 64, "malformed", "no nonce, or one over its limit")
    must = set(ALWAYS) | {f for f in FIELDS if f in fields} | ({"content-digest"} if body else set())
    require(must <= set(covered), "malformed", "something is not covered")
    require(len(params.get("keyid", "")) <= 256, "malformed", "keyid over its limit")
    signature = base64.b64decode(made[2] + "===")
    require(len(signature) == 64, "malformed", "a signature of another length")
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, base(covered, signed[2], method, authority, path, query, fields))
    except (ValueError, InvalidSignature):
        raise Refused("forged", "the signature is not this key's, or of another request") from None
    if body:
        require(fields["content-digest"] == digest(body), "body", "not the body that was signed")
    return params.get("keyid", "")
