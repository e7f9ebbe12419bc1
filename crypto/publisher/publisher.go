// Package publisher manages the key with which an author signs plugins, or a registry its index.
//
// A key file holds one line, LOCKET-PUBLISHER-KEY-1 and the Ed25519 seed in hexadecimal, and only
// its owner may read it (0600; on Windows, where files have no such mode, the folder's access list
// decides). With a passphrase, that line is in an armored age file with one scrypt stanza, which
// age -d can open, too. Beside it, NAME.pub has the public key in hexadecimal.
package publisher

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/locket-dev/locket/internal/atomicfile"
)

// Reasons why a key was not read or made.
var (
	ErrKey        = errors.New("publisher key refused")
	ErrPassphrase = errors.New("wrong passphrase")
	ErrExists     = errors.New("there is a key already")
)

const (
	prefix = "LOCKET-PUBLISHER-KEY-1 "
	// Work factors of scrypt as powers of two, the same as in package keyring.
	scryptFactor = 15
	scryptCap    = 18
	maxFile      = 8 << 10
)

// Create makes a key and writes it to path, and its public half to path.pub. With an empty
// passphrase it is not encrypted. Nothing is overwritten: if either file exists, the error is
// ErrExists. After an error there is neither.
func Create(path, passphrase string) (ed25519.PublicKey, error) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making publisher key: %w", err)
	}
	text := prefix + hex.EncodeToString(key.Seed()) + "\n"
	if passphrase != "" {
		if text, err = wrap(text, passphrase); err != nil {
			return nil, fmt.Errorf("making publisher key: %w", err)
		}
	}
	public := path + ".pub" // first: without the private key it is useless, and the private key alone would be half done
	if err := writeNew(public, hex.EncodeToString(pub)+"\n", 0o644); err != nil {
		return nil, fmt.Errorf("making publisher key: %w", err)
	}
	err = writeNew(path, text, 0o600)
	if err != nil {
		err = errors.Join(err, os.Remove(public))
	} else {
		err = atomicfile.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, fmt.Errorf("making publisher key: %w", err)
	}
	return pub, nil
}

// writeNew writes a new file, completely or not at all.
func writeNew(path, text string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %s", ErrExists, path)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func wrap(text, passphrase string) (string, error) {
	r, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return "", err
	}
	r.SetWorkFactor(scryptFactor)
	var out strings.Builder
	a := armor.NewWriter(&out)
	w, err := age.Encrypt(a, r)
	if err != nil {
		return "", err
	}
	_, err = io.WriteString(w, text)
	err = errors.Join(err, w.Close(), a.Close())
	return out.String(), err
}

// Read reads a key; ask is called for the passphrase if there is one. A file without a passphrase
// that others may read is refused, as far as the file's mode shows it, which it does not on
// Windows.
func Read(path string, ask func() (string, error)) (ed25519.PrivateKey, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading publisher key: %w", err)
	}
	if !st.Mode().IsRegular() || st.Size() > maxFile {
		return nil, fmt.Errorf("%w: %s is not a key file", ErrKey, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading publisher key: %w", err)
	}
	if bytes.HasPrefix(b, []byte(armor.Header)) {
		pass, err := ask()
		if err != nil {
			return nil, err
		}
		if b, err = unwrap(b, pass); err != nil {
			return nil, fmt.Errorf("reading publisher key %s: %w", path, err)
		}
	} else if openToOthers(runtime.GOOS, st.Mode()) {
		return nil, fmt.Errorf("%w: others may read %s (mode %04o): chmod 600 it", ErrKey, path, st.Mode().Perm())
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(string(b)), prefix)
	seed, err := hex.DecodeString(text)
	if !ok || err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%w: %s is not a key file", ErrKey, path)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// openToOthers reports whether a file's mode lets others read or write it. On Windows every
// writable file has 0666.
func openToOthers(system string, mode fs.FileMode) bool {
	return system != "windows" && mode.Perm()&0o077 != 0
}

func unwrap(b []byte, passphrase string) ([]byte, error) {
	id, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, ErrPassphrase
	}
	id.SetMaxWorkFactor(scryptCap)
	r, err := age.Decrypt(armor.NewReader(bytes.NewReader(b)), id)
	var no *age.NoIdentityMatchError
	if errors.As(err, &no) {
		return nil, ErrPassphrase
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrKey, err)
	}
	b, err = io.ReadAll(io.LimitReader(r, maxFile))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrKey, err)
	}
	return b, nil
}
