"""Binary age files (age-encryption.org/v1) with one stanza: the epoch's, or a hybrid recipient's."""

import base64
import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap

from hybrid import ENC_SIZE, hkdf
from refusal import Refused, require

CHUNK = 64 * 1024


def derive(key, label):
    """Locket's one way to derive a key of a key."""
    return hkdf(key, b"", b"locket/v1 derive\x00" + label.encode())


def _unbase64(text):
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        raise Refused("seal", "age: not base64") from None
    require(base64.b64encode(data).decode().rstrip("=") == text, "seal", "age: base64 of another form")
    return data


def _parse(file):
    """Stanzas, as (arguments, body); the header that the MAC covers; the MAC; the payload."""
    lines, at = [], 0
    while True:
        end = file.find(b"\n", at)
        require(end >= 0, "seal", "age: the header does not end")
        line, at = file[at:end], end + 1
        require(all(32 <= c < 127 for c in line), "seal", "age: the header is not ASCII")
        lines.append(line.decode())
        if line.startswith(b"--- "):
            covered, payload = file[: end - len(line) + 3], file[at:]
            break
    require(lines[0] == "age-encryption.org/v1", "seal", "age: another version")
    mac, stanzas, i = _unbase64(lines[-1][4:]), [], 1
    while i < len(lines) - 1:
        require(lines[i].startswith("-> "), "seal", "age: no stanza where one should be")
        arguments, body = lines[i][3:].split(" "), ""
        require(all(arguments), "seal", "age: an empty argument")
        while True:
            i += 1
            require(i < len(lines) - 1 and len(lines[i]) <= 64, "seal", "age: a stanza's body does not end")
            body += lines[i]
            if len(lines[i]) < 64:
                break
        stanzas.append((arguments, _unbase64(body)))
        i += 1
    return stanzas, covered, mac, payload


def _open(file, unwrap):
    stanzas, covered, mac, payload = _parse(file)
    key = unwrap(stanzas)
    expected = hmac.new(hkdf(key, b"", b"header"), covered, hashlib.sha256).digest()
    require(hmac.compare_digest(mac, expected), "seal", "age: the header's MAC is another")
    require(len(payload) >= 16 + 16, "seal", "age: no payload")
    return open_chunks(hkdf(key, payload[:16], b"payload"), payload[16:])


def open_chunks(key, sealed):
    """What stands in the chunks of an age payload, or of a blob."""
    aead, out, counter = ChaCha20Poly1305(key), b"", 0
    while True:
        chunk, sealed = sealed[: CHUNK + 16], sealed[CHUNK + 16 :]
        nonce = counter.to_bytes(11, "big") + (b"\x00" if sealed else b"\x01")
        try:
            opened = aead.decrypt(nonce, chunk, None)
        except InvalidTag:
            raise Refused("seal", "the chunks were changed, or cut") from None
        require(opened or counter == 0, "seal", "an empty last chunk")
        out, counter = out + opened, counter + 1
        if not sealed:
            return out


def seal_chunks(key, plain):
    """What open_chunks opens: for checks alone."""
    aead, out = ChaCha20Poly1305(key), b""
    count = max(1, -(-len(plain) // CHUNK))
    for i in range(count):
        nonce = i.to_bytes(11, "big") + (b"\x01" if i == count - 1 else b"\x00")
        out += aead.encrypt(nonce, plain[i * CHUNK : (i + 1) * CHUNK], None)
    return out


def open_epoch(file, epoch_key):
    """What stands in a file under an epoch key: one stanza, `-> locket`, and no other beside it."""

    def unwrap(stanzas):
        require(len(stanzas) == 1, "seal", "another stanza beside the epoch's")
        arguments, body = stanzas[0]
        require(arguments == ["locket"], "seal", "not an epoch's stanza")
        require(len(body) == 24, "seal", "an epoch's stanza of another length")
        try:
            return aes_key_unwrap(derive(epoch_key, "epoch stanza"), body)
        except InvalidUnwrap:
            raise Refused("seal", "not sealed under this epoch key") from None

    return _open(file, unwrap)


def open_hybrid(file, identity):
    """What stands in a file that was sealed to a hybrid recipient."""

    def unwrap(stanzas):
        for arguments, body in stanzas:
            if arguments[0] != "mlkem768x25519":
                continue
            require(len(arguments) == 2 and len(body) == 32, "seal", "a hybrid stanza of another form")
            enc = _unbase64(arguments[1])
            require(len(enc) == ENC_SIZE, "seal", "a hybrid stanza of another length")
            try:
                return identity.open(enc, body)
            except Refused:
                continue  # another recipient's
        raise Refused("seal", "no stanza for a hybrid identity")

    return _open(file, unwrap)
