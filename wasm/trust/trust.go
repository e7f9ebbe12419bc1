// Package trust decides whether a plugin may come onto a node, and says in
// plain words what it will be able to do there.
//
// A publisher is an Ed25519 key. It is pinned when a plugin of its id, or of
// its "publisher/" prefix, is installed for the first time, and stays pinned
// when the plugin is removed. A step is what an installation would do: new,
// upgrade or again. A plan is a step with all that a person has to know
// before saying yes.
package trust

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/locket-dev/locket/wasm"
)

// Why a plugin may not be installed.
var (
	ErrPublisher = errors.New("another publisher's key")
	ErrDowngrade = errors.New("older than what is, or was, installed")
	ErrChanged   = errors.New("same version, other contents")
	ErrReserved  = errors.New("a built-in plugin has this id")
	ErrLookalike = errors.New("looks like another plugin's id")
	ErrUnsigned  = errors.New("nobody has signed it")
)

// Pin is what is remembered of a plugin, also when it is removed.
type Pin struct {
	Publisher string `json:"publisher"` // Ed25519 public key, hexadecimal; empty: installed unsigned
	Version   string `json:"version"`   // the highest that was installed
	SHA256    string `json:"sha256"`    // of that version's module
}

// Step is what an installation would do.
type Step string

// The steps.
const (
	New     Step = "new"
	Upgrade Step = "upgrade"
	Again   Step = "again" // the very same version
)

// Plan is what a person is shown before an installation.
type Plan struct {
	Step        Step     `json:"step"` // new, upgrade or again
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	Version     string   `json:"version"`
	From        string   `json:"from,omitempty"`        // the version that is there, or was there last
	Publisher   string   `json:"publisher,omitempty"`   // empty: unsigned
	Fingerprint string   `json:"fingerprint,omitempty"` // of the publisher, to compare by eye
	Known       bool     `json:"known"`                 // something of this publisher was installed before
	Reads       []string `json:"reads"`                 // what it gets to know, a sentence each
	Writes      []string `json:"writes"`                // what it can bring about, a sentence each
	Added       []string `json:"added"`                 // of both, those that were not agreed to before
	Asks        []string `json:"asks"`                  // the same rights as words, which an installation names as agreed to
}

// Options are what a person said beforehand.
type Options struct {
	Unsigned  bool // an unsigned plugin may be installed
	Lookalike bool // an id that looks like another may be installed
}

// Home is what is on a node.
type Home struct {
	Pins   map[string]Pin      // by plugin id
	Agreed map[string][]string // by id of what is installed: the asks that were agreed to
	Taken  []string            // ids of built-in plugins
}

// Propose says what installing m, as bundle.Open gives it, would do. The
// error says why it may not be done, and wraps one of the sentinels.
func Propose(m *wasm.Manifest, h Home, o Options) (Plan, error) {
	p := Plan{Step: New, ID: m.ID, Title: m.Title, Version: m.Version, Publisher: m.Publisher, Fingerprint: Fingerprint(m.Publisher),
		Known: knows(m.Publisher, h.Pins), Reads: Reads(m), Writes: Writes(m), Added: []string{}, Asks: Asks(m)}
	if slices.Contains(h.Taken, m.ID) {
		return p, fmt.Errorf("plugin %s: %w", m.ID, ErrReserved)
	}
	if m.Publisher == "" && !o.Unsigned {
		return p, fmt.Errorf("plugin %s: %w", m.ID, ErrUnsigned)
	}
	if err := samePublisher(m, h.Pins); err != nil {
		return p, err
	}
	pin, known := h.Pins[m.ID]
	if !known && !o.Lookalike {
		if like := lookalike(m.ID, slices.Concat(slices.Sorted(maps.Keys(h.Pins)), h.Taken)); like != "" {
			return p, fmt.Errorf("plugin %s: %w: %s", m.ID, ErrLookalike, like)
		}
	}
	agreed, there := h.Agreed[m.ID]
	p.Added = added(m, agreed)
	if !known {
		return p, nil
	}
	p.From = pin.Version
	switch c := Compare(m.Version, pin.Version); {
	case c < 0:
		return p, fmt.Errorf("plugin %s %s: %w: %s", m.ID, m.Version, ErrDowngrade, pin.Version)
	case c == 0 && m.SHA256 != pin.SHA256 && m.Publisher != "":
		return p, fmt.Errorf("plugin %s %s: %w", m.ID, m.Version, ErrChanged)
	case there && c == 0 && m.SHA256 == pin.SHA256:
		p.Step = Again
	case there:
		p.Step = Upgrade
	}
	return p, nil
}

// samePublisher holds a plugin to the key that its id, or its prefix, is
// pinned to.
func samePublisher(m *wasm.Manifest, pins map[string]Pin) error {
	prefix, _, prefixed := strings.Cut(m.ID, "/")
	for _, id := range slices.Sorted(maps.Keys(pins)) {
		pin := pins[id]
		other, _, ok := strings.Cut(id, "/")
		if id != m.ID && !(prefixed && ok && other == prefix) || pin.Publisher == m.Publisher {
			continue
		}
		// Whoever tried a plugin of their own unsigned may sign it later.
		if id == m.ID && pin.Publisher == "" || id != m.ID && (pin.Publisher == "" || m.Publisher == "") {
			continue
		}
		return fmt.Errorf("plugin %s: %w: %s is pinned to %s, and this one is signed by %s", m.ID, ErrPublisher, id, orNobody(pin.Publisher), orNobody(m.Publisher))
	}
	return nil
}

func orNobody(key string) string {
	if key == "" {
		return "nobody"
	}
	return Fingerprint(key)
}

func knows(publisher string, pins map[string]Pin) bool {
	for _, p := range pins {
		if publisher != "" && p.Publisher == publisher {
			return true
		}
	}
	return false
}

// Compare orders two versions as semver does: a pre-release is older than its
// release.
func Compare(a, b string) int { return semver.Compare("v"+canonical(a), "v"+canonical(b)) }

// canonical takes leading zeros, which a manifest may have, out of a version.
func canonical(v string) string {
	number, pre, dashed := strings.Cut(v, "-")
	parts := strings.Split(number, ".")
	for i, p := range parts {
		if parts[i] = strings.TrimLeft(p, "0"); parts[i] == "" {
			parts[i] = "0"
		}
	}
	if dashed {
		pre = "-" + pre
	}
	return strings.Join(parts, ".") + pre
}

// Fingerprint is the first 128 bits of a publisher's key, in groups of four
// digits; "" for none.
func Fingerprint(publisher string) string {
	b, err := hex.DecodeString(publisher)
	if err != nil || len(b) < 16 {
		return ""
	}
	var groups []string
	for i := 0; i < 16; i += 2 {
		groups = append(groups, hex.EncodeToString(b[i:i+2]))
	}
	return strings.Join(groups, " ")
}

// lookalike gives the id of list that a person could take id for.
func lookalike(id string, list []string) string {
	for _, other := range list {
		if other != id && skeleton(other) == skeleton(id) {
			return other
		}
	}
	return ""
}

// skeleton is what remains of an id for a quick eye: letters and digits that
// look alike are one, separators and repetitions are none (after the idea of
// UTS 39, for the few characters that an id may have).
func skeleton(id string) string {
	s := strings.NewReplacer("rn", "m", "vv", "w", "cl", "d", "0", "o", "1", "l", "i", "l", "5", "s", "2", "z", "8", "b", "-", "", "_", "").Replace(id)
	var b strings.Builder
	for i := range len(s) {
		if i == 0 || s[i] != s[i-1] {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
