"""Who is in the same network: docs/protocol.md, "Between devices"."""

import hashlib
import hmac

from age import derive
from refusal import require

QUARTER = 900  # seconds


def key(epoch_key):
    return derive(epoch_key, "locket/v1 lan")


def _mac(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def beacon(key, seconds, nonce, address):
    """The name that a device announces for its address at a time."""
    return _named(key, seconds // QUARTER, nonce, address)


def _named(key, quarter, nonce, address):
    tag = _mac(key, b"locket/v1 lan\0" + quarter.to_bytes(8, "big") + nonce + address.encode())
    return nonce.hex() + "-" + tag[:8].hex()


def knows(keys, seconds, name, address):
    """Whether a name that is announced for an address is a member's."""
    try:
        nonce = bytes.fromhex(name.partition("-")[0])
    except ValueError:
        return False
    now = seconds // QUARTER
    return len(nonce) == 8 and any(
        hmac.compare_digest(name.encode(), _named(k, quarter, nonce, address).encode()) for k in keys for quarter in (now - 1, now, now + 1))


def _parts(*texts):
    return b"".join(b"%d:%s" % (len(t), t) for t in texts)


def _mask(key, public, member):
    return bytes(a ^ b for a, b in zip(member, _mac(key, _parts(b"locket/v2 peer mask", public))))


def prove(key, public, host, member):
    """The proof in a member's certificate with a public key, at an address."""
    return _mask(key, public, member) + _mac(key, _parts(b"locket/v2 peer proof", public, host.encode(), member.hex().encode()))


def who(key, public, host, proof):
    """The member whose certificate this is."""
    require(len(proof) == 8 + 32, "stranger", "a proof of another length")
    member = _mask(key, public, proof[:8])
    require(hmac.compare_digest(proof, prove(key, public, host, member)), "stranger", "no member's proof")
    return member
