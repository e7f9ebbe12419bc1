package atomicfile

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"fmt"
	"path/filepath"
)

// A sealed file is a checked file with one more line before the last: an
// authentication code over the text before it and the file's name, with a key
// that only an open home has. It detects manipulation, while the hash detects
// accidents.

// ErrUnsealed: a sealed file was written by a program without the key. The
// wrapping error has the path.
var ErrUnsealed = errors.New("was written by something that does not have the keys of this home")

// Sealer computes an authentication code over all parts, with a key.
type Sealer interface {
	MAC(label string, parts ...[]byte) [32]byte
}

const sealMark = "# seal "

func sealLine(path string, b []byte, key Sealer) []byte {
	return fmt.Appendf(nil, "%s%x\n", sealMark, key.MAC("sealed file", []byte(filepath.Base(path)), b))
}

// WriteSealed is WriteChecked for a sealed file.
func WriteSealed(path string, b []byte, key Sealer) error {
	if !bytes.HasSuffix(b, []byte("\n")) {
		b = append(bytes.Clone(b), '\n')
	}
	return WriteChecked(path, append(bytes.Clone(b), sealLine(path, b, key)...))
}

// ReadSealed returns the content of a sealed file. If key is nil, as while the
// home is locked, only the hash is checked.
func ReadSealed(path string, key Sealer) ([]byte, error) {
	b, err := ReadChecked(path)
	if err != nil {
		return nil, err
	}
	return unseal(path, b, key)
}

// ReadSealedCopy is ReadSealed for the copy.
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
