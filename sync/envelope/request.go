package envelope

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
)

// Request is what a person who wants to join a space gives to its owner: the
// person's public keys. It is not secret. The two people themselves have to
// make sure that it comes from the right person.
type Request struct {
	Key       ed25519.PublicKey // the signing key
	Recipient string            // age form; epoch keys are sealed to it
}

// RequestPrefix is the beginning of the text form of a request.
const RequestPrefix = "locket-member-1."

// DomainRequest is the domain under which a request is signed.
const DomainRequest = "locket/v1 request"

// SignRequest returns the text form of a request: the prefix, and the
// base64url of key (32 bytes), signature (64 bytes) and recipient. The
// signature covers the key and the recipient. It proves that the author holds
// the key.
func SignRequest(r Request, sign Signer) (string, error) {
	msg := append(bytes.Clone(r.Key), r.Recipient...)
	sig, err := sign(DomainRequest, msg)
	if err != nil {
		return "", fmt.Errorf("sign a request: %w", err)
	}
	all := append(append(bytes.Clone(r.Key), sig...), r.Recipient...)
	return RequestPrefix + base64.RawURLEncoding.EncodeToString(all), nil
}

// ParseRequest parses the text form. It ignores white space. It returns
// [ErrForm] or [ErrSignature]. It does not check the recipient; package seal
// does.
func ParseRequest(s string) (Request, error) {
	s = strings.Join(strings.Fields(s), "")
	text, ok := strings.CutPrefix(s, RequestPrefix)
	if !ok {
		return Request{}, fmt.Errorf("request: %w: it begins with %s", ErrForm, RequestPrefix)
	}
	const least = ed25519.PublicKeySize + ed25519.SignatureSize
	all, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(all) <= least || len(all) > least+MaxRecipient {
		return Request{}, fmt.Errorf("request: %w: it is cut short, or changed", ErrForm)
	}
	r := Request{Key: all[:ed25519.PublicKeySize:ed25519.PublicKeySize], Recipient: string(all[least:])}
	for _, c := range []byte(r.Recipient) {
		if c < '!' || c > '~' {
			return Request{}, fmt.Errorf("request: %w: the recipient is not in age's form", ErrForm)
		}
	}
	if !Verify(r.Key, DomainRequest, append(bytes.Clone(r.Key), r.Recipient...), all[ed25519.PublicKeySize:least]) {
		return Request{}, fmt.Errorf("request: %w", ErrSignature)
	}
	return r, nil
}
