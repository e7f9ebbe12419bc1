// Package trade has the signed objects of a market and the states of an order. It checks them. It
// decrypts nothing, and imports no package that could, so that a market can use it. Package bundle
// seals and opens.
//
// The words:
//
//   - A [Listing] is a seller's signed offer of a bundle of sealed items. A later
//     version names the hash of the one before it. The id of a listing is the
//     hash of its first version.
//   - A listing may sell [Answers] instead of its bundle. The seller keeps the items,
//     and each order has a sealed [Question].
//   - An [Order] is a buyer's signed order of one version of a listing, at the
//     price in that version.
//   - A [Step] changes the state of an order. It is signed by the party that makes it, and
//     names the hash of the step before it.
//   - A [Stamp] is signed by the market and says when it took an order or a step.
//     Deadlines count from stamps, so that no party's clock matters.
//   - A [Chain] is a listing, an order and its stamped steps. A chain that has
//     ended after the delivery of the key is a receipt: it holds the signatures of
//     buyer, seller and market.
//   - A root is the hash of the Merkle tree (RFC 6962) over the sealed items.
//   - The market takes orders and holds money; the arbiter decides
//     a dispute. The seller names both in the listing.
//
// Everything here is a pure function of its arguments. Values are safe for
// concurrent reading.
package trade

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/sync/canonical"
	"github.com/locket-dev/locket/sync/envelope"
)

// Callers can distinguish these errors. Each is wrapped with the offending place.
var (
	// ErrForm: the bytes are not in the canonical form, or a field exceeds its limit.
	ErrForm = errors.New("malformed")
	// ErrSignature: the signature over these bytes was not made by that key.
	ErrSignature = errors.New("the signature is not valid")
	// ErrParty: the signer may not make this step.
	ErrParty = errors.New("this party may not do this")
	// ErrPhase: the step is not allowed in the order's phase.
	ErrPhase = errors.New("the order is in another phase")
	// ErrLate: the step came too late, or an expiry too early.
	ErrLate = errors.New("not within its time")
	// ErrChain: the step does not name the last one of the order.
	ErrChain = errors.New("the order has moved on")
	// ErrPrice: the price or the listing's version differs from the order's.
	ErrPrice = errors.New("price or version is not the listing's")
	// ErrRoot: an item does not belong to the listed bundle.
	ErrRoot = errors.New("item is not of the listed bundle")
)

// Version of every form in this package.
const Version = 1

// Limits of input from strangers, in bytes unless said otherwise.
const (
	MaxListing  = 32 << 10
	MaxItems    = 500
	MaxItem     = 64 << 10 // of one sealed item
	MaxBundle   = 2 << 20  // of all sealed items
	MaxStep     = 128 << 10
	MaxOrder    = 8 << 10
	MaxLinks    = 16 // steps of one order; no order can have more than five
	MaxEvidence = 96 << 10
	MaxWrapped  = 4 << 10 // of a sealed bundle's key; an answer, and the keys of a marked bundle, may have MaxReply
	MaxMarks    = 512
	MaxNote     = 4 << 10 // of a signed review, withdrawal or report
	MaxPrice    = 1_000_000_000_00
)

// Hash is SHA-256.
type Hash = envelope.Hash

// Key is an Ed25519 key, the name of a party.
type Key [ed25519.PublicKeySize]byte

// KeyOf converts a public key.
func KeyOf(k ed25519.PublicKey) (out Key) {
	copy(out[:], k)
	return out
}

// String returns 64 hexadecimal characters.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

func (k *Key) UnmarshalText(b []byte) error {
	if hex.DecodedLen(len(b)) != len(k) {
		return fmt.Errorf("%w: key %.80q: want 64 hexadecimal characters", ErrForm, b)
	}
	if _, err := hex.Decode(k[:], b); err != nil {
		return fmt.Errorf("%w: key %.80q: %v", ErrForm, b, err)
	}
	return nil
}

// IsZero reports whether k names nobody.
func (k Key) IsZero() bool { return k == Key{} }

// Party is a signer: a key, and the function that signs with it.
type Party struct {
	Key  Key
	Sign envelope.Signer
}

// PartyOf returns a party that signs with a key in memory.
func PartyOf(key ed25519.PrivateKey) Party {
	return Party{Key: KeyOf(key.Public().(ed25519.PublicKey)), Sign: envelope.KeySigner(key)}
}

// The domains of signatures. A signature in one domain is invalid in another.
const (
	domainListing    = "locket/v1 market listing"
	domainOrder      = "locket/v1 market order"
	domainStep       = "locket/v1 market step"
	domainStamp      = "locket/v1 market stamp"
	domainReview     = "locket/v1 market review"
	domainWithdrawal = "locket/v1 market withdrawal"
	domainTakedown   = "locket/v1 market takedown"
	domainReport     = "locket/v1 market report"
	domainMove       = "locket/v1 market move"
)

var decoding = canonical.Reader(canonical.Limits{Levels: 6, Items: 1024, Pairs: 64})

// Encode returns the canonical form of a value of this package.
func Encode(v any) []byte { return canonical.Encode(v) }

// Decode decodes the canonical form of v, of at most limit bytes.
func Decode(b []byte, v any, limit int) error {
	if len(b) > limit {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrForm, len(b), limit)
	}
	return canonical.Decode(b, v, decoding, ErrForm)
}

// signed is the form in which each object is sent. FORMAT: a CBOR array of body (byte string), key
// (32 bytes) and Ed25519 signature (64 bytes) of the body in its domain.
type signed struct {
	_    struct{} `cbor:",toarray"`
	Body []byte
	By   Key
	Sig  []byte
}

// signBody returns the signed form of a body, and its hash.
func signBody(domain string, body any, by Party) ([]byte, Hash, error) {
	b := Encode(body)
	sig, err := by.Sign(domain, b)
	if err != nil {
		return nil, Hash{}, fmt.Errorf("sign %s: %w", domain, err)
	}
	return Encode(signed{Body: b, By: by.Key, Sig: sig}), hashOf(domain, b), nil
}

// hashOf returns the hash of a body. It includes the domain, so that no two kinds have the same
// hash.
func hashOf(domain string, body []byte) Hash {
	h := sha256.New()
	h.Write([]byte(domain))
	h.Write([]byte{0})
	h.Write(body)
	return Hash(h.Sum(nil))
}

// read parses the signed form of a body, and checks signature and form.
func read(domain string, b []byte, body any, limit int) (Key, Hash, error) {
	var s signed
	if err := Decode(b, &s, limit); err != nil {
		return Key{}, Hash{}, err
	}
	if !envelope.Verify(s.By[:], domain, s.Body, s.Sig) {
		return Key{}, Hash{}, ErrSignature
	}
	if err := Decode(s.Body, body, limit); err != nil {
		return Key{}, Hash{}, err
	}
	return s.By, hashOf(domain, s.Body), nil
}
