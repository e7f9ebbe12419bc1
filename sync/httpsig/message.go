// Package httpsig signs HTTP requests and checks their signatures, by RFC 9421
// with Ed25519 (its section 3.3.6), and the digest of a body by RFC 9530 with
// SHA-256.
//
// A component is a piece of a request that a signature covers: a derived one
// such as "@method", or a header field by its name in lower case. The base is
// the text, made from the components, that is signed. A nonce makes each
// signature different, so that a request that comes twice is noticed.
//
// The package knows neither net/http nor any server: a [Message] is all that it
// sees of a request, so that a client and a server on different libraries use
// the same code.
package httpsig

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/dunglas/httpsfv"
)

// These errors say what is wrong with a signature. The wrapped text says where.
var (
	ErrMissing   = errors.New("request is not signed")
	ErrMalformed = errors.New("signature is malformed")
	ErrForged    = errors.New("signature does not fit the request")
	ErrStale     = errors.New("signature is too old or ahead of its time")
	ErrReplayed  = errors.New("signature was used before")
	ErrDigest    = errors.New("body does not fit its digest")
	ErrFull      = errors.New("too many signatures to remember")
)

// Message is the part of a request that can be signed.
type Message struct {
	Method    string // as sent, such as "GET"
	Authority string // host, and the port unless it is the scheme's default
	Path      string // as sent, still percent-encoded
	Query     string // as sent, without the question mark
	// Field returns the values of a header field; name is in lower case.
	Field func(name string) []string
}

// Host returns host and port in the form in which requests name them. The zone of
// an IPv6 address is left out, because it has a meaning only on this machine (RFC
// 6874, section 4).
func Host(at string) string {
	zone, end := strings.IndexByte(at, '%'), strings.LastIndexByte(at, ']')
	if at == "" || at[0] != '[' || zone < 0 || end < zone {
		return at
	}
	return at[:zone] + at[end:]
}

// component returns the value of one component.
func (m Message) component(name string) (string, error) {
	switch name {
	case "@method":
		return m.Method, nil
	case "@authority":
		return strings.ToLower(m.Authority), nil
	case "@path":
		if m.Path == "" {
			return "/", nil // RFC 9421, section 2.2.6
		}
		return m.Path, nil
	case "@query":
		return "?" + m.Query, nil // section 2.2.7: with the question mark even if the query is empty
	}
	if name == "" || strings.HasPrefix(name, "@") || name != strings.ToLower(name) {
		return "", fmt.Errorf("%w: component %q is unknown", ErrMalformed, name)
	}
	var values []string
	if m.Field != nil {
		values = m.Field(name)
	}
	if len(values) == 0 {
		return "", fmt.Errorf("%w: field %q is signed and absent", ErrMalformed, name)
	}
	trimmed := make([]string, len(values))
	for i, v := range values {
		if strings.ContainsAny(v, "\r\n") {
			return "", fmt.Errorf("%w: field %q has a line break", ErrMalformed, name)
		}
		trimmed[i] = strings.Trim(v, " \t")
	}
	return strings.Join(trimmed, ", "), nil
}

// base returns the text that is signed (RFC 9421, section 2.5).
func (m Message) base(list httpsfv.InnerList) ([]byte, error) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, item := range list.Items {
		name, ok := item.Value.(string)
		if !ok || len(item.Params.Names()) > 0 {
			return nil, fmt.Errorf("%w: component %v is not a plain name without parameters", ErrMalformed, item.Value)
		}
		if seen[name] {
			return nil, fmt.Errorf("%w: component %q occurs twice", ErrMalformed, name)
		}
		seen[name] = true
		value, err := m.component(name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q: %s\n", name, value)
	}
	params, err := httpsfv.Marshal(httpsfv.List{list})
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	fmt.Fprintf(&b, "\"@signature-params\": %s", params)
	return []byte(b.String()), nil
}

// Digest returns the Content-Digest field of a body.
func Digest(body []byte) string {
	sum := sha256.Sum256(body)
	return "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
}

// CheckDigest compares a body's SHA-256 with the Content-Digest field. It ignores
// digests by other algorithms, and fails if there is none by SHA-256.
func CheckDigest(field []string, sum [sha256.Size]byte) error {
	dict, err := httpsfv.UnmarshalDictionary(field)
	if err != nil {
		return fmt.Errorf("%w: content-digest: %v", ErrMalformed, err)
	}
	member, _ := dict.Get("sha-256")
	item, ok := member.(httpsfv.Item)
	if !ok {
		return fmt.Errorf("%w: content-digest has no sha-256", ErrDigest)
	}
	want, ok := item.Value.([]byte)
	if !ok || subtle.ConstantTimeCompare(want, sum[:]) != 1 {
		return ErrDigest
	}
	return nil
}
