package keyring

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/locket-dev/locket/crypto/seal"
)

const keyFileLabel = "keyring key file"

type keyFileWrap struct{ path string }

func (keyFileWrap) kind() WrapKind { return WrapKeyFile }

func (w keyFileWrap) wrap(dir string, id RingID, kek *seal.Key) error {
	path := within(dir, w.path)
	key, err := readKeyFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key, err = newKeyFile(dir, path)
	}
	if err != nil {
		return fmt.Errorf("wrap by key file: %w", err)
	}
	defer key.Zero()
	if err := (&keyWrap{Path: w.path}).write(dir, WrapKeyFile, id, key, kek); err != nil {
		return fmt.Errorf("wrap by key file: %w", err)
	}
	return nil
}

func (w keyFileWrap) unwrap(dir string, id RingID) ([]byte, error) {
	k, err := readKeyWrap(dir, WrapKeyFile)
	if err != nil {
		return nil, err
	}
	path := cmp.Or(w.path, k.Path)
	key, err := readKeyFile(within(dir, path))
	if err != nil {
		return nil, err
	}
	defer key.Zero()
	return k.open(WrapKeyFile, id, key)
}

// within resolves a path relative to a ring's folder.
func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func newKeyFile(dir, path string) (*seal.Key, error) {
	k := seal.NewKey()
	defer k.Zero()
	b := k.Bytes()
	defer clear(b)
	text := append(hex.AppendEncode(nil, b), '\n')
	defer clear(text)
	err := writeFile(path, DefaultKeyFile, text)
	if err == nil && path == filepath.Join(dir, DefaultKeyFile) {
		err = writeSpare(dir, DefaultKeyFile, text)
	}
	if err != nil {
		return nil, err
	}
	return k.Derive(keyFileLabel), nil
}

func readKeyFile(path string) (*seal.Key, error) {
	text, err := readFile(path, DefaultKeyFile)
	if err != nil {
		return nil, err
	}
	defer clear(text)
	b, err := hex.DecodeString(strings.TrimSuffix(string(text), "\n"))
	if err != nil {
		return nil, damaged(path, "not 64 hexadecimal characters")
	}
	defer clear(b)
	k, err := seal.KeyFromBytes(b)
	if err != nil {
		return nil, damaged(path, "not 64 hexadecimal characters")
	}
	defer k.Zero()
	return k.Derive(keyFileLabel), nil
}
