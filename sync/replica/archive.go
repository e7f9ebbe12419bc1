package replica

import (
	"context"
	"errors"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// ErrUnsettled reports that this device's data differs from the sum of the
// deltas that were sent and taken. No snapshot can be made of it or compared
// with it.
var ErrUnsettled = errors.New("not settled here")

// Archive is this member's data in the form in which snapshots hold it.
type Archive interface {
	// EachLive calls f with each item in a snapshot's order, in one consistent
	// view. It returns ErrUnsettled if the data can't be made a snapshot of,
	// and any error of f.
	EachLive(ctx context.Context, f func(*delta.Item) error) error
	// Restore stores the items of a snapshot whose parts were all checked, in
	// one or several transactions. The last transaction saves s if s is not
	// nil. Storing an item twice changes nothing.
	Restore(ctx context.Context, items []delta.Item, s *State) error
	// NamedBlobs returns the hashes of the sealed blobs that notes name, and the
	// cursor up to which this member has read every delta.
	NamedBlobs(ctx context.Context) (named map[envelope.Hash]bool, heard uint64, err error)
}

// Checkpoints are a space's checkpoints at a relay, as this member sees them.
type Checkpoints interface {
	// Checkpoints returns the wire form of each checkpoint and of the votes on
	// it.
	Checkpoints(ctx context.Context) ([]Listed, error)
	// Places returns, in any order, the places that the relay expects in a
	// checkpoint at cursor. It returns ErrNotFound if the relay does not
	// support this question, and ErrAhead if the relay has no delta at cursor
	// yet.
	Places(ctx context.Context, cursor uint64) ([]envelope.Place, error)
	// PutCheckpoint sends a checkpoint of this member. It returns ErrConflict
	// if the relay's chains differ from the checkpoint's, or if the relay
	// already holds the greatest number of checkpoints that it allows.
	PutCheckpoint(ctx context.Context, c *envelope.Checkpoint) error
	DropCheckpoint(ctx context.Context, hash envelope.Hash) error
	PutVote(ctx context.Context, v *envelope.Vote) error
	// Compact makes the relay drop the bodies that a verified checkpoint
	// covers.
	Compact(ctx context.Context, hash envelope.Hash) error
}

// Listed is a checkpoint with the votes on it, in their wire forms.
type Listed struct {
	Checkpoint []byte
	Votes      [][]byte
}

// Snapshots configures how a replica makes and takes snapshots. A nil
// *Snapshots means that it does neither.
type Snapshots struct {
	Archive Archive
	At      Checkpoints
	// Every is a number of deltas. When so many deltas have come since the last
	// checkpoint, an owner's device makes another. 0 means that none is made
	// because of a count.
	Every uint64
	// Behind is a number of deltas. A replica that lacks at least so many takes
	// a snapshot instead of reading them. 0 means Every+1.
	Behind uint64
	// Compact says whether to tell the relay to drop the bodies that a verified
	// checkpoint covers.
	Compact bool
}

// ShownCheckpoint is the newest verified checkpoint that a relay has shown.
type ShownCheckpoint struct {
	Hash   envelope.Hash   `json:"hash"`
	Author memory.MemberID `json:"author"`
	Cursor uint64          `json:"cursor"`
}

// listed is a checkpoint that counts, with the votes on it.
type listed struct {
	*envelope.Checkpoint
	hash          envelope.Hash
	votes         []*envelope.Vote
	standing      envelope.Standing
	activeMembers []memory.MemberID // its author, and the members that signed a vote that counts
	agreed        []memory.MemberID // those of heard that have what it covers
}

func (l *listed) votedBy(m memory.MemberID) bool {
	return slices.ContainsFunc(l.votes, func(v *envelope.Vote) bool { return v.Member == m })
}

func (l *listed) source() delta.Source {
	return delta.Source{Space: l.Space, Author: l.Author, Cursor: l.Cursor}
}
