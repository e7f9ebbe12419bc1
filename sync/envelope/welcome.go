package envelope

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/locket-dev/locket/memory"
)

// Member returns the id that the author of the request has in a space: the
// first 8 bytes of SHA-256 over a domain, the space and the key. Both sides
// can compute it, and it differs from space to space.
func (r Request) Member(space memory.SpaceID) memory.MemberID { return MemberOf(r.Key, space) }

// MemberOf is [Request.Member] for a key.
func MemberOf(key ed25519.PublicKey, space memory.SpaceID) memory.MemberID {
	sum := sha256.Sum256(append(append([]byte("locket/v1 member\x00"), space[:]...), key...))
	return memory.MemberID(sum[:8])
}

// Welcome is an owner's answer to a granted request: the id of the space, and
// the hash of its first log entry. It is not secret.
type Welcome struct {
	Space   memory.SpaceID
	Genesis Hash
}

// WelcomePrefix is the beginning of the text form of a welcome. It is
// followed by the base64url of space (16 bytes), genesis (32 bytes), and the
// first 4 bytes of SHA-256 over both.
const WelcomePrefix = "locket-space-1."

// String returns the text form.
func (w Welcome) String() string {
	b := append(append([]byte{}, w.Space[:]...), w.Genesis[:]...)
	sum := sha256.Sum256(b)
	return WelcomePrefix + base64.RawURLEncoding.EncodeToString(append(b, sum[:4]...))
}

// ParseWelcome parses the text form. It ignores white space. It returns
// [ErrForm].
func ParseWelcome(s string) (Welcome, error) {
	var w Welcome
	text, ok := strings.CutPrefix(strings.Join(strings.Fields(s), ""), WelcomePrefix)
	if !ok {
		return w, fmt.Errorf("welcome: %w: it begins with %s", ErrForm, WelcomePrefix)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != 52 {
		return w, fmt.Errorf("welcome: %w: it is cut short, or changed", ErrForm)
	}
	copy(w.Space[:], b)
	copy(w.Genesis[:], b[16:])
	if w.String() != WelcomePrefix+text {
		return Welcome{}, fmt.Errorf("welcome: %w: it is cut short, or changed", ErrForm)
	}
	return w, nil
}
