package keyring

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	system "github.com/zalando/go-keyring"

	"github.com/locket-dev/locket/crypto/seal"
)

// ErrNoSecret: the operating system's keyring has no such secret.
var ErrNoSecret = errors.New("not in the OS keyring")

// ErrNoKeyring: the operating system's keyring does not answer, or refuses. The
// wrapping error has its words.
var ErrNoKeyring = errors.New("no OS keyring that answers here")

const (
	osLabel   = "keyring os"
	osService = "locket"
)

// osWrap uses the Secret Service of a Linux desktop (over D-Bus), the macOS
// Keychain, or the Windows Credential Manager.
type osWrap struct{}

func (osWrap) kind() WrapKind { return WrapOSKeyring }

// wrap makes a secret of a name of its own, so that until the new wrap is on
// disk the old one opens; then the old secret goes.
func (osWrap) wrap(dir string, id RingID, kek *seal.Key) error {
	old, _ := readKeyWrap(dir, WrapOSKeyring) // there may be none
	k := seal.NewKey()
	defer k.Zero()
	b := k.Bytes()
	defer clear(b)
	kw := &keyWrap{Service: osService, User: id.String() + "/" + rand.Text()[:8]}
	if err := system.Set(kw.Service, kw.User, hex.EncodeToString(b)); err != nil {
		return fmt.Errorf("%w: %v", ErrNoKeyring, err)
	}
	key := k.Derive(osLabel)
	defer key.Zero()
	if err := kw.write(dir, WrapOSKeyring, id, key, kek); err != nil {
		return fmt.Errorf("wrap by OS keyring: %w", err)
	}
	if old != nil {
		return old.forget()
	}
	return nil
}

// forget deletes the secret that w names, if it is there.
func (w *keyWrap) forget() error {
	if err := system.Delete(w.Service, w.User); err != nil && !errors.Is(err, system.ErrNotFound) {
		return fmt.Errorf("delete from OS keyring: %w", err)
	}
	return nil
}

func (osWrap) unwrap(dir string, id RingID) ([]byte, error) {
	kw, err := readKeyWrap(dir, WrapOSKeyring)
	if err != nil {
		return nil, err
	}
	text, err := system.Get(kw.Service, kw.User)
	if errors.Is(err, system.ErrNotFound) {
		return nil, ErrNoSecret
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNoKeyring, err)
	}
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil, ErrWrongKey
	}
	defer clear(b)
	k, err := seal.KeyFromBytes(b)
	if err != nil {
		return nil, ErrWrongKey
	}
	defer k.Zero()
	key := k.Derive(osLabel)
	defer key.Zero()
	return kw.open(WrapOSKeyring, id, key)
}
