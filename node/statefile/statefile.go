// Package statefile stores the files of a home that a locked node obeys: the
// private zones, the wearables, a pause. Anybody who has the disk can read them.
// A signature with this device's key proves that an open node of this home wrote
// them; a locked node can check the signature, but not make it.
//
// FORMAT: a checked file (package atomicfile). The last line before the sum is
// "# signed " and 128 hexadecimal characters: the device's signature (package
// keyring, domain "state file") of the file's name, a zero byte, and everything
// before that line. An older version of the file from the same home has a valid
// signature, too.
package statefile

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/atomicfile"
)

// Names are the state files of a home.
var Names = []string{"devices.json", "pause.json", "zones.json"}

// ErrUnsigned: a state file is missing, or was written by something that does
// not have the keys of this home. The wrapping error has the path.
var ErrUnsigned = errors.New("was not written by this home while it was open")

const (
	domain = "state file"
	mark   = "# signed "
)

func message(path string, b []byte) []byte {
	return append(append([]byte(filepath.Base(path)), 0), b...)
}

// Write writes a state file, signed by an open ring. If the ring is nil, as
// while the home is locked, the file is not signed.
func Write(path string, b []byte, ring *keyring.Ring) error {
	if !bytes.HasSuffix(b, []byte("\n")) {
		b = append(bytes.Clone(b), '\n')
	}
	if ring != nil {
		sig, err := ring.DeviceSign(domain, message(path, b))
		if err != nil {
			return err
		}
		b = fmt.Appendf(bytes.Clone(b), "%s%x\n", mark, sig)
	}
	return atomicfile.WriteChecked(path, b)
}

// Read returns the content of a state file, and whether device signed it. A
// missing file has no content and is not signed.
func Read(path string, device ed25519.PublicKey) (b []byte, signed bool, err error) {
	b, err = atomicfile.ReadChecked(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	b, signed = parse(path, b, device)
	return b, signed, nil
}

func parse(path string, b []byte, device ed25519.PublicKey) (body []byte, signed bool) {
	at := bytes.LastIndex(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")) + 1
	text, ok := bytes.CutPrefix(b[at:], []byte(mark))
	if !ok {
		return b, false
	}
	sig, err := hex.DecodeString(string(bytes.TrimSuffix(text, []byte("\n"))))
	return b[:at], err == nil && keyring.Verify(device, domain, message(path, b[:at]), sig)
}

// Restore restores a state file from its copy, if the copy is signed.
func Restore(path string, device ed25519.PublicKey) error {
	b, err := atomicfile.ReadCopy(path)
	if err != nil {
		return err
	}
	if _, signed := parse(path, b, device); !signed {
		return fmt.Errorf("copy of %s: %w", path, ErrUnsigned)
	}
	return atomicfile.WriteChecked(path, b)
}

// SignNew signs the files of a new home, which are still empty.
func SignNew(home string, ring *keyring.Ring) error {
	for _, name := range Names {
		path := filepath.Join(home, name)
		if err := Write(path, empty(path), ring); err != nil {
			return err
		}
	}
	return nil
}

// EnsureSigned makes sure that a state file is signed. changed reports that something
// else wrote or removed the file. Then the file is renamed to NAME.unsigned, and
// replaced by its copy or, if that is not signed either, by an empty file.
func EnsureSigned(path string, ring *keyring.Ring) (changed bool, err error) {
	device := ring.Public().Device
	_, signed, err := Read(path, device)
	if err != nil || signed {
		return false, err
	}
	if err := os.Rename(path, path+".unsigned"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true, err
	}
	if Restore(path, device) == nil {
		return true, nil
	}
	return true, Write(path, empty(path), ring)
}

func empty(path string) []byte {
	if filepath.Base(path) == "pause.json" {
		return []byte("{\"paused\":false}\n")
	}
	return []byte("[]\n")
}
