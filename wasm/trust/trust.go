// Package trust decides whether a plugin may be installed on a node, and says in plain words what
// it will be able to do there.
//
// A publisher is an Ed25519 key. It is pinned when a plugin with its id, or with its "publisher/"
// prefix, is installed for the first time, and stays pinned when the plugin is removed. A step is
// what an installation would do: new, upgrade or again. A plan is a step with everything that a
// person has to know before agreeing.
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

// Reasons for which a plugin may not be installed.
var (
	ErrPublisher = errors.New("another publisher's key")
	ErrDowngrade = errors.New("older than what is, or was, installed")
	ErrChanged   = errors.New("same version, other contents")
	ErrReserved  = errors.New("a built-in plugin has this id")
	ErrLookalike = errors.New("looks like another plugin's id")
	ErrUnsigned  = errors.New("nobody has signed it")
)

// Pin is what is remembered about a plugin, even after it is removed.
type Pin struct {
	Publisher string `json:"publisher"` // Ed25519 public key, hexadecimal; empty: installed unsigned
	Version   string `json:"version"`   // the highest installed version
	SHA256    string `json:"sha256"`    // hash of that version's module
}

// Step is what an installation would do.
type Step string

// The steps.
const (
	New     Step = "new"
	Upgrade Step = "upgrade"
	Again   Step = "again" // exactly the same version
)

// Plan is shown to a person before an installation.
type Plan struct {
	Step        Step     `json:"step"` // new, upgrade or again
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	Version     string   `json:"version"`
	From        string   `json:"from,omitempty"`        // the installed version, or the last one that was
	Publisher   string   `json:"publisher,omitempty"`   // empty: unsigned
	Fingerprint string   `json:"fingerprint,omitempty"` // of the publisher, to compare by eye
	Known       bool     `json:"known"`                 // something by this publisher was installed before
	Reads       []string `json:"reads"`                 // what it learns, a sentence each
	Writes      []string `json:"writes"`                // what it can do, a sentence each
	Added       []string `json:"added"`                 // those of both that were not agreed to before
	Asks        []string `json:"asks"`                  // the same rights as words, which an installation names as agreed
}

// Options are a person's choices in advance.
type Options struct {
	Unsigned  bool // an unsigned plugin may be installed
	Lookalike bool // an id that resembles another may be installed
}

// Home is what a node has.
type Home struct {
	Pins   map[string]Pin      // by plugin id
	Agreed map[string][]string // by id of an installed plugin: the rights that were agreed to
	Taken  []string            // ids of built-in plugins
}

// Propose describes what installing m, as bundle.Open returns it, would do. The error says why it
// is not allowed, and wraps one of the sentinels.
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

// samePublisher checks a plugin against the key to which its id, or its prefix, is pinned.
func samePublisher(m *wasm.Manifest, pins map[string]Pin) error {
	prefix, _, prefixed := strings.Cut(m.ID, "/")
	for _, id := range slices.Sorted(maps.Keys(pins)) {
		pin := pins[id]
		other, _, ok := strings.Cut(id, "/")
		if id != m.ID && !(prefixed && ok && other == prefix) || pin.Publisher == m.Publisher {
			continue
		}
		// A person who tried a plugin of their own unsigned may sign it later.
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

// Compare orders two versions as semver does: a pre-release is older than its release.
func Compare(a, b string) int { return semver.Compare("v"+canonical(a), "v"+canonical(b)) }

// canonical removes leading zeros, which a manifest may have, from a version.
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

// lookalike returns the id in list that a person could confuse with id.
func lookalike(id string, list []string) string {
	for _, other := range list {
		if other != id && skeleton(other) == skeleton(id) {
			return other
		}
	}
	return ""
}

// skeleton reduces an id to what a quick eye sees: similar letters and digits are merged,
// separators and repetitions removed (following the idea of UTS 39, for the few characters that an
// id may have).
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
