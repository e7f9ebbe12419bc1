package relay

import (
	"context"
	"io"

	"github.com/locket-dev/locket/memory"
)

// Invite is an invitation.
type Invite struct {
	Hash [32]byte
	Used bool
}

// StoredBlob is one that is done.
type StoredBlob struct {
	ID     BlobID
	Author memory.MemberID
	Size   int64
}

// Snapshot is a store as it was at one moment, for a backup, while others go on
// serving it. It is for one goroutine. Blobs' bytes are not part of the moment:
// one that was deleted since is [ErrNotFound].
type Snapshot interface {
	// Accounts gives those after an id, in order, with their spaces.
	Accounts(ctx context.Context, after AccountID, limit int) ([]Account, error)
	Invites(ctx context.Context) ([]Invite, error)
	Space(ctx context.Context, space memory.SpaceID) (Space, error)
	Log(ctx context.Context, space memory.SpaceID, n uint64, limit int) ([][]byte, error)
	After(ctx context.Context, space memory.SpaceID, cursor uint64, limit, size int) ([]Placed, error)
	// Records gives a space's checkpoints and votes, in the order of their coming.
	Records(ctx context.Context, space memory.SpaceID) ([]Record, error)
	// StoredBlobs gives those after an id, in order, that are done.
	StoredBlobs(ctx context.Context, space memory.SpaceID, after BlobID, limit int) ([]StoredBlob, error)
	OpenBlob(ctx context.Context, space memory.SpaceID, id BlobID) (io.ReadSeekCloser, int64, error)
	io.Closer
}

// Restorer is what a store can be given beside what its other methods take.
type Restorer interface {
	Store
	// RestoreAccount makes an account without spaces, where it isn't there.
	RestoreAccount(ctx context.Context, id AccountID) error
	// RestoreInvite puts an invitation back; one that was used stays so.
	RestoreInvite(ctx context.Context, i Invite) error
}
