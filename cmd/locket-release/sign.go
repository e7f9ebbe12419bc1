package main

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aead.dev/minisign"
)

// checksums is the file that is signed. It has a line for each other file, in the format of
// sha256sum.
const checksums = "SHA256SUMS"

// passwordFile is the environment variable that names the file with a key's password.
const passwordFile = "LOCKET_RELEASE_PASSWORD_FILE"

// signer signs with minisign (jedisct1.github.io/minisign). It signs the bytes and not their hash,
// so that OpenSSL can verify the signature, too.
type signer struct{ key minisign.PrivateKey }

func password() (string, error) {
	file := os.Getenv(passwordFile)
	if file == "" {
		return "", fmt.Errorf("%s is not set: the file with the key's password", passwordFile)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	p := strings.TrimRight(string(b), "\r\n")
	if p == "" {
		return "", fmt.Errorf("%s is empty", file)
	}
	return p, nil
}

// loadSigner opens the key in a file. It returns nil if there is no file. It refuses a key whose
// public half is not the one in the source, because users verify with that.
func loadSigner(file, public string) (*signer, error) {
	if file == "" {
		return nil, nil
	}
	p, err := password()
	if err != nil {
		return nil, err
	}
	key, err := minisign.PrivateKeyFromFile(p, file)
	if err != nil {
		return nil, fmt.Errorf("--key %s: %w; --new-key makes another one, whose public half must then become %s", file, err, publicKey)
	}
	want, err := minisign.PublicKeyFromFile(public)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", publicKey, err)
	}
	if !want.Equal(key.Public()) {
		return nil, fmt.Errorf("--key %s: its public half is not %s: nobody could verify what it signs. If the other key is lost, commit the file %s.pub as %s, and its line in docs/install.md", file, publicKey, file, publicKey)
	}
	return &signer{key}, nil
}

// makeKey makes a key with a password, writes its public half to FILE.pub, and says what to do with
// them.
func makeKey(file string, say io.Writer) error {
	p, err := password()
	if err != nil {
		return err
	}
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	sealed, err := minisign.EncryptKey(p, private)
	if err != nil {
		return err
	}
	text, err := public.MarshalText()
	if err != nil {
		return err
	}
	if err := writeNew(file, sealed, 0o600); err != nil {
		return err
	}
	if err := writeNew(file+".pub", append(text, '\n'), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(say, `%s is the key, and %s.pub its public half. Before a release is signed with it:
  1. commit the public half as %s
  2. put its second line into docs/install.md, in place of the one after "minisign -P"
  3. keep the key and its password in a safe place outside of the repository
Releases that another key signed can be verified with the page of their own tag.
`, file, file, publicKey)
	return nil
}

// writeNew makes a file that must not exist.
func writeNew(file string, b []byte, mode os.FileMode) (err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(b)
	return err
}

// sums writes the checksums of everything, and signs them.
func (r *making) sums(sign *signer) error {
	var text strings.Builder
	for _, name := range slices.Sorted(slices.Values(r.made)) {
		sum, err := sha256File(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, name)
	}
	b := []byte(text.String())
	if err := writeNew(filepath.Join(r.out, checksums), b, 0o644); err != nil || sign == nil {
		return err
	}
	signature := minisign.SignWithComments(sign.key, b, "Locket "+r.version, "signature of Locket's releases; the key is docs/release.pub")
	return writeNew(filepath.Join(r.out, checksums+".minisig"), append(signature, '\n'), 0o644)
}

func sha256File(path string) (sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
