package intersect

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"

	"github.com/cloudflare/circl/group"
)

// This file counts common elements and reveals nothing else, as in Freedman, Nissim and Pinkas
// ("Efficient Private Matching and Set Intersection", EUROCRYPT 2004, section 5.2), with ElGamal in
// the exponent over ristretto255.
//
// The asking side makes the polynomial whose roots are the elements of the set, as scalars, and
// seals each coefficient; the first, of x^MaxSet, is 1 and is not sent. So whatever it sends is a
// polynomial with at most MaxSet roots: a program that lies can ask about MaxSet elements, and no
// more. The answering side computes r*P(x) for each element x under the seal, with a random r that
// is not zero, seals it again, and shuffles the results. A result opens to zero if x is a root, and
// to a random element otherwise: the answer tells how many there are, and nothing about which.

// CipherSize is the size of a sealed number in bytes: two elements.
const CipherSize = 2 * PointSize

// cipher is m*G under an ElGamal key: (r*G, m*G + r*key).
type cipher struct{ u, v group.Element }

func sealNumber(key group.Element, m group.Scalar) cipher {
	r := curve.RandomNonZeroScalar(rand.Reader)
	v := curve.NewElement().MulGen(m)
	return cipher{curve.NewElement().MulGen(r), v.Add(v, curve.NewElement().Mul(key, r))}
}

func (c cipher) bytes() []byte { return append(pointBytes(c.u), pointBytes(c.v)...) }

func readCiphers(list [][]byte) ([]cipher, error) {
	if len(list) != MaxSet {
		return nil, fmt.Errorf("%w: %d sealed numbers, want %d", ErrForm, len(list), MaxSet)
	}
	out := make([]cipher, MaxSet)
	for i, b := range list {
		if len(b) != CipherSize {
			return nil, fmt.Errorf("sealed number %d: %w: %d bytes, want %d", i, ErrForm, len(b), CipherSize)
		}
		u, err := readPoint(b[:PointSize])
		if err != nil {
			return nil, fmt.Errorf("sealed number %d: %w", i, err)
		}
		v, err := readPoint(b[PointSize:])
		if err != nil {
			return nil, fmt.Errorf("sealed number %d: %w", i, err)
		}
		out[i] = cipher{u, v}
	}
	return out, nil
}

// root converts an element to a number.
func root(input []byte) group.Scalar {
	return curve.HashToScalar(input, []byte("locket/v1 count of common interests"))
}

// coefficients returns the polynomial with these roots, the constant first, without the 1 of the
// highest power.
func coefficients(inputs [][]byte) []group.Scalar {
	poly := []group.Scalar{curve.NewScalar().SetUint64(1)}
	for _, in := range inputs {
		x := root(in)
		next := make([]group.Scalar, len(poly)+1) // poly*(X - x)
		for i := range next {
			next[i] = curve.NewScalar()
			if i > 0 {
				next[i].Add(next[i], poly[i-1])
			}
			if i < len(poly) {
				next[i].Sub(next[i], curve.NewScalar().Mul(poly[i], x))
			}
		}
		poly = next
	}
	return poly[:len(poly)-1]
}

// sealPolynomial returns what the asking side sends.
func sealPolynomial(key group.Scalar, inputs [][]byte) (out [][]byte) {
	public := curve.NewElement().MulGen(key)
	for _, c := range coefficients(inputs) {
		out = append(out, sealNumber(public, c).bytes())
	}
	return out
}

// evaluateSealed returns r*P(x) for each input, sealed to the asking side, in random order.
func evaluateSealed(key group.Element, poly []cipher, inputs [][]byte) [][]byte {
	out := make([][]byte, len(inputs))
	for i, in := range inputs {
		x := root(in)
		// Horner's rule, from the 1 of the highest power.
		at := cipher{curve.Identity(), curve.Generator()}
		for j := len(poly) - 1; j >= 0; j-- {
			at.u = curve.NewElement().Mul(at.u, x)
			at.v = curve.NewElement().Mul(at.v, x)
			at.u.Add(at.u, poly[j].u)
			at.v.Add(at.v, poly[j].v)
		}
		r := curve.RandomNonZeroScalar(rand.Reader)
		fresh := sealNumber(key, curve.NewScalar())
		fresh.u.Add(fresh.u, at.u.Mul(at.u, r))
		fresh.v.Add(fresh.v, at.v.Mul(at.v, r))
		out[i] = fresh.bytes()
	}
	shuffle(out)
	return out
}

// zeros returns how many numbers open to zero.
func zeros(key group.Scalar, list []cipher) (n int) {
	for _, c := range list {
		if curve.NewElement().Mul(c.u, key).IsEqual(c.v) {
			n++
		}
	}
	return n
}

// source draws the random order of lists, which must reveal nothing about a set's order.
type source struct{}

func (source) Uint64() uint64 {
	var b [8]byte
	rand.Read(b[:])
	var n uint64
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}

func shuffle[T any](list []T) {
	mathrand.New(source{}).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}
