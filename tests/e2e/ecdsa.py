"""Checks ECDSA signatures of atproto in plain Python: slow, and independent of the indexer's code."""

import hashlib

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class Curve:
    """y^2 = x^3 + ax + b modulo p, with a generator of order n."""

    def __init__(self, p, a, b, n, generator):
        self.p, self.a, self.b, self.n, self.generator = p, a, b, n, generator

    def add(self, one, other):
        """The sum of two points; None is the point at infinity."""
        if one is None or other is None:
            return one or other
        (x1, y1), (x2, y2) = one, other
        if x1 == x2 and (y1 + y2) % self.p == 0:
            return None
        if one == other:
            slope = (3 * x1 * x1 + self.a) * pow(2 * y1, -1, self.p)
        else:
            slope = (y2 - y1) * pow(x2 - x1, -1, self.p)
        x = (slope * slope - x1 - x2) % self.p
        return x, (slope * (x1 - x) - y1) % self.p

    def multiply(self, factor, point):
        total = None
        while factor:
            if factor & 1:
                total = self.add(total, point)
            point = self.add(point, point)
            factor >>= 1
        return total

    def point(self, compressed):
        x = int.from_bytes(compressed[1:], "big")
        y = pow(x**3 + self.a * x + self.b, (self.p + 1) // 4, self.p)
        assert (y * y - x**3 - self.a * x - self.b) % self.p == 0
        return x, y if y % 2 == compressed[0] % 2 else self.p - y


K256 = Curve(
    2**256 - 2**32 - 977, 0, 7,
    0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141,
    (0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
     0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8),
)
P256 = Curve(
    2**256 - 2**224 + 2**192 + 2**96 - 1, -3,
    0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
    0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
     0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5),
)
# By the multicodec prefix of the point.
CURVES = {b"\xe7\x01": K256, b"\x80\x24": P256}


def read_multikey(text):
    """The curve and the point of a public key, z... in base58."""
    assert text[0] == "z"
    number = 0
    for letter in text[1:]:
        number = number * 58 + BASE58.index(letter)
    data = number.to_bytes(35, "big")
    curve = CURVES[data[:2]]
    return curve, curve.point(data[2:])


def is_signed(multikey, message, signature):
    """Whether r and s, 32 bytes each and s in the lower half, are a signature of the message by this key."""
    curve, key = read_multikey(multikey)
    if len(signature) != 64:
        return False
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if not (0 < r < curve.n and 0 < s <= curve.n // 2):
        return False
    digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
    inverse = pow(s, -1, curve.n)
    point = curve.add(curve.multiply(digest * inverse % curve.n, curve.generator),
                      curve.multiply(r * inverse % curve.n, key))
    return point is not None and point[0] % curve.n == r
