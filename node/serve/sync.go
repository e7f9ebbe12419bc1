package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Syncer keeps the wearer's devices alike.
type Syncer interface {
	// SyncStatus tells how it goes. A node without a relay has an empty one.
	SyncStatus(ctx context.Context) (SyncStatus, error)
	// SyncNow does one round; what went wrong with it is in the status:
	// ErrUnsupported without a relay.
	SyncNow(ctx context.Context) (SyncStatus, error)
	// Members gives the devices and others of the wearer's space.
	Members(ctx context.Context) ([]Member, error)
	// RemoveMember puts one out for good: it gets nothing new, and keeps what
	// it has. A device of the wearer's takes the recovery phrase, others none:
	// ErrConflict.
	RemoveMember(ctx context.Context, id memory.MemberID, phrase Secret) error
}

// Pairer lets new devices in. One pairing goes on at a time.
type Pairer interface {
	// PairInvite makes a code; a pairing that went on ends.
	PairInvite(ctx context.Context) (Pairing, error)
	// PairWait returns once the new device has come, or it failed: ErrConflict
	// where no pairing goes on.
	PairWait(ctx context.Context) (Pairing, error)
	// PairConfirm says whether the words on both devices are the same, and
	// waits for the other side's word: ErrConflict.
	PairConfirm(ctx context.Context, same bool) (Pairing, error)
}

// SyncStatus is how a node's sync goes.
type SyncStatus struct {
	Relay string `json:"relay"` // empty: none is configured
	// Apart: it has no relay, and exchanges with folders, and with devices in its
	// network where LAN is set.
	Apart    bool          `json:"apart,omitempty"`
	LAN      bool          `json:"lan,omitempty"`
	Synced   time.Time     `json:"synced,omitzero"`
	Pending  int           `json:"pending"` // changes to send, at most 1000
	Cursor   uint64        `json:"cursor"`
	Error    string        `json:"error,omitempty"` // of the last round
	Removed  bool          `json:"removed,omitempty"`
	Busy     bool          `json:"busy,omitempty"` // a round runs, which …
	Took     int           `json:"took,omitempty"` // … has taken so many deltas, or parts of a snapshot,
	Sent     int           `json:"sent,omitempty"` // and sent so many deltas and blobs
	Problems []SyncProblem `json:"problems"`
}

// SyncProblem is something that was set aside.
type SyncProblem struct {
	At     time.Time       `json:"at"`
	Member memory.MemberID `json:"member"`
	Cursor uint64          `json:"cursor,omitempty"`
	Op     int             `json:"op,omitempty"` // of its delta, from 1; absent: all of it
	Reason string          `json:"reason"`
	Waits  bool            `json:"waits,omitempty"` // it is looked at again when more has come
}

// Member is who belongs to the wearer's space.
type Member struct {
	ID   memory.MemberID `json:"id"`
	Role string          `json:"role"`
	Name string          `json:"name,omitempty"`
	Here bool            `json:"here,omitempty"` // it is this device
	// Platform is what it runs on, such as linux/arm64, as it said when it came.
	Platform string    `json:"platform,omitempty"`
	Added    time.Time `json:"added"` // when it was let in, by the clock of who did
	// LastHeard is when it last said something that has come here, by its own
	// clock, which is believed up to now: memories, a change of the devices, a
	// snapshot or its verdict on one, or heads that were compared. It is zero for
	// one that has only listened: nobody but the relay knows of that.
	LastHeard time.Time `json:"last_heard,omitzero"`
}

// RemoveMemberRequest goes with DELETE /v1/members/{id}.
type RemoveMemberRequest struct {
	Phrase Secret `json:"phrase,omitempty"`
}

// RemovedMember is its answer.
type RemovedMember struct {
	ID memory.MemberID `json:"id"`
}

// The states of a pairing.
const (
	PairWaiting = "waiting" // for the new device
	PairCompare = "compare" // for a person to compare the words
	PairDone    = "done"
	PairFailed  = "failed"
)

// Pairing is how far one has come.
type Pairing struct {
	State string   `json:"state"`
	Code  string   `json:"code"`
	Link  string   `json:"link"`            // what a QR code holds
	Words []string `json:"words,omitempty"` // both devices must show the same
	Name  string   `json:"name,omitempty"`  // of the new device
	// Platform is what it runs on, as it says.
	Platform string `json:"platform,omitempty"`
	Error    string `json:"error,omitempty"`
}
