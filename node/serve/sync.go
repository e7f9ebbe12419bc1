package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Syncer syncs the wearer's devices.
type Syncer interface {
	// SyncStatus returns the state of sync. Without a relay it is empty.
	SyncStatus(ctx context.Context) (SyncStatus, error)
	// SyncNow runs one round of sync. Errors of the round are in the status. It
	// returns ErrUnsupported without a relay.
	SyncNow(ctx context.Context) (SyncStatus, error)
	// SyncFolder exchanges envelopes with a folder on the node's machine, named
	// by an absolute path: a USB stick, or a folder that another program syncs.
	SyncFolder(ctx context.Context, dir string) (FolderSynced, error)
	// Heads returns, signed, how far this device has read, to compare it with
	// another device by another path than the relay. It returns ErrUnsupported
	// without a relay.
	Heads(ctx context.Context) (Heads, error)
	// CompareHeads runs a round of sync and compares another device's heads
	// with this device's. It returns memory.ErrInvalid if they are not heads of
	// a device of this space.
	CompareHeads(ctx context.Context, heads string) (HeadsCompared, error)
}

// SyncStatus is the state of a node's sync.
type SyncStatus struct {
	Relay string `json:"relay"` // empty: no relay is configured
	// Apart says that there is no relay. The node exchanges with folders and,
	// if LAN is set, with devices in its network.
	Apart    bool          `json:"apart,omitempty"`
	LAN      bool          `json:"lan,omitempty"`
	Synced   time.Time     `json:"synced,omitzero"`
	Pending  int           `json:"pending"` // number of changes to send, at most 1000
	Cursor   uint64        `json:"cursor"`
	Error    string        `json:"error,omitempty"` // error of the last round
	Removed  bool          `json:"removed,omitempty"`
	Busy     bool          `json:"busy,omitempty"` // a round is running
	Took     int           `json:"took,omitempty"` // number of deltas and snapshot parts that the running round has received
	Sent     int           `json:"sent,omitempty"` // number of deltas and blobs that the running round has sent
	Problems []SyncProblem `json:"problems"`
}

// SyncProblem is something that was quarantined.
type SyncProblem struct {
	At     time.Time       `json:"at"`
	Member memory.MemberID `json:"member"`
	Cursor uint64          `json:"cursor,omitempty"`
	Op     int             `json:"op,omitempty"` // number of the op in its delta, from 1; absent: the whole delta
	Reason string          `json:"reason"`
	Waits  bool            `json:"waits,omitempty"` // it is tried again when more data has arrived
}

// FolderRequest names a folder.
type FolderRequest struct {
	Folder string `json:"folder"` // absolute path
}

// FolderSynced is the result of an exchange with a folder.
type FolderSynced struct {
	Took    int      `json:"took"`    // deltas that were new on this device
	Gave    int      `json:"gave"`    // deltas that were new in the folder
	Blobs   int      `json:"blobs"`   // blobs copied in either direction
	Trouble []string `json:"trouble"` // files in the folder that do not belong to the space
}

// Heads is the answer to GET /v1/sync/heads.
type Heads struct {
	Heads string `json:"heads"` // the text to pass on
}

// HeadsRequest is the body of POST /v1/sync/heads.
type HeadsRequest struct {
	Heads string `json:"heads"`
}

// HeadsCompared is the answer to POST /v1/sync/heads.
type HeadsCompared struct {
	Member      memory.MemberID   `json:"member"` // the other device
	At          time.Time         `json:"at"`     // when the heads were made, by the other device's clock
	Same        bool              `json:"same"`   // both have the same history, as far as both have read it
	Differences []HeadsDifference `json:"differences"`
}

// HeadsDifference is a chain, or the membership log, that differs.
type HeadsDifference struct {
	Verdict string          `json:"verdict"`         // forked, hidden, behind, untold
	Member  memory.MemberID `json:"member,omitzero"` // whose chain differs; absent: the log differs
	Seq     uint64          `json:"seq"`             // number on the other device
	Here    uint64          `json:"here"`
	Text    string          `json:"text"`
}

var syncTopic = topic[Syncer]{syncStatus.untyped, syncNow.untyped, syncFolder.untyped, heads.untyped, compareHeads.untyped}

var (
	syncStatus = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/sync", id: "syncStatus",
		summary: "Get the state of sync with the other devices", gives: "The state",
	}, Syncer.SyncStatus)

	syncNow = plainRoute(RightOwner, spec{
		method: "POST", path: "/v1/sync", id: "syncNow",
		summary: "Do one round of sync", gives: "The state after the round; error has what went wrong",
	}, Syncer.SyncNow)

	syncFolder = fieldRoute[FolderRequest](RightOwner, spec{
		method: "POST", path: "/v1/sync/folder", id: "syncFolder",
		summary: "Sync with a folder on the node's machine", gives: "What was exchanged",
	}, Syncer.SyncFolder)

	heads = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/sync/heads", id: "heads",
		summary: "Get this device's heads: how far it has read, signed, for a comparison on another device", gives: "A text to pass on, by any path except the relay",
	}, Syncer.Heads)

	compareHeads = fieldRoute[HeadsRequest](RightOwner, spec{
		method: "POST", path: "/v1/sync/heads", id: "compareHeads",
		summary: "Compare another device's heads with what the relay shows here", gives: "The differences: forked, hidden, behind or untold",
	}, Syncer.CompareHeads)
)

// SyncStatus returns the state of sync.
func (c *Client) SyncStatus(ctx context.Context) (SyncStatus, error) {
	return call(ctx, c, syncStatus, none{})
}

// SyncNow runs one round of sync.
func (c *Client) SyncNow(ctx context.Context) (SyncStatus, error) {
	return call(ctx, c, syncNow, none{})
}

// SyncFolder exchanges envelopes with a folder on the node's machine.
func (c *Client) SyncFolder(ctx context.Context, dir string) (FolderSynced, error) {
	return call(ctx, c, syncFolder, FolderRequest{dir})
}

// Heads returns this device's heads.
func (c *Client) Heads(ctx context.Context) (Heads, error) { return call(ctx, c, heads, none{}) }

// CompareHeads compares another device's heads with this device's.
func (c *Client) CompareHeads(ctx context.Context, heads string) (HeadsCompared, error) {
	return call(ctx, c, compareHeads, HeadsRequest{heads})
}
