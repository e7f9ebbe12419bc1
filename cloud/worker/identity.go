package worker

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// identity is a worker's keys in one space. Each space has its own, so that
// nobody can tell that two spaces have one worker.
//
// FORMAT of the file "identity", mode 0600:
//
//	0   "LKWI"
//	4   version, 1
//	5   Ed25519 seed, 32 bytes
//	37  seed of the pair that epoch keys are sealed to, 32 bytes
//
// The content of the space's folder is sealed under keys that are derived from these seeds: without
// the file it can't be read.
type identity struct {
	sign  ed25519.PrivateKey
	pair  *seal.Identity
	store *seal.Key
}

const (
	identityFile  = "identity"
	identityMagic = "LKWI\x01"
)

func newIdentity(dir string) (*identity, error) {
	b := append([]byte(identityMagic), make([]byte, 64)...)
	rand.Read(b[len(identityMagic):])
	defer clear(b)
	if err := writeSynced(filepath.Join(dir, identityFile), b); err != nil {
		return nil, fmt.Errorf("make the worker's keys: %w", err)
	}
	return parseIdentity(b)
}

func readIdentity(dir string) (*identity, error) {
	b, err := os.ReadFile(filepath.Join(dir, identityFile))
	if err != nil {
		return nil, fmt.Errorf("the worker's keys: %w", err)
	}
	defer clear(b)
	return parseIdentity(b)
}

func parseIdentity(b []byte) (*identity, error) {
	n := len(identityMagic)
	if len(b) != n+64 || string(b[:n]) != identityMagic {
		return nil, fmt.Errorf("the worker's keys: %w: not a file of version 1", memory.ErrDamaged)
	}
	seed, err := seal.KeyFromBytes(b[n+32:])
	if err != nil {
		return nil, err
	}
	return &identity{ed25519.NewKeyFromSeed(b[n : n+32]), seal.IdentityFromSeed(seed), seed.Derive("worker store")}, nil
}

func (i *identity) public() ed25519.PublicKey { return i.sign.Public().(ed25519.PublicKey) }

func (i *identity) request() (string, error) {
	return envelope.SignRequest(envelope.Request{Key: i.public(), Recipient: i.pair.Recipient().String()}, envelope.KeySigner(i.sign))
}

func (i *identity) zero() {
	clear(i.sign)
	i.pair.Zero()
	i.store.Zero()
}

// keyless reports whether the keys of a folder were destroyed, or are being
// destroyed.
func keyless(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, identityFile))
	defer clear(b)
	return errors.Is(err, os.ErrNotExist) || err == nil && len(bytes.Trim(b, "\x00")) == 0
}

// destroy overwrites and removes the file. On flash memory an old copy may stay
// in the medium, where no file system call reaches it.
func destroy(dir string) error {
	file := filepath.Join(dir, identityFile)
	err := writeSynced(file, make([]byte, len(identityMagic)+64))
	return errors.Join(err, os.Remove(file))
}

// writeSynced overwrites a file in place, or makes it, and syncs it.
func writeSynced(file string, b []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// keys implements replica.Keys for a space. Epoch keys are only in memory, because the membership
// log has them, sealed to the worker.
type keys struct {
	space memory.SpaceID
	id    *identity
	seal.HeldEpochs
}

var errNoOwner = errors.New("a worker lets nobody in")

func (k *keys) Sign(domain string, msg []byte) ([]byte, error) {
	return envelope.KeySigner(k.id.sign)(domain, msg)
}

func (k *keys) Take(sealed []byte) error {
	got, err := seal.OpenEpochs(k.id.pair, k.space, sealed)
	if err == nil {
		k.Add(got)
	}
	return err
}

func (k *keys) Wrap(uint32, *seal.Recipient) ([]byte, error) { return nil, errNoOwner }
