package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"filippo.io/age"
)

// FORMAT of what is sealed to a recipient
//
// A binary age file, version 1 (age-encryption.org/v1), with one stanza of type
// mlkem768x25519 for each recipient, and no other: ML-KEM-768 with X25519, safe against a later
// quantum computer as long as either of the two holds. About 1.7 kB more than
// the plaintext. age authenticates neither the sender nor a context: what
// must be bound to a place is checked by the caller.
//
// A recipient is text: "age1pq1…", Bech32 in lower case, 1,959 characters. An
// identity is the 32 bytes of seed that "AGE-SECRET-KEY-PQ-1…" encodes, so the
// files open with the age command too.

// Recipient is the public half of a key pair. It is not secret. The zero value
// is not a valid recipient. It is safe for concurrent use.
type Recipient struct {
	r *age.HybridRecipient
	s string
}

// ParseRecipient parses the output of [Recipient.String].
func ParseRecipient(s string) (*Recipient, error) {
	r, err := age.ParseHybridRecipient(s)
	if err != nil {
		return nil, fmt.Errorf("recipient is not an age1pq1 key: %.40q", s)
	}
	if r.String() != s {
		return nil, fmt.Errorf("recipient is not in its one form: %.40q", s)
	}
	return &Recipient{r, s}, nil
}

// String is the age form, "age1pq1…".
func (r *Recipient) String() string { return r.s }

// Equal reports whether both are the same public key.
func (r *Recipient) Equal(o *Recipient) bool { return r.s == o.s }

func (r Recipient) MarshalText() ([]byte, error) { return []byte(r.s), nil }

func (r *Recipient) UnmarshalText(b []byte) error {
	p, err := ParseRecipient(string(b))
	if err == nil {
		*r = *p
	}
	return err
}

// Identity is the private half of a key pair. It holds only the seed. The
// working key is expanded for each use and left to the garbage collector. Its
// methods are safe for concurrent use, except Zero.
type Identity struct{ seed *Key }

// NewIdentity makes a random key pair.
func NewIdentity() *Identity {
	return &Identity{NewKey()}
}

// IdentityFromSeed returns the key pair of a seed. It shares the seed: erasing
// the identity erases it. The same seed gives the same pair on any machine.
func IdentityFromSeed(seed *Key) *Identity { return &Identity{seed} }

// Seed returns the secret of the pair, which is shared with it.
func (i *Identity) Seed() *Key { return i.seed }

// Zero erases the identity and its seed. It must not run at the same time as
// another method.
func (i *Identity) Zero() {
	if i != nil {
		i.seed.Zero()
	}
}

// Recipient returns the public half. It panics on a zeroed identity.
func (i *Identity) Recipient() *Recipient {
	r := i.expand().Recipient()
	return &Recipient{r, r.String()}
}

func (i *Identity) expand() *age.HybridIdentity {
	text := bech32("AGE-SECRET-KEY-PQ-", i.seed.use())
	id, err := age.ParseHybridIdentity(text)
	if err != nil { // any 32 bytes are a seed
		panic("seal: age refuses a seed: " + err.Error())
	}
	return id
}

// Format implements fmt.Formatter: every verb prints the same word.
func (i Identity) Format(f fmt.State, _ rune) { fmt.Fprint(f, hidden) }

func (i Identity) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText refuses with [ErrSecret].
func (i Identity) MarshalText() ([]byte, error) { return nil, ErrSecret }

// MarshalBinary refuses with [ErrSecret].
func (i Identity) MarshalBinary() ([]byte, error) { return nil, ErrSecret }

// SealTo seals plaintext to r. Anybody who has r can do this, so a value that
// can be opened does not prove who sealed it.
func SealTo(r *Recipient, plaintext []byte) ([]byte, error) { return SealToEach(plaintext, r) }

// SealToEach seals plaintext so that the identity of any one of the recipients
// opens it.
func SealToEach(plaintext []byte, rs ...*Recipient) ([]byte, error) {
	var to []age.Recipient
	for _, r := range rs {
		if r == nil || r.r == nil {
			return nil, errors.New("seal to recipient: no recipient")
		}
		to = append(to, r.r)
	}
	sealed, err := encrypt(plaintext, to...)
	if err != nil {
		return nil, fmt.Errorf("seal to recipient: %w", err)
	}
	return sealed, nil
}

// OpenWith opens what was sealed to i's recipient. Anything else, and any
// change of it, is [ErrOpen].
func OpenWith(i *Identity, sealed []byte) ([]byte, error) {
	if i == nil || !i.seed.alive() {
		return nil, ErrZeroed
	}
	return decrypted(sealed, i.expand())
}

// decrypted returns the content of an age file.
func decrypted(sealed []byte, by age.Identity) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(sealed), by)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrOpen, err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		clear(b)
		return nil, fmt.Errorf("%w: %v", ErrOpen, err)
	}
	return b, nil
}
