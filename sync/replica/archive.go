package replica

import (
	"context"
	"errors"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// ErrUnsettled reports that this device's data is not exactly what was sent and
// taken. No snapshot can be made of it or compared with it.
var ErrUnsettled = errors.New("not settled here")

// Archive is this member's data in the form in which snapshots hold it.
type Archive interface {
	// Live calls f with each item in a snapshot's order, in one consistent
	// view. It returns ErrUnsettled.
	Live(ctx context.Context, f func(*delta.Item) error) error
	// Restore stores items of a snapshot that was checked as a whole, in one or
	// several transactions. The last one saves s if s is not nil. Storing an
	// item twice changes nothing.
	Restore(ctx context.Context, items []delta.Item, s *State) error
	// Named returns the sealed blobs that notes name, and the cursor up to
	// which every delta was read.
	Named(ctx context.Context) (named map[envelope.Hash]bool, heard uint64, err error)
}

// Checkpoints are a space's checkpoints at a relay, as this member sees them.
type Checkpoints interface {
	// Checkpoints returns the wire form of each checkpoint and of the votes on
	// it.
	Checkpoints(ctx context.Context) ([]Listed, error)
	// Places returns, in any order, the places that the relay expects in a
	// checkpoint at cursor. It returns ErrNotFound for a relay that does not
	// answer this question, and ErrAhead.
	Places(ctx context.Context, cursor uint64) ([]envelope.Place, error)
	// PutCheckpoint sends a checkpoint of this member. It returns ErrConflict
	// if the relay's chains differ, or it holds as many checkpoints as it
	// takes.
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
	// Every is the number of deltas after the last checkpoint at which an
	// owner's device makes another. 0 means never by itself.
	Every uint64
	// Behind is the number of missing deltas from which on a replica takes a
	// snapshot instead of reading them. 0 means Every+1.
	Behind uint64
	// Compact tells the relay to drop the bodies that a verified checkpoint
	// covers.
	Compact bool
}

// Shown is the newest verified checkpoint that a relay has shown.
type Shown struct {
	Hash   envelope.Hash   `json:"hash"`
	Author memory.MemberID `json:"author"`
	Cursor uint64          `json:"cursor"`
}

// listed is a checkpoint that counts, with the votes on it.
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
