package keyring

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
)

// CreateOptions say how a new ring can be unlocked: in at least one way.
type CreateOptions struct {
	Passphrase string    // not empty: a passphrase
	KeyFile    string    // not empty: a key file there, such as DefaultKeyFile; a relative path starts at the ring's folder
	OSKeyring  bool      // the operating system's keyring
	Language   Language  // of the phrase; empty is English
	Now        time.Time // zero is time.Now
}

// Create makes a ring in dir, with mode 0700, and returns it unlocked, with the
// recovery phrase of 24 words, which is stored nowhere: it is shown once, and
// written down on paper. The ring is made beside dir and then renamed, so that
// there is all of it or none. A folder with anything in it is [ErrExists]: it
// may be a ring that lost a file.
func Create(dir string, opt CreateOptions) (*Ring, string, error) {
	dir = filepath.Clean(dir)
	r, phrase, err := create(dir, dir+".new", opt)
	if err != nil {
		return nil, "", fmt.Errorf("create keys: %w", err)
	}
	return r, phrase, nil
}

func create(dir, tmp string, opt CreateOptions) (*Ring, string, error) {
	wraps := opt.wraps()
	if len(wraps) == 0 {
		return nil, "", ErrNoWrap
	}
	if err := makeWay(dir, tmp); err != nil {
		return nil, "", err
	}
	phrase, rec, err := newPhrase(opt.Language)
	if err != nil {
		return nil, "", err
	}
	defer rec.Zero()
	kek := seal.NewKey()
	defer kek.Zero()
	r, vault := newRing(tmp, rec, opt.Now)
	r.ringKey = kek.Derive(ringLabel)
	defer vault.Zero()
	if err := r.writeAll(kek, vault, wraps); err != nil {
		_ = r.Close()
		_ = os.RemoveAll(tmp)
		return nil, "", err
	}
	if err := os.Rename(tmp, dir); err != nil {
		_ = r.Close()
		return nil, "", err
	}
	r.dir = dir
	if err := syncDir(filepath.Dir(dir)); err != nil {
		_ = r.Close()
		return nil, "", err
	}
	return r, phrase, nil
}

// makeWay leaves dir away, its parent there, and tmp empty.
func makeWay(dir, tmp string) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.IsDir() || os.Remove(dir) != nil:
		return fmt.Errorf("%w: %s is not an empty folder", ErrExists, dir)
	}
	if err := os.RemoveAll(tmp); err != nil { // of a Create that was killed
		return err
	}
	return os.MkdirAll(tmp, 0o700)
}

func (r *Ring) writeAll(kek *seal.Key, vault *seal.Identity, wraps []wrapper) error {
	for _, w := range wraps {
		if err := w.wrap(r.dir, r.public.Ring, kek); err != nil {
			return err
		}
	}
	if err := r.writeSecrets(r.keys); err != nil {
		return err
	}
	if err := writeVault(r.dir, r.public.Ring, kek, vault); err != nil {
		return err
	}
	body, err := json.MarshalIndent(r.public, "", "\t")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(r.dir, publicFile), publicFile, append(body, '\n'))
}

// newRing makes all keys but the KEK. The vault's is not part of the ring.
func newRing(dir string, rec *Recovery, now time.Time) (r *Ring, vault *seal.Identity) {
	if now.IsZero() {
		now = time.Now()
	}
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed)
	defer clear(seed)
	r = &Ring{
		master:   seal.NewKey(),
		device:   ed25519.NewKeyFromSeed(seed),
		pair:     seal.NewIdentity(),
		journal:  seal.NewIdentity(),
		keys:     map[string]*seal.Key{idKeyName: seal.NewKey()},
		sessions: map[*VaultSession]struct{}{},
	}
	vault = seal.NewIdentity()
	p := &Public{
		Created:  now.UTC().Truncate(time.Second),
		Device:   r.device.Public().(ed25519.PublicKey),
		Pair:     r.pair.Recipient(),
		Root:     rec.Root(),
		Recovery: rec.Identity().Recipient(),
		Journal:  r.journal.Recipient(),
		Vault:    vault.Recipient(),
	}
	rand.Read(p.Ring[:])
	rand.Read(p.Space[:])
	rand.Read(p.Member[:])
	r.Locked = &Locked{dir, p}
	return r, vault
}

func (o *CreateOptions) wraps() (w []wrapper) {
	if o.Passphrase != "" {
		w = append(w, passphraseWrap{o.Passphrase})
	}
	if o.KeyFile != "" {
		w = append(w, keyFileWrap{o.KeyFile})
	}
	if o.OSKeyring {
		w = append(w, osWrap{})
	}
	return w
}
