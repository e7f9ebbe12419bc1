package replica

import (
	"context"
	"errors"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// ErrUnsettled: what is here is not just what was sent and taken, so that no
// snapshot can be made of it, nor held against it.
var ErrUnsettled = errors.New("not settled here")

// Archive is what lies on this member's disk, as snapshots hold it.
type Archive interface {
	// Live calls f with each item in a snapshot's order, as of one moment:
	// ErrUnsettled.
	Live(ctx context.Context, f func(*delta.Item) error) error
	// Restore takes items of a snapshot that was checked whole, in one or
	// several transactions, and saves where s is not nil. To take one twice
	// changes nothing.
	Restore(ctx context.Context, items []delta.Item, s *State) error
	// Named gives the sealed blobs that notes name, and the cursor up to which
	// everything was heard.
	Named(ctx context.Context) (named map[envelope.Hash]bool, heard uint64, err error)
}

// Checkpoints are a space's at a relay, as this member sees them.
type Checkpoints interface {
	// Checkpoints gives the wire forms of each, and of the votes on it.
	Checkpoints(ctx context.Context) ([]Listed, error)
	// Places gives what a checkpoint at a cursor must say, by the relay's word, in
	// any order; ErrNotFound from a relay that does not tell, ErrAhead.
	Places(ctx context.Context, cursor uint64) ([]envelope.Place, error)
	// PutCheckpoint sends this member's; ErrConflict where the relay's chains are
	// elsewhere, or it has as many as it takes.
	PutCheckpoint(ctx context.Context, c *envelope.Checkpoint) error
	DropCheckpoint(ctx context.Context, hash envelope.Hash) error
	PutVote(ctx context.Context, v *envelope.Vote) error
	// Compact has the bodies dropped that a verified checkpoint covers.
	Compact(ctx context.Context, hash envelope.Hash) error
}

// Listed is a checkpoint with the votes on it, in their wire forms.
type Listed struct {
	Checkpoint []byte
	Votes      [][]byte
}

// Snapshots say how a replica has to do with them; nil: not at all.
type Snapshots struct {
	Archive Archive
	At      Checkpoints
	// Every is how many deltas after the last checkpoint an owner makes another;
	// 0: none of its own accord.
	Every uint64
	// Behind is how many deltas a replica reads before it rather takes a
	// snapshot. 0: one more than Every.
	Behind uint64
	// Compact: the relay is told to drop the bodies that a verified one covers.
	Compact bool
}

// Shown is the newest verified checkpoint that a relay has shown.
type Shown struct {
	Hash   envelope.Hash   `json:"hash"`
	Author memory.MemberID `json:"author"`
	Cursor uint64          `json:"cursor"`
}

// listed is a checkpoint that counts.
type listed struct {
	*envelope.Checkpoint
	hash     envelope.Hash
	votes    []*envelope.Vote
	standing envelope.Standing
}

func (l *listed) votedBy(m memory.MemberID) bool {
	for _, v := range l.votes {
		if v.Member == m {
			return true
		}
	}
	return false
}

func (l *listed) source() delta.Source {
	return delta.Source{Space: l.Space, Author: l.Author, Cursor: l.Cursor}
}
