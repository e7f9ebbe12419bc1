package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Sharer shares copies of memories with people whom the wearer names. A share
// is named by its id or the beginning of it. Without a relay: ErrUnsupported.
type Sharer interface {
	// PreviewShare shows what a share would give away; nothing leaves the node.
	PreviewShare(ctx context.Context, r ShareRequest) (SharePreview, error)
	// CreateShare makes it: ErrConflict where r.Confirm is of another preview,
	// memory.ErrNotFound where nothing fits.
	CreateShare(ctx context.Context, r ShareRequest) (Share, error)
	// Shares gives all, revoked ones too, the newest first.
	Shares(ctx context.Context) ([]Share, error)
	// Share gives one, with what its readers see.
	Share(ctx context.Context, id string) (SharedView, error)
	// UpdateShare adds what fits since, and takes out what does not any more.
	UpdateShare(ctx context.Context, id string) (ShareUpdated, error)
	// RevokeShare puts a reader out, by name or member id, or all where empty.
	RevokeShare(ctx context.Context, id, reader string) (Share, error)
}

// Granter lets workers in.
type Granter interface {
	// AddGrant lets one into the wearer's space, or into a feed of its own.
	AddGrant(ctx context.Context, r GrantRequest) (Grant, error)
	Grants(ctx context.Context) ([]Grant, error)
	// RevokeGrant puts one out, by name, member id or key: nothing new gets to
	// it from then on.
	RevokeGrant(ctx context.Context, who string) (Grant, error)
	// TendGrants fills feeds with what is new, and takes what workers said.
	TendGrants(ctx context.Context) (FeedsTended, error)
}

// ShareRequest says what is shared with whom.
type ShareRequest struct {
	Query       string              `json:"query,omitempty"` // of query, types and tags one is needed
	Types       []memory.Type       `json:"types,omitempty"` // not vault
	Tags        []string            `json:"tags,omitempty"`  // all of them
	Since       time.Time           `json:"since,omitzero"`  // learnt at or after
	Until       time.Time           `json:"until,omitzero"`  // learnt before
	Sensitivity *memory.Sensitivity `json:"sensitivity,omitempty"`
	Limit       int                 `json:"limit,omitempty"`  // of memories; 0: 50 with a query, else 500
	Redact      []string            `json:"redact,omitempty"` // names, places, times, and words
	Quotes      bool                `json:"quotes,omitempty"` // with what evidence quotes
	To          []string            `json:"to"`               // NAME=KEY or KEY, as locket share key prints it
	Title       string              `json:"title,omitempty"`  // for the wearer
	Expires     time.Time           `json:"expires,omitzero"`
	Confirm     string              `json:"confirm,omitempty"` // of the preview; empty: whatever it is
}

// SharePreview is what would be given away.
type SharePreview struct {
	Memories []SharedCopy  `json:"memories"`
	Readers  []ShareReader `json:"readers"`
	LeftOut  int           `json:"left_out"` // that fit, and of which redaction leaves nothing
	Confirm  string        `json:"confirm"`
}

// SharedCopy is what a reader sees of a memory.
type SharedCopy struct {
	Of   memory.ID   `json:"of"` // the wearer's own, of which the reader is not told
	Type memory.Type `json:"type"`
	Text string      `json:"text"`
	Was  string      `json:"was,omitempty"` // the text before redaction, where it differs
}

// ShareReader is one whom something is shared with.
type ShareReader struct {
	Name    string          `json:"name"`
	Member  memory.MemberID `json:"member"`
	Words   string          `json:"words"` // of the key, to compare
	Added   time.Time       `json:"added"`
	Removed time.Time       `json:"removed,omitzero"`
}

// Share is something that is shared.
type Share struct {
	ID       memory.SpaceID `json:"id"`
	Title    string         `json:"title,omitempty"`
	Link     string         `json:"link"` // for the readers; it opens nothing without a reader's key
	Query    string         `json:"query,omitempty"`
	Redacted []string       `json:"redacted,omitempty"`
	Memories int            `json:"memories"`
	Readers  []ShareReader  `json:"readers"`
	Created  time.Time      `json:"created"`
	Updated  time.Time      `json:"updated,omitzero"`
	Expires  time.Time      `json:"expires,omitzero"`
	Revoking bool           `json:"revoking,omitempty"` // the relay was not told yet
	Revoked  time.Time      `json:"revoked,omitzero"`
}

// SharedView is a share as its readers see it.
type SharedView struct {
	Share    Share           `json:"share"`
	Memories []memory.Memory `json:"memories"`
}

// ShareUpdated is what an update did.
type ShareUpdated struct {
	Share   Share `json:"share"`
	Added   int   `json:"added"`
	Removed int   `json:"removed"`
}

// GrantRequest lets a worker in.
type GrantRequest struct {
	Key         string              `json:"key"` // as the worker's owner gives it
	Name        string              `json:"name,omitempty"`
	Types       []memory.Type       `json:"types,omitempty"`      // that it may propose; of a feed also what it gets
	Transcribe  bool                `json:"transcribe,omitempty"` // it may add transcripts
	PerEvidence int                 `json:"per_evidence,omitempty"`
	Feed        bool                `json:"feed,omitempty"`       // into a feed, not into the wearer's space
	Recordings  bool                `json:"recordings,omitempty"` // of a feed: recordings and photos, but those near a secret
	Sensitivity *memory.Sensitivity `json:"sensitivity,omitempty"`
	Since       time.Time           `json:"since,omitzero"` // of a feed: learnt at or after
}

// Grant is a worker that was let in.
type Grant struct {
	Member      memory.MemberID `json:"member"`
	Name        string          `json:"name"`
	Feed        bool            `json:"feed,omitempty"`
	Space       memory.SpaceID  `json:"space"`
	Types       []memory.Type   `json:"types"`
	Transcribe  bool            `json:"transcribe,omitempty"`
	PerEvidence int             `json:"per_evidence"`
	Memories    int             `json:"memories,omitempty"` // of a feed
	Added       time.Time       `json:"added,omitzero"`
	Removed     time.Time       `json:"removed,omitzero"`
	Relay       string          `json:"relay"`
	Welcome     string          `json:"welcome"` // for the worker's owner: where it was let in
}

// FeedsTended is what went to workers, and what came back.
type FeedsTended struct {
	Feeds int `json:"feeds"`
	Taken int `json:"taken"` // assertions and transcripts of workers
}
