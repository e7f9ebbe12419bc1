package wasm

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"github.com/locket-dev/locket/wasm/abi"
)

// Capability is a right beyond answering to the text, sound, grey picture or reading of one event.
type Capability string

// The capabilities. There are no others, and a plugin has none by default.
const (
	CapContext Capability = "context" // sees up to 8 earlier turns of the session
	CapState   Capability = "state"   // gets back what it returned for the stream's previous event
	CapRGB     Capability = "rgb"     // sees photos in colour
	// CapMemories shows memories that are relevant to the event, of the types in the manifest's
	// Memories.
	CapMemories Capability = "memories"
	CapVault    Capability = "vault"  // proposes candidates of type vault
	CapRedact   Capability = "redact" // redacts spans of texts
	CapDerive   Capability = "derive" // cuts utterances from sound
	CapLog      Capability = "log"    // imports locket.log
	CapConfig   Capability = "config" // imports locket.config
	CapNow      Capability = "now"    // imports locket.now
)

var capabilities = []Capability{CapContext, CapState, CapRGB, CapVault, CapRedact, CapDerive, CapLog, CapConfig, CapNow, CapMemories}

var eventKinds = []string{"text", "utterance", "photo", "audio", "location", "sensor", "button"}

var candidateTypes = []string{"core", "episodic", "semantic", "procedural", "resource", "vault"}

// Kinds returns the kinds of event that a plugin may ask for.
func Kinds() []string { return slices.Clone(eventKinds) }

// Capabilities returns all that a plugin may ask for.
func Capabilities() []Capability { return slices.Clone(capabilities) }

// maxTitle is the greatest length, in bytes, of a title and of a licence: a line.
const maxTitle = 120

// OnFault says what happens to a plugin's events while it is disabled by faults.
type OnFault string

// The choices. In either case the other plugins continue.
const (
	FaultSkip OnFault = "skip" // they continue without it
	FaultWait OnFault = "wait" // they are kept, and passed to it once it is enabled again
)

// Times says how the times of a plugin's candidates are meant.
type Times string

// TimesInstant are instants, and the default. TimesLocal are wall clock times, as if the event's
// offset applied: the host finds the offset of the day.
const (
	TimesInstant Times = "instant"
	TimesLocal   Times = "local"
)

// Waits reports whether events are kept for the plugin while it is disabled.
func (m *Manifest) Waits() bool { return m.OnFault == FaultWait }

// Manifest says who a plugin is, what it receives, and what it may answer. As a file it is TOML.
type Manifest struct {
	ID           string       `toml:"id"`           // "publisher/name" or "name": a-z, 0-9, - and _
	Version      string       `toml:"version"`      // "1.2.3"
	ABI          int          `toml:"abi"`          // version of the contract: 1
	Title        string       `toml:"title"`        // for a person, one line
	Licence      string       `toml:"licence"`      // SPDX
	Kinds        []string     `toml:"kinds"`        // kinds of event
	Types        []string     `toml:"types"`        // types of candidates that it may propose
	Capabilities []Capability `toml:"capabilities"` // none by default
	Memories     []string     `toml:"memories"`     // types of memory that it is shown, with the capability "memories"; not vault
	Side         int          `toml:"side"`         // pixels of the longer side to which its photos are scaled; 0: as decoded, at most 640
	Stage        int          `toml:"stage"`        // plugins are called in this order, 0 to 100, then by ID
	OnFault      OnFault      `toml:"on_fault"`     // what happens to its events while it is disabled; empty: skip
	Times        Times        `toml:"times"`        // of its candidates' times; empty: instant
	Limits       Limits       `toml:"limits"`
	SHA256       string       `toml:"sha256"`    // SHA-256 of the module, hexadecimal; empty: not pinned
	Publisher    string       `toml:"publisher"` // Ed25519 public key, hexadecimal; empty: not signed

	raw      []byte // the parsed bytes, which a signature covers
	verified bool
}

// Limits of one plugin. Zero means the contract's default.
type Limits struct {
	MemoryMiB  int   `toml:"memory_mib"`
	Fuel       int64 `toml:"fuel"`    // of one call
	TimeMS     int   `toml:"time_ms"` // of one call, where wazero compiles
	OutputKiB  int   `toml:"output_kib"`
	Candidates int   `toml:"candidates"`
}

