// Package intersect compares two people's sets without revealing them: first how many elements they
// share, then which.
//
// Each person has a side, and sends the other its offer: a key for this one comparison, the set
// under that key (tags, by the VOPRF of RFC 9497), the blinded set, to be answered with the other's
// key, and the set as a sealed polynomial. An offer is binding before anything is answered, and
// each is padded to the same size with elements that nobody has. For the count, each side evaluates
// the other's polynomial (count.go). For the elements, each answers the other's blinded elements
// with its own key and the RFC's proof (voprf.go), and each looks for the outputs among the other's
// tags.
//
// docs/communities.md says what a lying side can do. It can offer guessed elements, [MaxSet] of
// them. It can't learn which of them the other has from a count that is between 0 and all of them;
// it can't answer with another key or for another set later.
package intersect

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/cloudflare/circl/group"

	"github.com/locket-dev/locket/internal/sorting"
)

// MaxSet is the greatest number of elements in a set. Each offer has that many, so that it does not
// reveal the real number.
const MaxSet = 32

// MaxElement is the greatest length of an element, in bytes.
const MaxElement = 200

var (
	ErrForm  = errors.New("comparison: wrong form")
	ErrSet   = errors.New("comparison: this set can't be compared")
	ErrProof = errors.New("comparison: the answer was not made with the key that was offered")
)

// Side is what one person keeps of a comparison. Its fields are secret; they are exported to be
// stored, sealed.
type Side struct {
	Inputs [][]byte // elements with a 1 in front, then padding with a 0 in front, in the order of Blinds
	Blinds [][]byte
	Key    []byte // key of the tags
	Count  []byte // key of the polynomial
}

// Offer is what the other person is sent.
type Offer struct {
	_       struct{} `cbor:",toarray"`
	Key     []byte   // public half of Side.Key
	Tags    [][]byte // of the set under Key, ascending
	Blinded [][]byte
	Count   []byte   // public key of the polynomial
	Poly    [][]byte // its sealed coefficients
}

// New makes a side of 1 to [MaxSet] elements, without duplicates or empty ones; otherwise it
// returns [ErrSet].
func New(elements []string) (*Side, error) {
	if len(elements) == 0 || len(elements) > MaxSet {
		return nil, fmt.Errorf("%w: %d elements, want 1 to %d", ErrSet, len(elements), MaxSet)
	}
	s := &Side{Key: scalarBytes(curve.RandomNonZeroScalar(rand.Reader)), Count: scalarBytes(curve.RandomNonZeroScalar(rand.Reader))}
	for i, e := range elements {
		if len(e) == 0 || len(e) > MaxElement {
			return nil, fmt.Errorf("%w: element %d has %d bytes, want 1 to %d", ErrSet, i, len(e), MaxElement)
		}
		if slices.Contains(elements[:i], e) {
			return nil, fmt.Errorf("%w: element %d is there twice", ErrSet, i)
		}
		s.Inputs = append(s.Inputs, append([]byte{1}, e...))
	}
	for len(s.Inputs) < MaxSet {
		pad := make([]byte, 33)
		rand.Read(pad[1:])
		s.Inputs = append(s.Inputs, pad)
	}
	shuffle(s.Inputs)
	for range s.Inputs {
		s.Blinds = append(s.Blinds, scalarBytes(curve.RandomNonZeroScalar(rand.Reader)))
	}
	return s, nil
}

// numbers decodes the scalars of a side.
func (s *Side) numbers() (key, count group.Scalar, blinds []group.Scalar, err error) {
	if len(s.Inputs) != MaxSet || len(s.Blinds) != MaxSet {
		return nil, nil, nil, fmt.Errorf("%w: a side has %d elements", ErrForm, MaxSet)
	}
	if key, err = readScalar(s.Key); err == nil {
		count, err = readScalar(s.Count)
	}
	for _, b := range s.Blinds {
		n, e := readScalar(b)
		blinds, err = append(blinds, n), errors.Join(err, e)
	}
	return key, count, blinds, err
}

// Offer is the same each time except for the seals of the polynomial, so the sender has to keep it.
func (s *Side) Offer() (o Offer, err error) {
	key, count, blinds, err := s.numbers()
	if err != nil {
		return o, err
	}
	o.Key, o.Count = pointBytes(curve.NewElement().MulGen(key)), pointBytes(curve.NewElement().MulGen(count))
	for i, in := range s.Inputs {
		o.Tags = append(o.Tags, output(key, in))
		o.Blinded = append(o.Blinded, pointBytes(blind(in, blinds[i])))
	}
	sorting.Sort(o.Tags, bytes.Compare)
	o.Poly = sealPolynomial(count, s.Inputs)
	return o, nil
}

// Check returns an error unless an offer is well-formed.
func (o *Offer) Check() error {
	if _, err := readPoints([][]byte{o.Key, o.Count}, 2); err != nil {
		return err
	}
	if _, err := readPoints(o.Blinded, MaxSet); err != nil {
		return err
	}
	if len(o.Tags) != MaxSet {
		return fmt.Errorf("%w: %d tags, want %d", ErrForm, len(o.Tags), MaxSet)
	}
	for i, t := range o.Tags {
		if len(t) != TagSize || i > 0 && bytes.Compare(o.Tags[i-1], t) >= 0 {
			return fmt.Errorf("%w: tag %d", ErrForm, i)
		}
	}
	_, err := readCiphers(o.Poly)
	return err
}

// CountFor answers the other's polynomial. The answer reveals how many elements both have, and
// nothing else.
func (s *Side) CountFor(theirs *Offer) ([][]byte, error) {
	if err := theirs.Check(); err != nil {
		return nil, err
	}
	key, _ := readPoint(theirs.Count)
	poly, _ := readCiphers(theirs.Poly)
	return evaluateSealed(key, poly, s.Inputs), nil
}

// OpenCount opens the other's answer: how many elements both have, according to the other.
func (s *Side) OpenCount(answer [][]byte) (int, error) {
	_, count, _, err := s.numbers()
	if err != nil {
		return 0, err
	}
	list, err := readCiphers(answer)
	if err != nil {
		return 0, err
	}
	return zeros(count, list), nil
}

// CommonFor answers the other's blinded elements. The answer reveals which of the elements that they
// offered both have.
func (s *Side) CommonFor(theirs *Offer) (ev Evaluation, err error) {
	key, _, _, err := s.numbers()
	if err != nil {
		return ev, err
	}
	blinded, err := readPoints(theirs.Blinded, MaxSet)
	if err != nil {
		return ev, err
	}
	return evaluate(key, blinded), nil
}

// Common returns the elements of this side that the other has, too, sorted. It returns [ErrProof] if
// the answer was made with another key than the offer's.
func (s *Side) Common(theirs *Offer, ev *Evaluation) (both []string, err error) {
	if err := theirs.Check(); err != nil {
		return nil, err
	}
	_, _, blinds, err := s.numbers()
	if err != nil {
		return nil, err
	}
	var blinded []group.Element
	for i, in := range s.Inputs {
		blinded = append(blinded, blind(in, blinds[i]))
	}
	public, _ := readPoint(theirs.Key)
	tags, err := finalize(public, s.Inputs, blinds, blinded, ev)
	if err != nil {
		return nil, err
	}
	for i, t := range tags {
		if _, found := slices.BinarySearchFunc(theirs.Tags, t, bytes.Compare); found && s.Inputs[i][0] == 1 {
			both = append(both, string(s.Inputs[i][1:]))
		}
	}
	slices.Sort(both)
	return both, nil
}
