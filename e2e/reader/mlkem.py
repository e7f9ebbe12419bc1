"""ML-KEM-768 after FIPS 203. For tests only: it is slow and not constant in time."""

import hashlib

N, Q, K = 256, 3329, 3
DU, DV = 10, 4
DK_SIZE, EK_SIZE, CT_SIZE = 2400, 1184, 1088


def _bit_reversed(i):
    return int(f"{i:07b}"[::-1], 2)


ZETAS = [pow(17, _bit_reversed(i), Q) for i in range(128)]
GAMMAS = [pow(17, 2 * _bit_reversed(i) + 1, Q) for i in range(128)]


def _g(data):
    h = hashlib.sha3_512(data).digest()
    return h[:32], h[32:]


def _h(data):
    return hashlib.sha3_256(data).digest()


def _j(data):
    return hashlib.shake_256(data).digest(32)


def _encode(poly, d):  # FIPS 203, algorithm 5
    bits = 0
    for i, c in enumerate(poly):
        bits |= c << (d * i)
    return bits.to_bytes(32 * d, "little")


def _decode(data, d):  # algorithm 6
    bits, mask = int.from_bytes(data, "little"), (1 << d) - 1
    out = [(bits >> (d * i)) & mask for i in range(N)]
    return [c % Q for c in out] if d == 12 else out


def _compress(poly, d):
    return [((c << d) + Q // 2) // Q % (1 << d) for c in poly]


def _decompress(poly, d):
    return [(c * Q + (1 << (d - 1))) >> d for c in poly]


def _sample_ntt(seed, i, j):  # algorithm 7
    size = 840
    while True:
        stream = hashlib.shake_128(seed + bytes([i, j])).digest(size)
        out = []
        for p in range(0, size - 2, 3):
            d1 = stream[p] + 256 * (stream[p + 1] % 16)
            d2 = stream[p + 1] // 16 + 16 * stream[p + 2]
            if d1 < Q:
                out.append(d1)
            if d2 < Q and len(out) < N:
                out.append(d2)
            if len(out) == N:
                return out
        size *= 2


def _sample_cbd(seed, counter):  # algorithm 8, eta 2
    bits = int.from_bytes(hashlib.shake_256(seed + bytes([counter])).digest(128), "little")
    out = []
    for i in range(N):
        b = (bits >> (4 * i)) & 15
        out.append(((b & 1) + (b >> 1 & 1) - (b >> 2 & 1) - (b >> 3 & 1)) % Q)
    return out


def _ntt(poly):  # algorithm 9
    f, k, step = list(poly), 1, 128
    while step >= 2:
        for start in range(0, N, 2 * step):
            zeta, k = ZETAS[k], k + 1
            for j in range(start, start + step):
                t = zeta * f[j + step] % Q
                f[j + step] = (f[j] - t) % Q
                f[j] = (f[j] + t) % Q
        step //= 2
    return f


def _inverse_ntt(poly):  # algorithm 10
    f, k, step = list(poly), 127, 2
    while step <= 128:
        for start in range(0, N, 2 * step):
            zeta, k = ZETAS[k], k - 1
            for j in range(start, start + step):
                t = f[j]
                f[j] = (t + f[j + step]) % Q
                f[j + step] = zeta * (f[j + step] - t) % Q
        step *= 2
    return [c * 3303 % Q for c in f]


def _multiply(f, g):  # algorithms 11 and 12
    out = [0] * N
    for i in range(128):
        a0, a1, b0, b1 = f[2 * i], f[2 * i + 1], g[2 * i], g[2 * i + 1]
        out[2 * i] = (a0 * b0 + a1 * b1 % Q * GAMMAS[i]) % Q
        out[2 * i + 1] = (a0 * b1 + a1 * b0) % Q
    return out


def _add(f, g):
    return [(a + b) % Q for a, b in zip(f, g)]


def _sub(f, g):
    return [(a - b) % Q for a, b in zip(f, g)]


def _dot(row, vector):
    out = [0] * N
    for f, g in zip(row, vector):
        out = _add(out, _multiply(f, g))
    return out


def _encrypt(ek, message, randomness):  # algorithm 14
    t = [_decode(ek[384 * i : 384 * (i + 1)], 12) for i in range(K)]
    rho = ek[384 * K :]
    y = [_ntt(_sample_cbd(randomness, i)) for i in range(K)]
    e1 = [_sample_cbd(randomness, K + i) for i in range(K)]
    e2 = _sample_cbd(randomness, 2 * K)
    out = b""
    for i in range(K):
        column = [_sample_ntt(rho, i, j) for j in range(K)]  # the matrix transposed
        u = _add(_inverse_ntt(_dot(column, y)), e1[i])
        out += _encode(_compress(u, DU), DU)
    mu = _decompress(_decode(message, 1), 1)
    v = _add(_add(_inverse_ntt(_dot(t, y)), e2), mu)
    return out + _encode(_compress(v, DV), DV)


def _decrypt(dk, ciphertext):  # algorithm 15
    width = 32 * DU
    u = [_decompress(_decode(ciphertext[width * i : width * (i + 1)], DU), DU) for i in range(K)]
    v = _decompress(_decode(ciphertext[width * K :], DV), DV)
    s = [_decode(dk[384 * i : 384 * (i + 1)], 12) for i in range(K)]
    w = _sub(v, _inverse_ntt(_dot(s, [_ntt(p) for p in u])))
    return _encode(_compress(w, 1), 1)


def key_pair(d, z):
    """The encapsulation and decapsulation key of two seeds of 32 bytes (algorithm 16)."""
    rho, sigma = _g(d + bytes([K]))
    s = [_ntt(_sample_cbd(sigma, i)) for i in range(K)]
    e = [_ntt(_sample_cbd(sigma, K + i)) for i in range(K)]
    t = [_add(_dot([_sample_ntt(rho, j, i) for j in range(K)], s), e[i]) for i in range(K)]
    ek = b"".join(_encode(p, 12) for p in t) + rho
    dk = b"".join(_encode(p, 12) for p in s)
    return ek, dk + ek + _h(ek) + z


def encapsulate(ek, message):
    """The shared key and its ciphertext; message is 32 random bytes (algorithm 17)."""
    key, randomness = _g(message + _h(ek))
    return key, _encrypt(ek, message, randomness)


def decapsulate(dk, ciphertext):
    """The shared key: of a ciphertext that was changed, another one (algorithm 18)."""
    if len(dk) != DK_SIZE or len(ciphertext) != CT_SIZE:
        raise ValueError("ML-KEM-768: wrong length")
    ek, digest, z = dk[384 * K : 768 * K + 32], dk[768 * K + 32 : 768 * K + 64], dk[768 * K + 64 :]
    message = _decrypt(dk[: 384 * K], ciphertext)
    key, randomness = _g(message + digest)
    return key if _encrypt(ek, message, randomness) == ciphertext else _j(z + ciphertext)
