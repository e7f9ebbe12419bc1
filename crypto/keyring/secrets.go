package keyring

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/locket-dev/locket/crypto/seal"
)

// secrets is the content of ring.sealed, as JSON with bytes in base64.
type secrets struct {
	Public  *Public           `json:"public"`
	Master  []byte            `json:"master"`
	Device  []byte            `json:"device"` // seed of Ed25519, RFC 8032
	Pair    []byte            `json:"pair"`   // seeds of identities, package seal
	Journal []byte            `json:"journal"`
	Keys    map[string][]byte `json:"keys"`
}

func (s *secrets) clear() {
	for _, b := range [][]byte{s.Master, s.Device, s.Pair, s.Journal} {
		clear(b)
	}
	for _, b := range s.Keys {
		clear(b)
	}
}

func (s *secrets) write(dir string, ringKey *seal.Key) error {
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write %s: %w", ringFile, err)
	}
	defer clear(b)
	body := ringKey.Seal(nil, b, bound(ringFile, s.Public.Ring))
	if err := writeBoth(dir, ringFile, body); err != nil {
		return fmt.Errorf("write %s: %w", ringFile, err)
	}
	return nil
}

func readSecrets(dir string, id RingID, ringKey *seal.Key) (*secrets, error) {
	path := filepath.Join(dir, ringFile)
	b, err := openSealed(path, ringFile, id, ringKey)
	if err != nil {
		return nil, err
	}
	defer clear(b)
	s := new(secrets)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, damaged(path, "contents of another form")
	}
	if s.Public == nil || s.Public.check() != nil || len(s.Device) != ed25519.SeedSize {
		return nil, damaged(path, "contents are not complete")
	}
	return s, nil
}

// openSealed reads a file that is sealed with a key derived from the KEK.
func openSealed(path, name string, id RingID, key *seal.Key) ([]byte, error) {
	body, err := readFile(path, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damaged(path, "gone")
	}
	if err != nil {
		return nil, err
	}
	b, err := key.Open(nil, body, bound(name, id))
	if err != nil {
		return nil, damaged(path, "changed, or of another ring")
	}
	return b, nil
}

// ring makes the keys, and checks the public ones against them.
func (s *secrets) ring(l *Locked, ringKey *seal.Key) (*Ring, error) {
	r := &Ring{Locked: l, ringKey: ringKey.LockMemory(), keys: map[string]*seal.Key{}, sessions: map[*VaultSession]struct{}{}}
	fail := func(err error) (*Ring, error) {
		_ = r.Close()
		return nil, err
	}
	if name := l.public.differs(s.Public); name != "" {
		return fail(fmt.Errorf("%w: %s: %q is not the one that was made for this ring", ErrSwapped, filepath.Join(l.dir, publicFile), name))
	}
	path := filepath.Join(l.dir, ringFile)
	seeds := map[string]*seal.Key{}
	for name, b := range map[string][]byte{"master": s.Master, "pair": s.Pair, "journal": s.Journal} {
		k, err := seal.KeyFromBytes(b)
		if err != nil {
			return fail(damaged(path, name+" is not a key"))
		}
		seeds[name] = k
	}
	r.master = seeds["master"].LockMemory()
	r.device = ed25519.NewKeyFromSeed(s.Device)
	r.pair = seal.IdentityFromSeed(seeds["pair"].LockMemory())
	r.journal = seal.IdentityFromSeed(seeds["journal"].LockMemory())
	for name, b := range s.Keys {
		k, err := seal.KeyFromBytes(b)
		if err != nil {
			return fail(damaged(path, fmt.Sprintf("%q is not a key", name)))
		}
		r.keys[name] = k.LockMemory()
	}
	p := l.public
	if _, ok := r.keys[idKeyName]; !ok || !p.Device.Equal(r.device.Public()) ||
		!p.Pair.Equal(r.pair.Recipient()) || !p.Journal.Equal(r.journal.Recipient()) {
		return fail(damaged(path, "private keys are not those of the public ones"))
	}
	return r, nil
}
