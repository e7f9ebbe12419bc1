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
    return "".join(f"{len(t)}:{t}" for t in texts).encode()


def _mask(key, nonce, member):
    return bytes(a ^ b for a, b in zip(member, _mac(key, _parts("locket/v1 peer mask", nonce))))


def prove(key, nonce, host, member):
    """What a member answers to who asks at its address."""
    return _mask(key, nonce, member) + _mac(key, _parts("locket/v1 peer proof", nonce, host, member.hex()))


def who(key, nonce, host, answer):
    """The member that answered at a host."""
    require(len(answer) == 8 + 32, "stranger", "an answer of another length")
    member = _mask(key, nonce, answer[:8])
    require(hmac.compare_digest(answer, prove(key, nonce, host, member)), "stranger", "no member's answer")
    return member
