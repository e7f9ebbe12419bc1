"""age's mlkem768x25519 recipients: X-Wing (MLKEM768-X25519) under HPKE (RFC 9180), base mode,
HKDF-SHA256, ChaCha20Poly1305. Identities are seeds of 32 bytes."""

import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

import mlkem
from refusal import Refused

INFO = b"age-encryption.org/mlkem768x25519"
SUITE = b"HPKE" + bytes.fromhex("647a" "0001" "0003")
LABEL = rb"\.//^" + b"\\"
ENC_SIZE = mlkem.CT_SIZE + 32


def extract(salt, ikm):
    return hmac.new(salt or bytes(32), ikm, hashlib.sha256).digest()


def expand(prk, info, size):
    out, block, i = b"", b"", 1
    while len(out) < size:
        block = hmac.new(prk, block + info + bytes([i]), hashlib.sha256).digest()
        out, i = out + block, i + 1
    return out[:size]


def hkdf(ikm, salt, info, size=32):
    return expand(extract(salt, ikm), info, size)


def _labeled_extract(salt, label, ikm):
    return extract(salt, b"HPKE-v1" + SUITE + label + ikm)


def _labeled_expand(prk, label, info, size):
    return expand(prk, size.to_bytes(2, "big") + b"HPKE-v1" + SUITE + label + info, size)


def _raw(key):
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


class Identity:
    def __init__(self, seed):
        wide = hashlib.shake_256(seed).digest(96)
        self.ek, self.dk = mlkem.key_pair(wide[:32], wide[32:64])
        self.x = X25519PrivateKey.from_private_bytes(wide[64:])
        self.x_public = _raw(self.x.public_key())

    def recipient(self):
        return bech32("age1pq", self.ek + self.x_public)

    def _decapsulate(self, enc):
        post = mlkem.decapsulate(self.dk, enc[: mlkem.CT_SIZE])
        share = enc[mlkem.CT_SIZE :]
        classic = self.x.exchange(X25519PublicKey.from_public_bytes(share))
        return hashlib.sha3_256(post + classic + share + self.x_public + LABEL).digest()

    def open(self, enc, sealed):
        """What was sealed to this recipient with the encapsulated key enc."""
        secret = self._decapsulate(enc)
        context = b"\x00" + _labeled_extract(b"", b"psk_id_hash", b"") + _labeled_extract(b"", b"info_hash", INFO)
        prk = _labeled_extract(secret, b"secret", b"")
        key = _labeled_expand(prk, b"key", context, 32)
        nonce = _labeled_expand(prk, b"base_nonce", context, 12)
        try:
            return ChaCha20Poly1305(key).decrypt(nonce, sealed, b"")
        except InvalidTag:
            raise Refused("seal", "not sealed to this identity") from None


_CHARSET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def _polymod(values):
    check = 1
    for v in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ v
        for i, g in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= g if top >> i & 1 else 0
    return check


def bech32(prefix, data):
    """BIP 173, without its limit of length."""
    bits, size = int.from_bytes(data, "big"), 8 * len(data)
    pad = -size % 5
    bits, size = bits << pad, size + pad
    values = [bits >> (size - 5 * (i + 1)) & 31 for i in range(size // 5)]
    expanded = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    check = _polymod(expanded + values + [0] * 6) ^ 1
    values += [check >> 5 * (5 - i) & 31 for i in range(6)]
    return prefix + "1" + "".join(_CHARSET[v] for v in values)
