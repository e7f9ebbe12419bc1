package atomicfile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A checked file is text whose last line has the SHA-256 of the text before it.
// The hash detects accidents and not manipulation: a person who edits the file
// removes that line, and a file without it is accepted as it is. A hidden file
// beside it is a copy, for the case that the hash is wrong.

// ErrDamaged: a checked file is not as it was written. The wrapping error has
// the path.
var ErrDamaged = errors.New("not as it was written")

const mark = "# sha256 "

func line(b []byte) []byte { return fmt.Appendf(nil, "%s%x\n", mark, sha256.Sum256(b)) }

// WriteChecked is Write for a checked file. It adds a newline if b does not end
// with one.
func WriteChecked(path string, b []byte) error {
	if !bytes.HasSuffix(b, []byte("\n")) {
		b = append(bytes.Clone(b), '\n')
	}
	b = append(bytes.Clone(b), line(b)...)
	return errors.Join(Write(path, b), Write(copyOf(path), b))
}

// copyOf returns the path of a checked file's copy.
func copyOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".copy")
}

// ReadCopy reads the copy of a checked file. The copy has the last written
// content, or the one before it if the power failed between the two writes. A
// file that was edited by hand has no copy of the edit.
func ReadCopy(path string) ([]byte, error) { return ReadChecked(copyOf(path)) }

// ReadChecked returns the content of a checked file without its last line. It
// returns [ErrDamaged] if the hash is wrong.
func ReadChecked(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	at := bytes.LastIndex(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")) + 1
	body, last := b[:at], b[at:]
	if bytes.Equal(last, line(body)) {
		return body, nil
	}
	if bytes.Contains(last, []byte(mark)[:2]) || bytes.Contains(last, []byte("sha256")) {
		return nil, fmt.Errorf("%s: %w: whoever changed it by hand takes the last line out", path, ErrDamaged)
	}
	return b, nil
}
