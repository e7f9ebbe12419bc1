package installed

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/trust"
)

// Reasons for refusing a package, besides the errors of package wasm. A person may
// override both.
var (
	// ErrNotAgreed: the plugin asks for more than the wearer agreed to.
	ErrNotAgreed = errors.New("the wearer has not agreed to it")
	// ErrRefused: a different publisher's key, an older version, or no signature.
	ErrRefused = errors.New("plugin refused")
)

// Package is what is installed: three files, and the wearer's decisions.
type Package struct {
	Manifest  []byte // plugin.toml, as it was signed
	Signature []byte // Ed25519; nil: not signed
	Module    []byte
	Agreed    []string // the agreed part of trust.Asks
	Unsigned  bool     // the wearer accepts an unsigned package
	Lookalike bool     // the wearer accepts an id that looks like another plugin's
	Settings  map[string]string
}

// Admit decides whether a package may be installed in a home. The returned manifest
// is checked and verified; the plan is what the wearer has to be shown. Admit is
// the gate for every caller: the command shows the plan and asks, but Admit does
// not rely on that.
func Admit(p *Package, h trust.Home) (m wasm.Manifest, plan trust.Plan, err error) {
	if m, plan, err = Plan(p, h); err != nil {
		return m, plan, err
	}
	if sum := hash(p.Module); m.SHA256 != "" && m.SHA256 != sum {
		return m, plan, fmt.Errorf("%w: %s: the module has sha256 %s", wasm.ErrHash, m.ID, sum)
	}
	var missing []string
	for _, a := range plan.Asks {
		if !slices.Contains(h.Agreed[m.ID], a) && !slices.Contains(p.Agreed, a) {
			missing = append(missing, a)
		}
	}
	if len(missing) > 0 {
		return m, plan, fmt.Errorf("%w: %s %s", ErrNotAgreed, m.ID, strings.Join(missing, ", "))
	}
	return m, plan, nil
}

// Plan returns what installing a package would do. The module may be missing if the
// manifest has its hash.
func Plan(p *Package, h trust.Home) (m wasm.Manifest, plan trust.Plan, err error) {
	if m, err = parse(p.Manifest, p.Signature); err != nil {
		return m, plan, err
	}
	named := m
	if named.SHA256 == "" {
		named.SHA256 = hash(p.Module)
	}
	plan, err = trust.Propose(&named, h, trust.Options{Unsigned: p.Unsigned, Lookalike: p.Lookalike})
	if err != nil {
		return m, plan, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return m, plan, nil
}

// parse parses a manifest, and checks its signature if it names a publisher.
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
