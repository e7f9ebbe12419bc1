"""Lengths: FORMAT.md of the body, "Padding" and "blob"."""

LEAST_PADDED = 256
CHUNK, SEAL = 64 * 1024, 16


def padded_length(size):
    if size <= LEAST_PADDED:
        return LEAST_PADDED
    e = size.bit_length() - 1
    s = e.bit_length()
    unit = 1 << (e - s)
    return -(-size // unit) * unit


def stream_length(size):
    """How many bytes a sealed blob of that many has."""
    return size + max(1, -(-size // CHUNK)) * SEAL
