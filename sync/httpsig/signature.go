package httpsig

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"
)

// Algorithm is the only accepted algorithm (RFC 9421, section 3.3.6).
const Algorithm = "ed25519"

// Limits for input from unknown senders.
const (
	maxHeader     = 4 << 10 // bytes of Signature-Input, and of Signature
	maxComponents = 16
	maxKeyID      = 256
	maxNonce      = 64
)

// Params are the parameters of a signature.
type Params struct {
	Label      string    // names the signature in its two fields; "locket" where empty
	Components []string  // the covered components, in this order
	Created    time.Time // precise to the second; omitted if zero
	KeyID      string
	Nonce      string
	Alg        string
}

// NewNonce returns 128 random bits as text.
func NewNonce() string {
	var b [16]byte
	rand.Read(b[:]) // never fails, as crypto/rand documents
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Signer signs the base with an Ed25519 key, without adding a prefix. A base
// begins with a quotation mark, and nothing else that Locket signs does, so
// that a signature can't be used for another purpose.
type Signer func(base []byte) ([]byte, error)

// KeySigner signs with a key in memory.
func KeySigner(key ed25519.PrivateKey) Signer {
	return func(base []byte) ([]byte, error) { return ed25519.Sign(key, base), nil }
}

// Sign returns the values of the fields Signature-Input and Signature.
func Sign(m Message, sign Signer, p Params) (input, signature string, err error) {
	list := httpsfv.InnerList{Params: httpsfv.NewParams()}
	for _, name := range p.Components {
		list.Items = append(list.Items, httpsfv.NewItem(name))
	}
	if !p.Created.IsZero() {
		list.Params.Add("created", p.Created.Unix())
	}
	for _, kv := range [][2]string{{"keyid", p.KeyID}, {"nonce", p.Nonce}, {"alg", p.Alg}} {
		if kv[1] != "" {
			list.Params.Add(kv[0], kv[1])
		}
	}
	base, err := m.base(list)
	if err != nil {
		return "", "", err
	}
	made, err := sign(base)
	if err != nil {
		return "", "", fmt.Errorf("sign request: %w", err)
	}
	label := cmp.Or(p.Label, "locket")
	in, sig := httpsfv.NewDictionary(), httpsfv.NewDictionary()
	in.Add(label, list)
	sig.Add(label, httpsfv.NewItem(made))
	if input, err = httpsfv.Marshal(in); err != nil {
		return "", "", fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	if signature, err = httpsfv.Marshal(sig); err != nil {
		return "", "", fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	return input, signature, nil
}

// Signature is a signature that was parsed and not verified yet.
type Signature struct {
	Params
	list  httpsfv.InnerList
	bytes []byte
}

// Parse parses the one signature of a request. It refuses a request with two,
// because it would be unclear which one counts.
func Parse(input, signature []string) (Signature, error) {
	var s Signature
	if len(input) == 0 || len(signature) == 0 {
		return s, ErrMissing
	}
	if size(input) > maxHeader || size(signature) > maxHeader {
		return s, fmt.Errorf("%w: longer than %d bytes", ErrMalformed, maxHeader)
	}
	ins, err := httpsfv.UnmarshalDictionary(input)
	if err != nil {
		return s, fmt.Errorf("%w: signature-input: %v", ErrMalformed, err)
	}
	sigs, err := httpsfv.UnmarshalDictionary(signature)
	if err != nil {
		return s, fmt.Errorf("%w: signature: %v", ErrMalformed, err)
	}
	if n := len(ins.Names()); n != 1 || len(sigs.Names()) != 1 || ins.Names()[0] != sigs.Names()[0] {
		return s, fmt.Errorf("%w: want one signature and its input, under one label", ErrMalformed)
	}
	s.Label = ins.Names()[0]
	in, _ := ins.Get(s.Label)
	list, ok := in.(httpsfv.InnerList)
	if !ok || len(list.Items) > maxComponents {
		return s, fmt.Errorf("%w: signature-input is not a list of at most %d components", ErrMalformed, maxComponents)
	}
	sig, _ := sigs.Get(s.Label)
	item, ok := sig.(httpsfv.Item)
	if !ok {
		return s, fmt.Errorf("%w: signature is not one value", ErrMalformed)
	}
	if s.bytes, ok = item.Value.([]byte); !ok || len(s.bytes) != ed25519.SignatureSize {
		return s, fmt.Errorf("%w: signature is not %d bytes", ErrMalformed, ed25519.SignatureSize)
	}
	s.list = list
	return s, s.readParams()
}

func (s *Signature) readParams() error {
	for _, item := range s.list.Items {
		name, ok := item.Value.(string)
		if !ok {
			return fmt.Errorf("%w: component %v is not text", ErrMalformed, item.Value)
		}
		s.Components = append(s.Components, name)
	}
	for _, name := range s.list.Params.Names() {
		value, _ := s.list.Params.Get(name)
		ok := true
		switch name {
		case "created":
			var at int64
			if at, ok = value.(int64); ok {
				s.Created = time.Unix(at, 0).UTC()
			}
		case "keyid":
			s.KeyID, ok = value.(string)
			ok = ok && len(s.KeyID) <= maxKeyID
		case "nonce":
			s.Nonce, ok = value.(string)
			ok = ok && len(s.Nonce) <= maxNonce
		case "alg":
			s.Alg, ok = value.(string)
			ok = ok && s.Alg == Algorithm
		case "expires", "tag": // the signature covers them, but they are not used
		default:
			ok = false
		}
		if !ok {
			return fmt.Errorf("%w: parameter %s", ErrMalformed, name)
		}
	}
	return nil
}

// Covers returns an error unless all of the components are signed.
func (s Signature) Covers(components ...string) error {
	for _, name := range components {
		if !slices.Contains(s.Components, name) {
			return fmt.Errorf("%w: %s is not signed", ErrMalformed, name)
		}
	}
	return nil
}

// Verify checks that the holder of the key signed m. It does not check the
// time, or whether the signature was used before; [Window] does.
func (s Signature) Verify(m Message, key ed25519.PublicKey) error {
	base, err := m.base(s.list)
	if err != nil {
		return err
	}
	if len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, base, s.bytes) {
		return ErrForged
	}
	return nil
}

func size(lines []string) int { return len(strings.Join(lines, ", ")) }
