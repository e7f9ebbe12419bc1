// Package publisher keeps the key by which an author signs plugins, or a
// registry its index.
//
// A key file holds one line, LOCKET-PUBLISHER-KEY-1 and the Ed25519 seed in
// hexadecimal, and is for its owner alone (0600; on Windows that is for the folder's
// access list to say, as files there have no such mode). With a passphrase that line
// is in an armored age file with one scrypt stanza, which age -d opens too.
// Beside it stands NAME.pub with the public key in hexadecimal.
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

// Why a key was not read or made.
var (
	ErrKey        = errors.New("publisher key refused")
	ErrPassphrase = errors.New("wrong passphrase")
	ErrExists     = errors.New("there is a key already")
)

const (
	prefix = "LOCKET-PUBLISHER-KEY-1 "
	// Work factors of scrypt as powers of two, as package keyring has them.
	scryptFactor = 15
	scryptCap    = 18
	maxFile      = 8 << 10
)

// Create makes a key and writes it to path, and its public half to path.pub.
// An empty passphrase leaves it unwrapped. Nothing is written over: ErrExists,
// where either is there. What fails leaves neither.
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
	public := path + ".pub" // first: without the key it says nothing, and the key without it would be half done
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

// writeNew writes a file that is not there yet, whole or not at all.
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

// Read reads a key; ask is called for the passphrase where there is one. A
// file without a passphrase that others may read is refused, where the file's mode
// says so: on Windows it does not.
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

// openToOthers reports whether a file's mode lets others than its owner read or
// write it. On Windows every file that can be written has 0666.
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
