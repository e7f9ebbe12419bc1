package atomicfile

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"fmt"
	"path/filepath"
)

// A sealed file is a checked file whose last line, before that with the sum, is
// a code over what stands before it and the file's name, under a key that only
// an open home has. It finds intent, where the sum finds accidents.

// ErrUnsealed: a sealed file was written by somebody who does not have the key.
// The wrapping error has the path.
var ErrUnsealed = errors.New("was written by something that does not have the keys of this home")

// Sealer makes the code: an authentication code under a key, over all parts.
type Sealer interface {
	MAC(label string, parts ...[]byte) [32]byte
}

const sealMark = "# seal "

func sealLine(path string, b []byte, key Sealer) []byte {
	return fmt.Appendf(nil, "%s%x\n", sealMark, key.MAC("sealed file", []byte(filepath.Base(path)), b))
}

// WriteSealed is WriteChecked of a sealed file.
func WriteSealed(path string, b []byte, key Sealer) error {
	if !bytes.HasSuffix(b, []byte("\n")) {
		b = append(bytes.Clone(b), '\n')
	}
	return WriteChecked(path, append(bytes.Clone(b), sealLine(path, b, key)...))
}

// ReadSealed returns what a sealed file says. With no key, as while the home is
// locked, only the sum is looked at.
func ReadSealed(path string, key Sealer) ([]byte, error) {
	b, err := ReadChecked(path)
	if err != nil {
		return nil, err
	}
	return unseal(path, b, key)
}

// ReadSealedCopy is ReadSealed of the copy.
func ReadSealedCopy(path string, key Sealer) ([]byte, error) {
	b, err := ReadCopy(path)
	if err != nil {
		return nil, err
	}
	return unseal(path, b, key)
}

func unseal(path string, b []byte, key Sealer) ([]byte, error) {
	at := bytes.LastIndex(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")) + 1
	body, last := b[:at], b[at:]
	if !bytes.HasPrefix(last, []byte(sealMark)) {
		body, last = b, nil
	}
	if key != nil && subtle.ConstantTimeCompare(last, sealLine(path, body, key)) != 1 {
		return nil, fmt.Errorf("%s: %w", path, ErrUnsealed)
	}
	return body, nil
}
