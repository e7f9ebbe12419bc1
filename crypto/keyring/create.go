package keyring

import (
	"cmp"
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
	"github.com/locket-dev/locket/internal/atomicfile"
)

// CreateOptions say how a new ring can be unlocked. At least one way is
// required.
type CreateOptions struct {
	Passphrase string    // not empty: a passphrase
	Work       int       // scrypt work factor as a power of two; 0: 15; tests use less, because they make many rings
	KeyFile    string    // not empty: path of a key file, such as DefaultKeyFile; a relative path starts at the ring's folder
	OSKeyring  bool      // the operating system's keyring
	Language   Language  // of the phrase; empty is English
	Now        time.Time // zero is time.Now
	Join       *Joining  // not nil: make the ring of a further device of a wearer who has a space

	// FoundSpace makes the space of a new phrase with its first device: see
	// membership.FoundSpace. It is required unless Join is set.
	FoundSpace func(*Recovery) (*Joining, error)
}

// Create makes a ring in dir, with mode 0700, and returns it unlocked, together
// with the recovery phrase of 24 words. The phrase is stored nowhere: it is
// shown once, and has to be written down on paper. The ring is made beside dir
// and then renamed, so that it is complete or does not exist. If the folder is
// not empty, Create returns [ErrExists], because it may be a ring that lost a
// file. With Join, Create makes and returns no phrase.
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
	phrase, join := "", opt.Join
	if join == nil {
		words, rec, err := newPhrase(opt.Language)
		if err != nil {
			return nil, "", err
		}
		defer rec.Zero()
		if join, err = opt.FoundSpace(rec); err != nil {
			return nil, "", err
		}
		phrase = words
	}
	kek := seal.NewKey()
	defer kek.Zero()
	r, vault, err := newRing(tmp, join, opt.Now)
	if err != nil {
		return nil, "", err
	}
	r.ringKey = kek.Derive(ringLabel)
	defer vault.Zero()
	if err := r.writeAll(kek, vault, join.Genesis, wraps); err != nil {
		_ = r.Close()
		_ = Discard(tmp)
		return nil, "", err
	}
	if err := os.Rename(tmp, dir); err != nil {
		_ = r.Close()
		return nil, "", err
	}
	r.dir = dir
	if err := atomicfile.SyncDir(filepath.Dir(dir)); err != nil {
		_ = r.Close()
		return nil, "", err
	}
	return r, phrase, nil
}

// Discard removes the folder of a ring that will not be used, and its secret from the OS keyring.
// The ring can't be opened any more. A missing folder is no error.
func Discard(dir string) error {
	var err error
	if kw, damage := readKeyWrap(dir, WrapOSKeyring); damage == nil {
		err = osWrap{}.forget(kw)
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// makeWay removes dir and empties tmp, and creates the parent.
func makeWay(dir, tmp string) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.IsDir() || os.Remove(dir) != nil:
		return fmt.Errorf("%w: %s is not an empty folder", ErrExists, dir)
	}
	if err := Discard(tmp); err != nil { // left by a Create that was killed
		return err
	}
	return os.MkdirAll(tmp, 0o700)
}

func (r *Ring) writeAll(kek *seal.Key, vault *seal.Identity, genesis []byte, wraps []wrapper) error {
	for _, w := range wraps {
		if err := w.wrap(r.dir, r.public.Ring, kek); err != nil {
			return err
		}
	}
	if err := r.writeSecrets(r.keys); err != nil {
		return err
	}
	if err := writeBoth(r.dir, genesisFile, genesis); err != nil {
		return err
	}
	if err := writeVault(r.dir, r.public.Ring, kek, vault); err != nil {
		return err
	}
	body, err := json.MarshalIndent(r.public, "", "\t")
	if err != nil {
		return err
	}
	return writeBoth(r.dir, publicFile, append(body, '\n'))
}

// newRing makes all keys that join does not bring, except the KEK. The vault's
// private key is returned separately, because the ring does not hold it.
func newRing(dir string, join *Joining, now time.Time) (r *Ring, vault *seal.Identity, err error) {
	if now.IsZero() {
		now = time.Now()
	}
	if join.Device == nil {
		return nil, nil, errors.New("join a space: no device")
	}
	ids, err := idKey(join.Epochs)
	if err != nil {
		return nil, nil, err
	}
	r = &Ring{
		master:   seal.NewKey(),
		device:   join.Device.sign,
		pair:     join.Device.pair,
		journal:  seal.NewIdentity(),
		keys:     map[string]*seal.Key{idKeyName: ids},
		sessions: map[*VaultSession]struct{}{},
	}
	for n, k := range join.Epochs {
		if r.keys[epochName(join.Space, n)], err = copyKey(k); err != nil {
			return nil, nil, err
		}
	}
	vault = seal.NewIdentity()
	p := &Public{
		Created:  now.UTC().Truncate(time.Second),
		Space:    join.Space,
		Member:   join.Device.ID,
		Device:   r.device.Public().(ed25519.PublicKey),
		Pair:     r.pair.Recipient(),
		Root:     join.Root,
		Recovery: join.Recovery,
		Journal:  r.journal.Recipient(),
		Vault:    vault.Recipient(),
	}
	rand.Read(p.Ring[:])
	r.Locked = &Locked{dir, p}
	return r, vault, nil
}

func (o *CreateOptions) wraps() (w []wrapper) {
	if o.Passphrase != "" {
		w = append(w, passphraseWrap{o.Passphrase, cmp.Or(o.Work, scryptFactor)})
	}
	if o.KeyFile != "" {
		w = append(w, keyFileWrap{o.KeyFile})
	}
	if o.OSKeyring {
		w = append(w, osWrap{})
	}
	return w
}
