package atomicfile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A checked file is text with a last line that has the SHA-256 of what stands
// before it. It finds accidents, not intent: whoever changes such a file by
// hand takes the line out, and a file without one is taken as it is. Beside it
// stands a copy, a hidden file, for the day on which the sum does not fit.

// ErrDamaged: a checked file is not as it was written. The wrapping error has
// the path.
var ErrDamaged = errors.New("not as it was written")

const mark = "# sha256 "

func line(b []byte) []byte { return fmt.Appendf(nil, "%s%x\n", mark, sha256.Sum256(b)) }

// WriteChecked is Write of a checked file. b ends with a newline; one is added
// where it does not.
func WriteChecked(path string, b []byte) error {
	if !bytes.HasSuffix(b, []byte("\n")) {
		b = append(bytes.Clone(b), '\n')
	}
	b = append(bytes.Clone(b), line(b)...)
	return errors.Join(Write(path, b), Write(copyOf(path), b))
}

// copyOf is where a checked file has its copy.
func copyOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".copy")
}

// ReadCopy is ReadChecked of the copy that a checked file has: as the file was
// written last, or before that where the power was cut between the two. There
// is none of what somebody wrote by hand.
func ReadCopy(path string) ([]byte, error) { return ReadChecked(copyOf(path)) }

// ReadChecked returns what a checked file says, without its last line; a sum
// that does not fit is [ErrDamaged].
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
