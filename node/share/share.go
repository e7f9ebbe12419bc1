// Package share is the owner's side of sharing, and a reader's side of it.
//
// The words:
//
//   - A projection is a space of its own with redacted copies of memories, made
//     for the readers that the owner names. A copy has an id of its own, from
//     which nobody tells the original's.
//   - A feed is a space of its own that carries for a worker what a narrower
//     grant covers, as it is; what the worker says there comes back to the
//     wearer's memories under the rules for its rank.
//   - Criteria say what belongs in one; a Redaction what is taken out of it.
//   - A record is what the owner remembers of a space that was made here.
//   - The sharing key is a secret of this device, from which all keys of its
//     projections and feeds follow. Its root founds them, and is their account
//     at a relay: neither the wearer's root nor another device's.
//   - A link names a space to a reader: relay, space, hash of its first entry.
//     It is no secret; it opens nothing without the reader's key.
//
// Each space has a store in a folder of its own, and is a replica like any
// other: what is sent, kept back after a crash, and taken away again is done
// by packages ledger and replica.
package share

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

var (
	// ErrNotShared: the relay does not serve the space to this key. The key was
	// never let in, or was removed; the relay does not say which.
	ErrNotShared = errors.New("this is not shared with this key, or not any more")
	// ErrChanged: what would be shared is not what was shown.
	ErrChanged = errors.New("what would be shared has changed since it was shown")
	// ErrNothing: nothing fits the criteria.
	ErrNothing = errors.New("no memory fits that may be shared")
	// ErrRevoked: the space is there no more.
	ErrRevoked = errors.New("it was revoked")
	// ErrNoRelay: there is no relay to share over.
	ErrNoRelay = errors.New("no relay is configured (sync.relay)")
)

// MaxCopies is how many memories a projection has at most.
const MaxCopies = 500

// Criteria choose memories. At least one of Query, Types and Tags is set for a
// projection. What is in the vault never fits.
type Criteria struct {
	Query string             `json:"query,omitempty"`
	Types []memory.Type      `json:"types,omitempty"`
	Tags  []string           `json:"tags,omitempty"` // all of them
	Since time.Time          `json:"since,omitzero"` // learnt at or after
	Until time.Time          `json:"until,omitzero"` // learnt before
	Most  memory.Sensitivity `json:"most"`           // the most sensitive that fits
	Limit int                `json:"limit,omitempty"`
}

// Check finds criteria that can't be meant.
func (c *Criteria) Check() error {
	if strings.TrimSpace(c.Query) == "" && len(c.Types) == 0 && len(c.Tags) == 0 {
		return fmt.Errorf("%w: query, types or tags are needed: what is to be shared", memory.ErrInvalid)
	}
	for _, t := range c.Types {
		if t == memory.Vault || !slices.Contains(memory.Types[:], t) {
			return fmt.Errorf("%w: types: %q can't be shared", memory.ErrInvalid, t)
		}
	}
	if c.Most > memory.Secret {
		return fmt.Errorf("%w: sensitivity: %d", memory.ErrInvalid, c.Most)
	}
	if c.Limit < 0 || c.Limit > MaxCopies {
		return fmt.Errorf("%w: limit: %d, want 1 to %d", memory.ErrInvalid, c.Limit, MaxCopies)
	}
	return nil
}

// Fits reports whether a memory fits the criteria, apart from the query and the
// limit.
func (c *Criteria) Fits(m *memory.Memory) bool {
	switch {
	case m.State != memory.Active, m.Negates, m.Type == memory.Vault, m.Fields.Vault != nil, m.Sensitivity > c.Most:
		return false
	case len(c.Types) > 0 && !slices.Contains(c.Types, m.Type):
		return false
	case !c.Since.IsZero() && m.Learnt.Before(c.Since), !c.Until.IsZero() && !m.Learnt.Before(c.Until):
		return false
	}
	return !slices.ContainsFunc(c.Tags, func(t string) bool { return !slices.Contains(m.Tags, t) })
}

// Kind of a record.
type Kind string

// The kinds.
const (
	Projection Kind = "projection"
	Feed       Kind = "feed"
	bundle     Kind = "bundle" // for anybody who pays; never kept
)

// Party is one who was let in.
type Party struct {
	Name    string          `json:"name"`
	Member  memory.MemberID `json:"member"`
	Key     []byte          `json:"key"`   // Ed25519
	Added   time.Time       `json:"added"` // by this device's clock
	Removed time.Time       `json:"removed,omitzero"`
}

// Record is what is remembered of a space.
type Record struct {
	Space    memory.SpaceID `json:"space"`
	Kind     Kind           `json:"kind"`
	Title    string         `json:"title,omitempty"`
	Created  time.Time      `json:"created"`
	Expires  time.Time      `json:"expires,omitzero"` // zero: when it is revoked
	Criteria Criteria       `json:"criteria"`
	Redact   Redaction      `json:"redact,omitzero"`
	Purpose  string         `json:"purpose,omitempty"` // as the policy is told
	Grant    delta.Grant    `json:"grant,omitzero"`    // of a feed
	Audio    bool           `json:"audio,omitempty"`
	Parties  []Party        `json:"parties"`
	Genesis  envelope.Hash  `json:"genesis"`
	Relay    string         `json:"relay"`
	Copies   int            `json:"copies"`
	Updated  time.Time      `json:"updated,omitzero"` // when it was filled last
	Revoking bool           `json:"revoking,omitempty"`
	Revoked  time.Time      `json:"revoked,omitzero"` // zero: it is there
}

// Link is what the parties are given.
func (r *Record) Link() Link {
	return Link{Relay: r.Relay, Welcome: envelope.Welcome{Space: r.Space, Genesis: r.Genesis}}
}

// live are the parties that are in.
func (r *Record) live() []Party {
	return slices.DeleteFunc(slices.Clone(r.Parties), func(p Party) bool { return !p.Removed.IsZero() })
}

// Link names a space to someone who was let in.
type Link struct {
	Relay string
	envelope.Welcome
}

// String is the relay's URL, "/#" and the text form of the welcome. Where it is
// opened in a browser, what follows the # is not sent.
func (l Link) String() string { return strings.TrimSuffix(l.Relay, "/") + "/#" + l.Welcome.String() }

// ParseLink reads what [Link.String] gives.
func ParseLink(s string) (Link, error) {
	at, rest, ok := strings.Cut(strings.Join(strings.Fields(s), ""), "#")
	u, err := url.Parse(at)
	if !ok || err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
		return Link{}, fmt.Errorf("%w: link: want https://RELAY/#%s…", memory.ErrInvalid, envelope.WelcomePrefix)
	}
	w, err := envelope.ParseWelcome(rest)
	if err != nil {
		return Link{}, fmt.Errorf("%w: link: %v", memory.ErrInvalid, err)
	}
	return Link{Relay: u.Scheme + "://" + u.Host, Welcome: w}, nil
}
