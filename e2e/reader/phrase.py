"""What follows from the recovery phrase: docs/protocol.md, "The phrase"."""

import hashlib
import os

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from age import derive
from hybrid import Identity
from refusal import require

LISTS = {  # with the SHA-256 of the lists that BIP 39 gives
    "english": "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda",
    "chinese_simplified": "5c5942792bd8340cb8b27cd592f1015edf56a8c5b26276ee18a482428e7c5726",
}


def word_list(language):
    """The number of each word of a list of BIP 39."""
    with open(os.path.join(os.path.dirname(__file__), "words", language + ".txt"), "rb") as f:
        data = f.read()
    require(hashlib.sha256(data).hexdigest() == LISTS[language], "vector", "another list of words than BIP 39's")
    return {w: i for i, w in enumerate(data.decode().split("\n")[:-1])}


def entropy(phrase):
    """The 32 bytes that 24 words stand for."""
    words, language = phrase.lower().split(), "english"
    if any("\u4e00" <= c <= "\u9fff" for c in phrase):
        words, language = list("".join(words)), "chinese_simplified"
    require(len(words) == 24, "phrase", "not 24 words")
    index, bits = word_list(language), 0
    for n, w in enumerate(words):
        require(w in index, "phrase", f"word {n + 1} is not in the list")
        bits = bits << 11 | index[w]
    data = bits.to_bytes(33, "big")
    require(hashlib.sha256(data[:32]).digest()[0] == data[32], "phrase", "the words don't fit together")
    return data[:32]


class Recovery:
    def __init__(self, phrase):
        secret = entropy(phrase)
        self.root = Ed25519PrivateKey.from_private_bytes(derive(secret, "recovery root ed25519"))
        self.root_public = self.root.public_key().public_bytes(
            serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        self.space = derive(secret, "recovery space")[:16]
        self.identity = Identity(derive(secret, "recovery identity"))
