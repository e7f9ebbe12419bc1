// Package bundle is the format in which a plugin is distributed: the manifest, the publisher's
// signature over it, and the module, in one file NAME.locket-plugin or in a folder. docs/wasm.md
// describes it. What is read here comes from strangers: it is not written anywhere, and limited in
// size.
package bundle

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
)

// ErrBundle wraps every error about the container; errors about the manifest, the signature or the
// module wrap those of package wasm.
var ErrBundle = errors.New("plugin file refused")

// Names of a bundle's entries. There are no others.
const (
	ManifestName  = "plugin.toml"
	SignatureName = "plugin.sig"
	ModuleName    = "plugin.wasm"
	ReadmeName    = "README.md"
	LicenceName   = "LICENSE"
)

// MaxText is the largest README or licence, in bytes.
const MaxText = 256 << 10

// MaxSize is the largest bundle file, in bytes: all entries at their largest, uncompressed, and the
// headers.
const MaxSize = abi.MaxModule + wasm.MaxManifest + 2*MaxText + 16<<10

// most is the largest size of each entry, in bytes, and names all entries in the order in which
// they are written.
var most = []struct {
	name string
	size int64
}{
	{ManifestName, wasm.MaxManifest},
	{SignatureName, 2*ed25519.SignatureSize + 1},
	{ModuleName, abi.MaxModule},
	{ReadmeName, MaxText},
	{LicenceName, MaxText},
}

// Bundle holds the parts of a plugin, as bytes.
type Bundle struct {
	Manifest  []byte // plugin.toml, as signed
	Signature []byte // 64 bytes; nil: not signed
	Module    []byte
	Readme    []byte // may be nil
	Licence   []byte // may be nil
}

func (b *Bundle) part(name string) *[]byte {
	switch name {
	case ManifestName:
		return &b.Manifest
	case SignatureName:
		return &b.Signature
	case ModuleName:
		return &b.Module
	case ReadmeName:
		return &b.Readme
	case LicenceName:
		return &b.Licence
	}
	return nil
}

// Open parses the manifest and checks it: the signature must be its publisher's, and the module the
// one that it names. Whether the publisher is trusted is decided by package trust. The manifest of
// an unsigned bundle is returned with the module's hash filled in.
func (b *Bundle) Open() (wasm.Manifest, error) {
	m, err := wasm.ParseManifest(b.Manifest)
	if err != nil {
		return m, err
	}
	switch {
	case m.Publisher == "" && len(b.Signature) > 0:
		return m, fmt.Errorf("%w: there is a signature, and the manifest names no publisher", wasm.ErrSignature)
	case m.Publisher != "" && len(b.Signature) == 0:
		return m, fmt.Errorf("%w: the manifest names a publisher, and there is no signature", wasm.ErrSignature)
	case m.Publisher != "":
		if err := m.Verify(b.Signature); err != nil {
			return m, err
		}
	}
	if len(b.Module) > abi.MaxModule {
		return m, fmt.Errorf("%w: %d bytes, at most %d", wasm.ErrModule, len(b.Module), abi.MaxModule)
	}
	sum := sha256.Sum256(b.Module)
	have := hex.EncodeToString(sum[:])
	if m.SHA256 != "" && m.SHA256 != have {
		return m, fmt.Errorf("%w: the manifest of %s is for another module: it names sha256 %s, this one has %s", wasm.ErrHash, m.ID, m.SHA256, have)
	}
	m.SHA256 = have
	return m, nil
}

// Sign makes a bundle from a module and an author's manifest, which names neither publisher nor
// module. Both are written into the manifest's first lines, and the whole is signed.
func Sign(manifest, module []byte, key ed25519.PrivateKey) (Bundle, error) {
	m, err := wasm.ParseManifest(manifest)
	if err != nil {
		return Bundle{}, err
	}
	switch {
	case m.SHA256 != "":
		return Bundle{}, fmt.Errorf("%w: sha256 is set: leave it out, signing sets it", wasm.ErrManifest)
	case m.Publisher != "":
		return Bundle{}, fmt.Errorf("%w: publisher is set: leave it out, signing sets it", wasm.ErrManifest)
	case m.Title == "":
		return Bundle{}, fmt.Errorf("%w: title is missing: what the plugin does, in a few words", wasm.ErrManifest)
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "publisher = %q\nsha256 = \"%x\"\n", hex.EncodeToString(key.Public().(ed25519.PublicKey)), sha256.Sum256(module))
	text.Write(manifest)
	sig, err := wasm.SignManifest(text.Bytes(), key)
	if err != nil {
		return Bundle{}, err
	}
	return Bundle{Manifest: text.Bytes(), Signature: sig, Module: module}, nil
}

// formatSignature formats a signature for plugin.sig: hexadecimal, and a newline.
func formatSignature(sig []byte) []byte { return []byte(hex.EncodeToString(sig) + "\n") }

func parseSignature(b []byte) ([]byte, error) {
	sig, err := hex.DecodeString(strings.TrimSuffix(string(b), "\n"))
	if err != nil || len(sig) != ed25519.SignatureSize {
		return nil, fmt.Errorf("%w: %s: want %d hexadecimal digits", ErrBundle, SignatureName, 2*ed25519.SignatureSize)
	}
	return sig, nil
}

// check returns an error if something is missing in a bundle.
func (b *Bundle) check() error {
	switch {
	case len(b.Manifest) == 0:
		return fmt.Errorf("%w: it has no %s", ErrBundle, ManifestName)
	case len(b.Module) == 0:
		return fmt.Errorf("%w: it has no %s", ErrBundle, ModuleName)
	}
	return nil
}
