package seal

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"filippo.io/age"
)

// FORMAT of what is sealed under an epoch key
//
// A binary age file, version 1, with exactly one stanza, of a type of its own:
//
//	-> locket
//	AES-256 key wrap (RFC 3394) of the file key, 24 bytes
//
// without arguments. The wrapping key is the epoch key's derivation (HKDF, see
// [Key.Derive]) with the label "epoch stanza". Key wrap needs no nonce: file
// keys are 16 random bytes, and so no two are alike. 145 bytes more than the
// plaintext, up to 64 KiB, and 16 for each 64 KiB more. As for any age file,
// neither the sender nor a context is authenticated.

const (
	epochStanza = "locket"
	epochLabel  = "epoch stanza"
	fileKeySize = 16 // of age
)

// SealBody seals plaintext under an epoch's key.
func SealBody(epoch *Key, plaintext []byte) ([]byte, error) {
	if !epoch.alive() {
		return nil, ErrZeroed
	}
	kek := epoch.Derive(epochLabel)
	defer kek.Zero()
	sealed, err := encrypt(plaintext, epochRecipient{kek})
	if err != nil {
		return nil, fmt.Errorf("seal body: %w", err)
	}
	return sealed, nil
}

// encrypt returns plaintext as an age file for the recipients.
func encrypt(plaintext []byte, to ...age.Recipient) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, len(plaintext)+192))
	w, err := age.Encrypt(b, to...)
	if err == nil {
		_, err = w.Write(plaintext)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// OpenBody opens what [SealBody] sealed under the same key. Anything else, and
// any change of it, is [ErrOpen].
func OpenBody(epoch *Key, sealed []byte) ([]byte, error) {
	if !epoch.alive() {
		return nil, ErrZeroed
	}
	kek := epoch.Derive(epochLabel)
	defer kek.Zero()
	return decrypted(sealed, epochIdentity{kek})
}

// epochRecipient wraps a file key under a wrapping key.
type epochRecipient struct{ kek *Key }

var _ age.RecipientWithLabels = epochRecipient{}

// Wrap implements age.Recipient.
func (r epochRecipient) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	s, _, err := r.WrapWithLabels(fileKey)
	return s, err
}

// WrapWithLabels implements age.RecipientWithLabels. The label is random, so
// that age refuses to seal to anyone beside the epoch.
func (r epochRecipient) WrapWithLabels(fileKey []byte) ([]*age.Stanza, []string, error) {
	body, err := wrapKey(r.kek.use(), fileKey)
	if err != nil {
		return nil, nil, err
	}
	var label [16]byte
	rand.Read(label[:])
	return []*age.Stanza{{Type: epochStanza, Body: body}}, []string{hex.EncodeToString(label[:])}, nil
}

type epochIdentity struct{ kek *Key }

// Unwrap implements age.Identity. A file with another stanza beside ours was
// not sealed here.
func (i epochIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	if len(stanzas) != 1 || stanzas[0].Type != epochStanza {
		return nil, age.ErrIncorrectIdentity
	}
	s := stanzas[0]
	if len(s.Args) != 0 || len(s.Body) != fileKeySize+wrapBlock {
		return nil, errors.New("epoch stanza is malformed")
	}
	k, err := unwrapKey(i.kek.use(), s.Body)
	if err != nil {
		return nil, age.ErrIncorrectIdentity
	}
	return k, nil
}