// OrDefault returns l with the contract's defaults for what is not set.
func (l Limits) OrDefault() Limits {
	or(&l.MemoryMiB, abi.DefaultMemory>>20)
	or(&l.Fuel, abi.DefaultFuel)
	or(&l.TimeMS, abi.DefaultTime)
	or(&l.OutputKiB, abi.MaxOutput>>10)
	or(&l.Candidates, abi.MaxCandidates)
	return l
}

func or[T int | int64](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}

// Effective returns the limits with the contract's defaults filled in.
func (m *Manifest) Effective() Limits { return m.Limits.OrDefault() }

// Time returns TimeMS as a duration.
func (l Limits) Time() time.Duration { return time.Duration(l.TimeMS) * time.Millisecond }

// preRelease is one part of a version's suffix after the dash (semver 2.0, 9): a number without
// leading zeros, or a word.
const preRelease = `(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)`

// maxVersion is the greatest length of a version, in bytes.
const maxVersion = 32

var (
	idForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}(/[a-z0-9][a-z0-9_-]{0,62})?$`)
	// Only versions that semver can order: any other would count as older than all of them.
	versionForm = regexp.MustCompile(`^[0-9]{1,6}\.[0-9]{1,6}\.[0-9]{1,6}(-` + preRelease + `(\.` + preRelease + `)*)?$`)
	hexForm     = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// MaxManifest is the greatest size of a manifest, in bytes.
const MaxManifest = 64 << 10

// ParseManifest reads a plugin.toml. An unknown key is an error with its line; so is a word that is
// not in the contract. Errors wrap ErrManifest.
func ParseManifest(b []byte) (Manifest, error) {
	var m Manifest
	if len(b) > MaxManifest {
		return m, fmt.Errorf("%w: %d bytes, at most %d", ErrManifest, len(b), MaxManifest)
	}
	err := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields().Decode(&m)
	var unknown *toml.StrictMissingError
	var broken *toml.DecodeError
	switch {
	case errors.As(err, &unknown) && len(unknown.Errors) > 0:
		line, _ := unknown.Errors[0].Position()
		return m, fmt.Errorf("%w: line %d: unknown key %q", ErrManifest, line, strings.Join(unknown.Errors[0].Key(), "."))
	case errors.As(err, &broken):
		line, _ := broken.Position()
		return m, fmt.Errorf("%w: line %d: %v", ErrManifest, line, broken)
	case err != nil:
		return m, fmt.Errorf("%w: %v", ErrManifest, err)
	}
	if err := m.Check(); err != nil {
		return m, err
	}
	m.raw = bytes.Clone(b)
	return m, nil
}

// Check returns an error if a host can't use the manifest.
func (m *Manifest) Check() error {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrManifest}, a...)...)
	}
	switch {
	case !idForm.MatchString(m.ID):
		return bad("id %q: want name or publisher/name in a-z, 0-9, - and _", m.ID)
	case len(m.Version) > maxVersion || !versionForm.MatchString(m.Version):
		return bad("version %q: want three numbers, as 1.2.3, and perhaps -rc.1", m.Version)
	case m.ABI != abi.Version:
		return bad("abi %d: this host speaks %d", m.ABI, abi.Version)
	case !aLine(m.Title):
		return bad("title %q: want one line of at most %d bytes, without control characters", m.Title, maxTitle)
	case !aLine(m.Licence):
		return bad("licence %q: want an SPDX identifier of at most %d bytes", m.Licence, maxTitle)
	case len(m.Kinds) == 0:
		return bad("kinds: empty: the plugin would get no events")
	case m.Side != 0 && m.Side < MinSide:
		return bad("side %d: want at least %d pixels", m.Side, MinSide)
	case m.Stage < 0 || m.Stage > 100:
		return bad("stage %d: want 0 to 100", m.Stage)
	case m.OnFault != "" && m.OnFault != FaultSkip && m.OnFault != FaultWait:
		return bad("on_fault %q: want skip or wait", m.OnFault)
	case m.Times != "" && m.Times != TimesInstant && m.Times != TimesLocal:
		return bad("times %q: want instant or local", m.Times)
	case m.SHA256 != "" && !hexForm.MatchString(m.SHA256):
		return bad("sha256: want 64 hexadecimal digits")
	case m.Publisher != "" && !hexForm.MatchString(m.Publisher):
		return bad("publisher: want 64 hexadecimal digits")
	case m.Publisher != "" && m.SHA256 == "":
		return bad("sha256: missing: a signed manifest has to name its module")
	}
	if err := words("kinds", m.Kinds, eventKinds); err != nil {
		return err
	}
	if err := words("types", m.Types, candidateTypes); err != nil {
		return err
	}
	if err := words("capabilities", m.Capabilities, capabilities); err != nil {
		return err
	}
	if err := words("memories", m.Memories, candidateTypes); err != nil {
		return err
	}
	switch {
	case slices.Contains(m.Memories, "vault"):
		return bad("memories: vault memories are shown to no plugin")
	case (len(m.Memories) > 0) != m.Has(CapMemories):
		return bad("memories: goes together with the capability memories")
	}
	if slices.Contains(m.Types, "vault") != m.Has(CapVault) {
		return bad("types: vault goes together with the capability vault")
	}
	for _, l := range []struct {
		name    string
		v, most int64
	}{
		{"memory_mib", int64(m.Limits.MemoryMiB), abi.MostMemory >> 20},
		{"fuel", m.Limits.Fuel, abi.MostFuel},
		{"time_ms", int64(m.Limits.TimeMS), abi.MostTime},
		{"output_kib", int64(m.Limits.OutputKiB), abi.MaxOutput >> 10},
		{"candidates", int64(m.Limits.Candidates), abi.MaxCandidates},
	} {
		if l.v < 0 || l.v > l.most {
			return bad("limits.%s %d: want 1 to %d, or nothing", l.name, l.v, l.most)
		}
	}
	return nil
}

// aLine reports whether a text can be displayed unchanged: a terminal obeys control characters, and
// characters that change the direction make a text look like another.
func aLine(s string) bool {
	return len(s) <= maxTitle && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsPrint(r) // false for controls, formats and spaces other than U+0020
	})
}

func words[T ~string](field string, list, known []T) error {
	for i, w := range list {
		switch {
		case !slices.Contains(known, w):
			return fmt.Errorf("%w: %s: %q is not known: there are %v", ErrManifest, field, w, known)
		case slices.Contains(list[:i], w):
			return fmt.Errorf("%w: %s: %q twice", ErrManifest, field, w)
		}
	}
	return nil
}

// Has reports whether the capability is granted.
func (m *Manifest) Has(c Capability) bool { return slices.Contains(m.Capabilities, c) }

// Takes reports whether the plugin is to be called for events of this kind.
func (m *Manifest) Takes(kind string) bool { return slices.Contains(m.Kinds, kind) }

// SignatureDomain precedes the manifest's bytes in what is signed, with a zero byte in between.
const SignatureDomain = "locket-plugin-manifest-v1"

func signed(manifest []byte) []byte {
	return append([]byte(SignatureDomain+"\x00"), manifest...)
}

// SignManifest signs the bytes of a plugin.toml. It has to name the public half of key as its
// publisher, and the module's SHA-256.
func SignManifest(manifest []byte, key ed25519.PrivateKey) ([]byte, error) {
	m, err := ParseManifest(manifest)
	if err != nil {
		return nil, err
	}
	if m.Publisher != hex.EncodeToString(key.Public().(ed25519.PublicKey)) {
		return nil, fmt.Errorf("%w: the manifest names another publisher", ErrSignature)
	}
	return ed25519.Sign(key, signed(manifest)), nil
}

// Verify checks a signature over the manifest as it was parsed. Until then, a manifest that names a
// publisher can't be loaded. Whether the publisher is trusted is for the caller to decide.
func (m *Manifest) Verify(signature []byte) error {
	key, err := hex.DecodeString(m.Publisher)
	if err != nil || len(key) != ed25519.PublicKeySize || m.raw == nil {
		return fmt.Errorf("%w: the manifest names no publisher", ErrSignature)
	}
	if !ed25519.Verify(key, signed(m.raw), signature) {
		return fmt.Errorf("%w: it is not the publisher's over this manifest", ErrSignature)
	}
	// The signature covers what was parsed, and not later changes.
	again, err := ParseManifest(m.raw)
	if err != nil {
		return err
	}
	*m = again
	m.verified = true
	return nil
}
