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
	// SyncFolder exchanges envelopes with a folder on the node's machine, named
	// by an absolute path: a stick, or what another program keeps alike.
	SyncFolder(ctx context.Context, dir string) (FolderSynced, error)
	// Heads returns how far this device has got, signed, to be compared by
	// another path than the relay: ErrUnsupported without a relay.
	Heads(ctx context.Context) (Heads, error)
	// CompareHeads does a round of sync, and holds another device's heads to
	// what is here: memory.ErrInvalid where they are none of a device of this
	// space.
	CompareHeads(ctx context.Context, heads string) (HeadsCompared, error)
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

// FolderRequest names a folder.
type FolderRequest struct {
	Folder string `json:"folder"` // absolute
}

// FolderSynced is what meeting a folder came to.
type FolderSynced struct {
	Took    int      `json:"took"`    // deltas that were not here
	Gave    int      `json:"gave"`    // deltas that were not there
	Blobs   int      `json:"blobs"`   // either way
	Trouble []string `json:"trouble"` // what was there and is no part of the space
}

// Heads is the answer to GET /v1/sync/heads.
type Heads struct {
	Heads string `json:"heads"` // text, to be passed on
}

// HeadsRequest is POST /v1/sync/heads.
type HeadsRequest struct {
	Heads string `json:"heads"`
}

// HeadsCompared is the answer to it.
type HeadsCompared struct {
	Member      memory.MemberID   `json:"member"` // whose they are
	At          time.Time         `json:"at"`     // by its clock
	Same        bool              `json:"same"`   // one history, as far as both go
	Differences []HeadsDifference `json:"differences"`
}

// HeadsDifference is one chain, or the log, that differs.
type HeadsDifference struct {
	Verdict string          `json:"verdict"`         // forked, hidden, behind, untold
	Member  memory.MemberID `json:"member,omitzero"` // absent: the log
	Seq     uint64          `json:"seq"`             // there
	Here    uint64          `json:"here"`
	Text    string          `json:"text"`
}

var syncing = topic[Syncer]{syncStatus, syncNow, syncFolder, heads, compareHeads}

var (
	syncStatus = asks(RightOwner, spec{
		method: "GET", path: "/v1/sync", id: "syncStatus",
		summary: "Tell how sync with the other devices goes", gives: "How it goes",
	}, Syncer.SyncStatus)

	syncNow = asks(RightOwner, spec{
		method: "POST", path: "/v1/sync", id: "syncNow",
		summary: "Do one round of sync", gives: "How it went; what went wrong is in error",
	}, Syncer.SyncNow)

	syncFolder = takes(RightOwner, spec{
		method: "POST", path: "/v1/sync/folder", id: "syncFolder",
		summary: "Exchange envelopes with a folder of this machine", gives: "What was carried",
	}, func(s Syncer, ctx context.Context, req FolderRequest) (FolderSynced, error) {
		return s.SyncFolder(ctx, req.Folder)
	})

	heads = asks(RightOwner, spec{
		method: "GET", path: "/v1/sync/heads", id: "heads",
		summary: "How far this device has got, signed, to be compared on another", gives: "The text to pass on, by any path but the relay",
	}, Syncer.Heads)

	compareHeads = takes(RightOwner, spec{
		method: "POST", path: "/v1/sync/heads", id: "compareHeads",
		summary: "Compare another device's heads with what the relay shows here (forked, hidden, behind, untold)", gives: "Where they differ",
	}, func(s Syncer, ctx context.Context, req HeadsRequest) (HeadsCompared, error) {
		return s.CompareHeads(ctx, req.Heads)
	})
)

// SyncStatus tells how sync goes.
func (c *Client) SyncStatus(ctx context.Context) (SyncStatus, error) {
	return syncStatus.call(ctx, c, none{})
}

// SyncNow does one round.
func (c *Client) SyncNow(ctx context.Context) (SyncStatus, error) {
	return syncNow.call(ctx, c, none{})
}

// SyncFolder exchanges envelopes with a folder on the node's machine.
func (c *Client) SyncFolder(ctx context.Context, dir string) (FolderSynced, error) {
	return syncFolder.call(ctx, c, FolderRequest{dir})
}

// Heads returns this device's.
func (c *Client) Heads(ctx context.Context) (Heads, error) { return heads.call(ctx, c, none{}) }

// CompareHeads compares another device's.
func (c *Client) CompareHeads(ctx context.Context, heads string) (HeadsCompared, error) {
	return compareHeads.call(ctx, c, HeadsRequest{heads})
}
