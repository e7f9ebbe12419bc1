package keyring

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
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
// written down on paper.
func Create(dir string, opt CreateOptions) (*Ring, string, error) {
	r, phrase, err := create(dir, opt)
	if err != nil {
		return nil, "", fmt.Errorf("create keys: %w", err)
	}
	return r, phrase, nil
}

func create(dir string, opt CreateOptions) (*Ring, string, error) {
	wraps := opt.wraps()
	if len(wraps) == 0 {
		return nil, "", ErrNoWrap
	}
	if ok, err := exists(filepath.Join(dir, publicFile)); err != nil {
		return nil, "", err
	} else if ok {
		return nil, "", fmt.Errorf("%w: %s", ErrExists, dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", err
	}
	for _, k := range wrapKinds { // left by a Create that was killed
		if err := os.RemoveAll(filepath.Join(dir, k.file())); err != nil {
			return nil, "", err
		}
	}
	phrase, rec, err := newPhrase(opt.Language)
	if err != nil {
		return nil, "", err
	}
	defer rec.Zero()

	kek := seal.NewKey()
	defer kek.Zero()
	r, vault := newRing(dir, rec, opt.Now)
	r.ringKey = kek.Derive(ringLabel)
	defer vault.Zero()
	fail := func(err error) (*Ring, string, error) {
		_ = r.Close()
		return nil, "", err
	}
	for _, w := range wraps {
		if err := w.wrap(dir, r.public.Ring, kek); err != nil {
			return fail(err)
		}
	}
	if err := r.writeSecrets(r.keys); err != nil {
		return fail(err)
	}
	if err := writeVault(dir, r.public.Ring, kek, vault); err != nil {
		return fail(err)
	}
	body, err := json.MarshalIndent(r.public, "", "\t")
	if err == nil {
		err = writeFile(filepath.Join(dir, publicFile), publicFile, append(body, '\n'))
	}
	if err != nil {
		return fail(err)
	}
	return r, phrase, nil
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
