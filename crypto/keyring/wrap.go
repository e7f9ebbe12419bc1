package keyring

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"filippo.io/age"

	"github.com/locket-dev/locket/crypto/seal"
)

// WrapKind is a way to unlock.
type WrapKind string

const (
	WrapPassphrase WrapKind = "passphrase"
	WrapKeyFile    WrapKind = "keyfile"
	WrapOSKeyring  WrapKind = "os"
)

var wrapKinds = [...]WrapKind{WrapPassphrase, WrapKeyFile, WrapOSKeyring}

func (k WrapKind) file() string { return "wrap." + string(k) }

// Unlocker opens one of the wraps: [Passphrase], [KeyFile] or [OSKeyring].
type Unlocker interface {
	kind() WrapKind
	unwrap(dir string, id RingID) ([]byte, error) // returns the ring's id and the KEK
}

// wrapper writes one of the wraps.
type wrapper interface {
	wrap(dir string, id RingID, kek *seal.Key) error
}

// Passphrase unlocks with what the wearer knows.
func Passphrase(p string) Unlocker { return passphraseWrap{p, scryptFactor} }

// KeyFile unlocks with the key file at path; an empty path is the one that the
// wrap names. A relative path starts at the ring's folder.
func KeyFile(path string) Unlocker { return keyFileWrap{path} }

// OSKeyring unlocks with a key in the operating system's keyring, which may ask the wearer and wait
// for the answer.
func OSKeyring() Unlocker { return osWrap{} }

// Work factors of scrypt as powers of two, with r 8 and p 1. 2^15 takes 32 MiB
// of memory, and about 0.1 s on a laptop and 0.5 s on a Raspberry Pi. A wrap
// above the cap, which takes 256 MiB, was not written by Locket and is refused.
const (
	scryptFactor = 15
	scryptCap    = 18
)

type passphraseWrap struct {
	p    string
	work int
}

// Format implements fmt.Formatter, and prints no passphrase.
func (passphraseWrap) Format(f fmt.State, _ rune) { fmt.Fprint(f, "passphrase") }

func (passphraseWrap) kind() WrapKind { return WrapPassphrase }

func (w passphraseWrap) wrap(dir string, id RingID, kek *seal.Key) error {
	r, err := age.NewScryptRecipient(w.p)
	if err != nil {
		return fmt.Errorf("wrap by passphrase: %w", err)
	}
	r.SetWorkFactor(w.work)
	plain := wrapped(id, kek)
	defer clear(plain)
	var b bytes.Buffer
	out, err := age.Encrypt(&b, r)
	if err == nil {
		_, err = out.Write(plain)
	}
	if err == nil {
		err = out.Close()
	}
	if err == nil {
		err = writeWrap(dir, WrapPassphrase, b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("wrap by passphrase: %w", err)
	}
	return nil
}

func (w passphraseWrap) unwrap(dir string, _ RingID) ([]byte, error) {
	body, err := readWrap(dir, WrapPassphrase)
	if err != nil {
		return nil, err
	}
	if w.p == "" {
		return nil, ErrWrongPassphrase
	}
	i, err := age.NewScryptIdentity(w.p)
	if err != nil {
		return nil, err
	}
	i.SetMaxWorkFactor(scryptCap)
	r, err := age.Decrypt(bytes.NewReader(body), i)
	var wrong *age.NoIdentityMatchError
	if errors.As(err, &wrong) {
		return nil, ErrWrongPassphrase
	}
	var plain []byte
	if err == nil {
		plain, err = io.ReadAll(r)
	}
	if err != nil {
		return nil, damaged(filepath.Join(dir, WrapPassphrase.file()), err.Error())
	}
	return plain, nil
}

// keyWrap is the body of wrap.keyfile and wrap.os.
type keyWrap struct {
	Path    string `json:"path,omitempty"`
	Service string `json:"service,omitempty"`
	User    string `json:"user,omitempty"`
	Sealed  []byte `json:"sealed"`
}

func (w *keyWrap) write(dir string, kind WrapKind, id RingID, key, kek *seal.Key) error {
	plain := wrapped(id, kek)
	defer clear(plain)
	w.Sealed = key.Seal(nil, plain, bound(kind.file(), id))
	body, err := json.Marshal(w)
	if err == nil {
		err = writeWrap(dir, kind, append(body, '\n'))
	}
	return err
}

func readKeyWrap(dir string, kind WrapKind) (*keyWrap, error) {
	body, err := readWrap(dir, kind)
	if err != nil {
		return nil, err
	}
	w := new(keyWrap)
	if err := json.Unmarshal(body, w); err != nil {
		return nil, damaged(filepath.Join(dir, kind.file()), err.Error())
	}
	return w, nil
}

// open decrypts the wrap. It returns [ErrWrongKey] if the key is wrong, or if
// the wrap belongs to another ring.
func (w *keyWrap) open(kind WrapKind, id RingID, key *seal.Key) ([]byte, error) {
	plain, err := key.Open(nil, w.Sealed, bound(kind.file(), id))
	if err != nil {
		return nil, ErrWrongKey
	}
	return plain, nil
}

func wrapped(id RingID, kek *seal.Key) []byte {
	b := kek.Bytes()
	defer clear(b)
	return append(append(make([]byte, 0, len(id)+len(b)), id[:]...), b...)
}

func writeWrap(dir string, kind WrapKind, body []byte) error {
	return writeBoth(dir, kind.file(), body)
}

func readWrap(dir string, kind WrapKind) ([]byte, error) {
	return readFile(filepath.Join(dir, kind.file()), kind.file())
}

// removeWrap removes the wrap's file, and then the key that was used only for
// it.
func removeWrap(dir string, kind WrapKind) error {
	var own *keyWrap
	if kind != WrapPassphrase {
		own, _ = readKeyWrap(dir, kind) // if it is damaged, there is nothing to remove
	}
	err := removeBoth(dir, kind.file())
	if err == nil && own != nil && kind == WrapOSKeyring {
		err = osWrap{}.forget(own)
	}
	if err == nil && own != nil && own.Path == DefaultKeyFile {
		if err = removeBoth(dir, DefaultKeyFile); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", kind, err)
	}
	return nil
}
