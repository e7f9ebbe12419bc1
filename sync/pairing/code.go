package pairing

import (
	"crypto/rand"
	"fmt"
	"strings"

	"golang.org/x/crypto/scrypt"
)

// Code is eight characters of Crockford's base32: 40 bits.
type Code string

const codeLetters = "0123456789abcdefghjkmnpqrstvwxyz"

// NewCode returns a new random code.
func NewCode() Code {
	var b [8]byte
	rand.Read(b[:])
	var c strings.Builder
	for _, x := range b {
		c.WriteByte(codeLetters[x%32])
	}
	return Code(c.String())
}

// parseCode parses what a person typed. It ignores case, dashes and spaces, and
// reads o as 0 and i or l as 1.
func parseCode(s string) (Code, error) {
	var c strings.Builder
	for _, r := range strings.ToLower(s) {
		switch r {
		case ' ', '-', '\t':
			continue
		case 'o':
			r = '0'
		case 'i', 'l':
			r = '1'
		}
		if !strings.ContainsRune(codeLetters, r) {
			return "", fmt.Errorf("%w: %q is not one of its letters", ErrCode, r)
		}
		c.WriteRune(r)
	}
	if c.Len() != 8 {
		return "", fmt.Errorf("%w: %d letters, want 8", ErrCode, c.Len())
	}
	return Code(c.String()), nil
}

// String returns the code as four letters, a dash, and four letters.
func (c Code) String() string {
	if len(c) != 8 {
		return string(c)
	}
	return string(c[:4] + "-" + c[4:])
}

// keys derives the mailbox's name and the key of the messages. scrypt with 32
// MiB makes each guess take about 0.1 s. A search for the 40 bits then takes
// far longer than the ten minutes that a mailbox exists.
func (c Code) keys() (box [16]byte, key []byte, err error) {
	b, err := scrypt.Key([]byte(c), []byte("locket/v1 pairing"), 1<<15, 8, 1, 48)
	if err != nil {
		return box, nil, err
	}
	copy(box[:], b)
	return box, b[16:], nil
}
