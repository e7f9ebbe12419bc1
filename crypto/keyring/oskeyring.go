package keyring

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	system "github.com/zalando/go-keyring"

	"github.com/locket-dev/locket/crypto/seal"
)

// ErrNoSecret: the operating system's keyring has no such secret.
var ErrNoSecret = errors.New("not in the OS keyring")

// ErrNoKeyring: the operating system's keyring does not answer, or refuses. The
// wrapping error has its message.
var ErrNoKeyring = errors.New("no OS keyring answers on this device")

const (
	osLabel   = "keyring os"
	osService = "locket"
)

// osWrap uses the Secret Service of a Linux desktop (over D-Bus), the macOS
// Keychain, or the Windows Credential Manager.
type osWrap struct {
	in osSecrets // nil: the system's
}

// osSecrets are the secrets of a keyring. Get returns system.ErrNotFound if
// there is no such secret.
type osSecrets interface {
	Set(service, user, secret string) error
	Get(service, user string) (string, error)
	Delete(service, user string) error
}

type systemSecrets struct{}

func (systemSecrets) Set(service, user, secret string) error {
	return system.Set(service, user, secret)
}
func (systemSecrets) Get(service, user string) (string, error) { return system.Get(service, user) }
func (systemSecrets) Delete(service, user string) error        { return system.Delete(service, user) }

func (w osWrap) at() osSecrets {
	if w.in == nil {
		return systemSecrets{}
	}
	return w.in
}

func (osWrap) kind() WrapKind { return WrapOSKeyring }

// wrap stores the secret under a new name, so that the old wrap works until the
// new one is on the disk. Then it deletes the old secret.
func (w osWrap) wrap(dir string, id RingID, kek *seal.Key) error {
	old, _ := readKeyWrap(dir, WrapOSKeyring) // there may be none
	k := seal.NewKey()
	defer k.Zero()
	b := k.Bytes()
	defer clear(b)
	kw := &keyWrap{Service: osService, User: id.String() + "/" + rand.Text()[:8]}
	if err := w.at().Set(kw.Service, kw.User, hex.EncodeToString(b)); err != nil {
		return fmt.Errorf("%w: %v", ErrNoKeyring, err)
	}
	key := k.Derive(osLabel)
	defer key.Zero()
	if err := kw.write(dir, WrapOSKeyring, id, key, kek); err != nil {
		// If the wrap was written and only a later step failed, the secret is
		// still needed.
		if now, e := readKeyWrap(dir, WrapOSKeyring); e != nil || now.User != kw.User {
			err = errors.Join(err, w.forget(kw))
		}
		return fmt.Errorf("wrap by OS keyring: %w", err)
	}
	if old != nil {
		return w.forget(old)
	}
	return nil
}

// forget deletes the secret that a wrap names, if it is Locket's. This check
// prevents that an altered file makes Locket delete another program's secret.
func (w osWrap) forget(kw *keyWrap) error {
	if kw.Service != osService {
		return nil
	}
	if err := w.at().Delete(kw.Service, kw.User); err != nil && !errors.Is(err, system.ErrNotFound) {
		return fmt.Errorf("delete from OS keyring: %w", err)
	}
	return nil
}

func (w osWrap) unwrap(dir string, id RingID) ([]byte, error) {
	kw, err := readKeyWrap(dir, WrapOSKeyring)
	if err != nil {
		return nil, err
	}
	if kw.Service != osService {
		return nil, damaged(filepath.Join(dir, WrapOSKeyring.file()), "names another program's secret")
	}
	text, err := w.at().Get(kw.Service, kw.User)
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
