package match

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/crypto/intersect"
	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/canonical"
	"github.com/locket-dev/locket/sync/envelope"
)

// FORMAT of a message: "locket-match-1." and base64url without padding of the following,
// sealed to the recipient of the peer's key (package seal): a canonical CBOR array of the
// body (byte string), the sender's key (32 bytes) and its Ed25519 signature (64 bytes) of
// the body in the domain "locket/v1 match". A body is a canonical CBOR array:
//
//	version   1
//	id        16 bytes, chosen by who asks
//	kind      1 asks, 2 answers, 3 counts, 4 which
//	to        the key to which it goes, 32 bytes
//	at        seconds since 1970 by the clock of who sends
//	request   the text of the sender's key (locket share key); with kinds 1 and 2
//	on        of kind 2: SHA-256 of the SHA-256 of the body of kind 1; of 3 and 4: SHA-256 of
//	          the SHA-256s of the bodies of kinds 1 and 2; of kind 1: empty
//	offer     with kinds 1 and 2: array of key, 32 tags of 64 bytes ascending, 32 blinded
//	          elements, key of the count, 32 sealed coefficients of 64 bytes
//	count     with kinds 2 and 3: 32 sealed numbers of 64 bytes
//	which     with kind 4: array of two, an array of 32 elements and a proof of 64 bytes
const (
	prefix  = "locket-match-1."
	domain  = "locket/v1 match"
	maxText = 64 << 10 // bytes of a message as text; the longest has 17 kB
)

const (
	asks = iota + 1
	answers
	counts
	tellsWhich
)

// ErrMessage: a text is not a message, or not one to this key, or was changed.
var ErrMessage = fmt.Errorf("%w: message", memory.ErrInvalid)

type message struct {
	_       struct{} `cbor:",toarray"`
	Version uint
	ID      [16]byte
	Kind    uint
	To      []byte
	At      int64
	Request string
	On      []byte
	Offer   *intersect.Offer
	Count   [][]byte
	Which   *intersect.Evaluation
}

type signed struct {
	_    struct{} `cbor:",toarray"`
	Body []byte
	By   []byte
	Sig  []byte
}

var decoding = canonical.Reader(canonical.Limits{Levels: 6, Items: 64, Pairs: 16})

func encode(v any) []byte { return canonical.Encode(v) }

func decode(b []byte, v any) error { return canonical.Decode(b, v, decoding, ErrMessage) }

// sealed returns a message as text, and its body.
func sealed(d *keyring.Device, m *message, to *envelope.Request) (text string, body []byte, err error) {
	body = encode(m)
	sig, err := d.Sign(domain, body)
	if err != nil {
		return "", nil, fmt.Errorf("sign a message: %w", err)
	}
	r, err := seal.ParseRecipient(to.Recipient)
	if err != nil {
		return "", nil, fmt.Errorf("%w: the peer's key: %v", memory.ErrInvalid, err)
	}
	b, err := seal.SealTo(r, encode(signed{Body: body, By: d.Key(), Sig: sig}))
	if err != nil {
		return "", nil, fmt.Errorf("seal a message: %w", err)
	}
	return prefix + base64.RawURLEncoding.EncodeToString(b), body, nil
}

// read opens a message to d, and checks its sender and its form. The caller checks what it
// means for a comparison.
func read(d *keyring.Device, text string, now time.Time) (m message, by, body []byte, err error) {
	if len(text) > maxText {
		return m, nil, nil, fmt.Errorf("%w: %d bytes, %d are the most", ErrMessage, len(text), maxText)
	}
	b64, ok := strings.CutPrefix(strings.Join(strings.Fields(text), ""), prefix)
	if !ok {
		return m, nil, nil, fmt.Errorf("%w: it begins with %s", ErrMessage, prefix)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(b64)
	if err != nil {
		return m, nil, nil, fmt.Errorf("%w: it is cut short, or changed", ErrMessage)
	}
	if b, err = d.Open(b); err != nil {
		return m, nil, nil, fmt.Errorf("%w: it is not for the key of this home, or was changed", ErrMessage)
	}
	return decrypted(d, b, now)
}

// decrypted parses the decrypted part.
func decrypted(d *keyring.Device, b []byte, now time.Time) (m message, by, body []byte, err error) {
	var s signed
	if err := decode(b, &s); err != nil {
		return m, nil, nil, err
	}
	if !envelope.Verify(s.By, domain, s.Body, s.Sig) {
		return m, nil, nil, fmt.Errorf("%w: the signature is wrong", ErrMessage)
	}
	if err := decode(s.Body, &m); err != nil {
		return m, nil, nil, err
	}
	if err := m.check(d, s.By, now); err != nil {
		return m, nil, nil, err
	}
	return m, s.By, s.Body, nil
}

func (m *message) check(d *keyring.Device, by []byte, now time.Time) error {
	// has reports whether the message has exactly these parts.
	has := func(offer, count, which bool) bool {
		return (m.Offer != nil) == offer && (m.Request != "") == offer && (len(m.Count) > 0) == count && (m.Which != nil) == which
	}
	at := time.Unix(m.At, 0)
	switch {
	case m.Version != 1:
		return fmt.Errorf("%w: version %d; this program knows 1", ErrMessage, m.Version)
	case !bytes.Equal(m.To, d.Key()):
		return fmt.Errorf("%w: it was signed for another key", ErrMessage)
	case bytes.Equal(by, d.Key()):
		return fmt.Errorf("%w: this home sent it itself", ErrMessage)
	case m.Kind == asks && !has(true, false, false), m.Kind == answers && !has(true, true, false),
		m.Kind == counts && !has(false, true, false), m.Kind == tellsWhich && !has(false, false, true), m.Kind < asks || m.Kind > tellsWhich:
		return fmt.Errorf("%w: a message of kind %d has other parts than that kind allows", ErrMessage, m.Kind)
	case m.Kind == asks && len(m.On) != 0, m.Kind != asks && len(m.On) != sha256.Size:
		return fmt.Errorf("%w: it does not name the message that it answers", ErrMessage)
	case now.Sub(at) > Period || at.Sub(now) > 24*time.Hour:
		return fmt.Errorf("%w: it is dated %s, and a comparison ends after %d days", ErrMessage, at.UTC().Format(time.DateOnly), int(Period.Hours()/24))
	}
	if m.Offer == nil {
		return nil
	}
	if err := m.Offer.Check(); err != nil {
		return fmt.Errorf("%w: %v", ErrMessage, err)
	}
	r, err := envelope.ParseRequest(m.Request)
	if err == nil && !bytes.Equal(r.Key, by) {
		err = errors.New("it is another's")
	}
	if err == nil {
		_, err = seal.ParseRecipient(r.Recipient)
	}
	if err != nil {
		return fmt.Errorf("%w: the sender's key: %v", ErrMessage, err)
	}
	return nil
}
