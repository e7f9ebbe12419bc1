package keyring

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

// FORMAT of a reader's key file, mode 0600: the line of header of a ring's
// files with the name "reader", then 128 hexadecimal characters and a newline:
// the seeds of the Ed25519 key and of the pair, 32 bytes each. As with a key
// file, whoever has the file has the keys.

const readerName = "reader"

// ReaderKey reads the keys of somebody who opens what others share, or creates them if there is no
// file. The ID has no meaning: a reader has one in each space.
func ReaderKey(path string) (*Device, error) {
	text, err := readFile(path, readerName)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = newReaderFile(path)
	}
	if err != nil {
		return nil, err
	}
	defer clear(text)
	b, err := hex.DecodeString(strings.TrimSuffix(string(text), "\n"))
	if err != nil || len(b) != ed25519.SeedSize+seal.KeySize {
		return nil, damaged(path, "not 128 hexadecimal characters")
	}
	defer clear(b)
	pair, err := seal.KeyFromBytes(b[ed25519.SeedSize:])
	if err != nil {
		return nil, damaged(path, err.Error())
	}
	return &Device{sign: ed25519.NewKeyFromSeed(b[:ed25519.SeedSize]), pair: seal.IdentityFromSeed(pair)}, nil
}

func newReaderFile(path string) ([]byte, error) {
	b := make([]byte, ed25519.SeedSize+seal.KeySize)
	rand.Read(b)
	defer clear(b)
	text := append(hex.AppendEncode(nil, b), '\n')
	return text, writeFile(path, readerName, text)
}

// StoreKey encrypts what the device keeps of a space.
func (d *Device) StoreKey(space memory.SpaceID) *seal.Key {
	return d.pair.Seed().Derive("store of " + space.String())
}

// OrderIdentity is the key pair for one order at a market, derived from the order's nonce. Somebody
// who gets its seed can open what was sealed for that order, and nothing else.
func (d *Device) OrderIdentity(nonce [16]byte) *seal.Identity {
	return seal.IdentityFromSeed(d.pair.Seed().Derive("market order " + hex.EncodeToString(nonce[:])))
}

// InterestsKey encrypts what the device keeps of the wearer's interests, and of comparisons of
// them.
func (d *Device) InterestsKey() *seal.Key { return d.pair.Seed().Derive("interests") }
