package installed

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm"
)

// Why a package is not let in, besides the errors of package wasm. Both wait
// for a person to say something else.
var (
	// ErrNotAgreed: it asks for more than the wearer agreed to.
	ErrNotAgreed = errors.New("the wearer has not agreed to it")
	// ErrRefused: another publisher's key, an older version, no signature.
	ErrRefused = errors.New("plugin refused")
)

// Package is what is installed: three files, and what the wearer said.
type Package struct {
	Manifest  []byte // plugin.toml, as it was signed
	Signature []byte // Ed25519; nil: nobody signed
	Module    []byte
	Agreed    []string // of Asks
	Unsigned  bool     // a package that nobody signed will do
	Settings  map[string]string
}

// Asks lists what a plugin wants to see and do, as words that a wearer agrees
// to: "sees text", "proposes vault", "may redact". More in a later version
// has to be agreed to again.
func Asks(m *wasm.Manifest) []string {
	var asks []string
	for _, k := range m.Kinds {
		asks = append(asks, "sees "+k)
	}
	for _, t := range m.Types {
		asks = append(asks, "proposes "+t)
	}
	for _, c := range m.Capabilities {
		asks = append(asks, "may "+string(c))
	}
	slices.Sort(asks)
	return slices.Compact(asks)
}

// Admit says whether a package may be installed where installed is what is
// there now of the same id, nil for nothing. The manifest that it gives is
// checked and verified. Whatever calls it, this is the gate: the command
// shows and asks, and is not trusted to have done so.
func Admit(p *Package, installed *Entry, version string) (m wasm.Manifest, err error) {
	if m, err = parse(p.Manifest, p.Signature); err != nil {
		return m, err
	}
	switch {
	case m.Publisher == "" && !p.Unsigned:
		return m, fmt.Errorf("%w: %s is not signed", ErrRefused, m.ID)
	case m.SHA256 != "" && m.SHA256 != hash(p.Module):
		return m, fmt.Errorf("%w: %s: the module has sha256 %s", wasm.ErrHash, m.ID, hash(p.Module))
	}
	var agreed []string
	if installed != nil {
		switch {
		case installed.Publisher != m.Publisher:
			return m, fmt.Errorf("%w: %s was installed from another publisher; remove it first", ErrRefused, m.ID)
		case older(m.Version, version):
			return m, fmt.Errorf("%w: %s %s is older than %s, which is installed", ErrRefused, m.ID, m.Version, version)
		}
		agreed = installed.Agreed
	}
	var missing []string
	for _, a := range Asks(&m) {
		if !slices.Contains(agreed, a) && !slices.Contains(p.Agreed, a) {
			missing = append(missing, a)
		}
	}
	if len(missing) > 0 {
		return m, fmt.Errorf("%w: %s %s", ErrNotAgreed, m.ID, strings.Join(missing, ", "))
	}
	return m, nil
}

// parse reads a manifest, and checks its signature where it names a publisher.
func parse(manifest, signature []byte) (wasm.Manifest, error) {
	m, err := wasm.ParseManifest(manifest)
	if err != nil {
		return m, fmt.Errorf("%w: %w", memory.ErrInvalid, err)
	}
	if m.Publisher == "" && signature == nil {
		return m, nil
	}
	if err := m.Verify(signature); err != nil {
		return m, fmt.Errorf("%w: %s: %w", ErrRefused, m.ID, err)
	}
	return m, nil
}

// older compares versions by their three numbers; what follows a dash is
// before the version without it (as Semantic Versioning 2.0.0, 11).
func older(a, b string) bool {
	an, ap, _ := strings.Cut(a, "-")
	bn, bp, _ := strings.Cut(b, "-")
	as, bs := strings.Split(an, "."), strings.Split(bn, ".")
	for i := range min(len(as), len(bs)) {
		x, _ := strconv.Atoi(as[i]) // the manifest's check has seen digits
		y, _ := strconv.Atoi(bs[i])
		if x != y {
			return x < y
		}
	}
	switch {
	case ap == "" || bp == "":
		return ap != "" && bp == ""
	default:
		return ap < bp
	}
}
