// Package statefile keeps the files of a home that a locked node obeys: the
// private zones, the wearables, a pause. Whoever has the disk can read them. A
// signature of this device's key says that an open node of this home wrote
// them, which a locked node can check and not make.
//
// FORMAT: a checked file (package atomicfile). The last line before the sum is
// "# signed " and 128 hexadecimal characters: the device's signature (package
// keyring, domain "state file") of the file's name, a byte 0, and what stands
// before that line. An older file of the same home is signed as well.
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

// ErrUnsigned: a state file is gone, or was written by something that does not
// have the keys of this home. The wrapping error has the path.
var ErrUnsigned = errors.New("was not written by this home while it was open")

const (
	domain = "state file"
	mark   = "# signed "
)

func message(path string, b []byte) []byte {
	return append(append([]byte(filepath.Base(path)), 0), b...)
}

// Write writes a state file, signed by an open ring; where that is nil, as
// while the home is locked, it is not signed.
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

// Read gives what a state file says, and whether device signed it. A file that
// is not there says nothing, and is not signed.
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

// Restore puts a state file's copy in its place, where that is signed.
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

// Found signs the files of a new home, which say nothing yet.
func Found(home string, ring *keyring.Ring) error {
	for _, name := range Names {
		path := filepath.Join(home, name)
		if err := Write(path, empty(path), ring); err != nil {
			return err
		}
	}
	return nil
}

// Settle leaves a state file signed. changed says that something else wrote the
// file, or took it away. Then the file is renamed to NAME.unsigned, and its copy
// takes its place, or if that is not signed either, a file that says nothing.
func Settle(path string, ring *keyring.Ring) (changed bool, err error) {
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
