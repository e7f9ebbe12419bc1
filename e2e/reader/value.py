"""Sealed values: XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), for names in the log."""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from age import derive
from refusal import Refused, require


def _hchacha20(key, nonce):
    word = lambda data, i: int.from_bytes(data[4 * i : 4 * i + 4], "little")
    s = [word(b"expand 32-byte k", i) for i in range(4)] + [word(key, i) for i in range(8)]
    s += [word(nonce, i) for i in range(4)]

    def quarter(a, b, c, d):
        for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = (s[x] + s[y]) & 0xFFFFFFFF
            mixed = s[z] ^ s[x]
            s[z] = (mixed << turn | mixed >> (32 - turn)) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return b"".join(x.to_bytes(4, "little") for x in s[:4] + s[12:])


def open_value(key, sealed, bound):
    """The plaintext of a value that was sealed under key, bound to some bytes."""
    require(len(sealed) >= 1 + 24 + 16 and sealed[0] == 1, "seal", "a value of another form")
    nonce = sealed[1:25]
    aead = ChaCha20Poly1305(_hchacha20(key, nonce[:16]))
    try:
        return aead.decrypt(bytes(4) + nonce[16:], sealed[25:], b"\x01" + bound)
    except InvalidTag:
        raise Refused("seal", "a value that was changed, or is another's") from None


def open_note(label, sealed, space, member, epoch_keys):
    """A member's name or grant in the log of a space."""
    require(len(sealed) >= 4, "seal", "a note of another form")
    epoch = int.from_bytes(sealed[:4], "big")
    require(epoch in epoch_keys, "seal", "no key of its epoch")
    bound = label.encode() + space + member
    return open_value(derive(epoch_keys[epoch], label), sealed[4:], bound)
