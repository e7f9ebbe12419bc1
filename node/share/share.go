// Package share has both sides of sharing: the owner's and a reader's.
//
// The words:
//
//   - A projection is a space with redacted copies of memories, for readers
//     whom the owner names. A copy has its own id, from which nobody can find
//     the original's.
//   - A feed is a space for a worker that has a narrower grant. It has the
//     memories and utterances of the grant without redaction. What the worker
//     says in it comes back to the wearer's memories, by the rules for the
//     worker's rank.
//   - Criteria say what belongs into a projection or feed. A Redaction says
//     what is removed from it.
//   - A record is what the owner stores about a space that was made here.
//   - The sharing key is a secret of this device. All keys of its projections
//     and feeds are derived from it. Its root founds these spaces and is their
//     account at a relay, independent of the wearer's root and of other
//     devices.
//   - A link names a space for a reader: relay, space, and hash of its first
//     entry. It is not secret, because nothing can be opened without the
//     reader's key.
//
// Each space has a store in its own folder and is a normal replica: packages
// journal and replica send, continue after a crash, and remove again.
package share

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

var (
	// ErrNotShared: the relay does not serve the space to this key. The key was never added,
	// or was removed; the relay does not say which.
	ErrNotShared = errors.New("this is not, or no longer, shared with this key")
	// ErrChanged: the preview and the present result differ.
	ErrChanged = errors.New("what would be shared has changed since it was shown")
	// ErrNothing: no memory fits the criteria.
	ErrNothing = errors.New("no memory fits that may be shared")
	// ErrRevoked: the space was deleted.
	ErrRevoked = errors.New("it was revoked")
	// ErrNoRelay: no relay is configured.
	ErrNoRelay = errors.New("no relay is configured (sync.relay)")
)

// MaxCopies is how many memories a projection has at most.
const MaxCopies = 500

// Criteria select memories. A projection needs at least one of Query, Types and
// Tags. The vault is never selected.
type Criteria struct {
	Query string             `json:"query,omitempty"`
	Types []memory.Type      `json:"types,omitempty"`
	Tags  []string           `json:"tags,omitempty"` // all of them
	Since time.Time          `json:"since,omitzero"` // learnt at or after
	Until time.Time          `json:"until,omitzero"` // learnt before
	Most  memory.Sensitivity `json:"most"`           // the highest sensitivity that is allowed
	Limit int                `json:"limit,omitempty"`
	// Without are memories that stay out, even if they are corrected. A memory that is made
	// later is not among them, even if it says the same.
	Without []memory.ID `json:"without,omitempty"`

	// onlyIDs restricts the choice to these memories; nil: all. Pseudonyms are not derived from
	// it.
	onlyIDs []memory.ID
	// visible restricts a share that an app made to what the app may see. It is nil if the wearer
	// made the share.
	visible func(*memory.Memory) bool
}

// Author is the app that made a share. The share never has more than the app may see.
type Author struct {
	App   string           `json:"app"`
	Key   string           `json:"key"`   // names the app's key in policy rules, see policy.KeyOf
	Scope serve.AppRequest `json:"scope"` // as of the time at which the share was made
}

// Check returns an error for invalid criteria.
func (c *Criteria) Check() error {
	if strings.TrimSpace(c.Query) == "" && len(c.Types) == 0 && len(c.Tags) == 0 {
		return fmt.Errorf("%w: query, types or tags are needed, to say what is shared", memory.ErrInvalid)
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
	if len(c.Without) > MaxCopies {
		return fmt.Errorf("%w: without: %d memories, at most %d", memory.ErrInvalid, len(c.Without), MaxCopies)
	}
	return nil
}

// Fits reports whether a memory fits the criteria, apart from the query and the
// limit.
func (c *Criteria) Fits(m *memory.Memory) bool {
	switch {
	case m.State != memory.Active, m.Negates, m.Type == memory.Vault, m.Fields.Vault != nil, m.Sensitivity > c.Most:
		return false
	case len(c.Types) > 0 && !slices.Contains(c.Types, m.Type), slices.Contains(c.Without, m.ID), c.onlyIDs != nil && !slices.Contains(c.onlyIDs, m.ID):
		return false
	case !c.Since.IsZero() && m.Learnt.Before(c.Since), !c.Until.IsZero() && !m.Learnt.Before(c.Until):
		return false
	}
	return !slices.ContainsFunc(c.Tags, func(t string) bool { return !slices.Contains(m.Tags, t) }) && (c.visible == nil || c.visible(m))
}

// Kind of a record.
type Kind string

// The kinds.
const (
	Projection Kind = "projection"
	Feed       Kind = "feed"
	bundle     Kind = "bundle"    // for anybody who pays; never stored
	community  Kind = "community" // for its members; never stored
)

// Party is a reader or worker that was added.
type Party struct {
	Name    string          `json:"name"`
	Member  memory.MemberID `json:"member"`
	Key     []byte          `json:"key"`   // Ed25519
	Added   time.Time       `json:"added"` // by this device's clock
	Removed time.Time       `json:"removed,omitzero"`
}

// Record is what the owner stores about a space.
type Record struct {
	Space    memory.SpaceID `json:"space"`
	Kind     Kind           `json:"kind"`
	Title    string         `json:"title,omitempty"`
	Created  time.Time      `json:"created"`
	Expires  time.Time      `json:"expires,omitzero"` // zero: when it is revoked
	Criteria Criteria       `json:"criteria"`
	Redact   Redaction      `json:"redact,omitzero"`
	Purpose  string         `json:"purpose,omitempty"` // the purpose that the policy is checked with
	Grant    delta.Grant    `json:"grant,omitzero"`    // for a feed
	Audio    bool           `json:"audio,omitempty"`
	By       *Author        `json:"by,omitempty"` // for a projection; nil: the wearer made it
	Parties  []Party        `json:"parties"`
	Genesis  envelope.Hash  `json:"genesis"`
	Relay    string         `json:"relay"`
	Copies   int            `json:"copies"`
	Updated  time.Time      `json:"updated,omitzero"` // when it was last filled
	Revoking bool           `json:"revoking,omitempty"`
	Revoked  time.Time      `json:"revoked,omitzero"` // zero: not revoked

	answers       bool        // for a bundle: buyers get answers from it, and no copy
	onlyOriginals []memory.ID // see ShareSpec.OnlyOriginals
}

// Link returns the link for the parties.
func (r *Record) Link() Link {
	return Link{Relay: r.Relay, Welcome: envelope.Welcome{Space: r.Space, Genesis: r.Genesis}}
}

// activeParties returns the parties that were not removed.
func (r *Record) activeParties() []Party {
	return slices.DeleteFunc(slices.Clone(r.Parties), func(p Party) bool { return !p.Removed.IsZero() })
}

// Link names a space to a reader or worker.
type Link struct {
	Relay string
	envelope.Welcome
}

// String returns the relay's URL, "/#" and the text form of the welcome. If it is opened in a
// browser, the part after the # is not sent to the server.
func (l Link) String() string { return strings.TrimSuffix(l.Relay, "/") + "/#" + l.Welcome.String() }

// ParseLink parses what [Link.String] returns.
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
