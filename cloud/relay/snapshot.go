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

// StoredBlob is a blob that is done.
type StoredBlob struct {
	ID     BlobID
	Author memory.MemberID
	Size   int64
}

// Snapshot is the state of a store at one moment, for a backup, while the store
// goes on being used. It must be used by one goroutine only. The bytes of blobs
// are not part of the snapshot: a blob that was deleted since gives [ErrNotFound].
type Snapshot interface {
	// Accounts returns the accounts after an id, in order, with their spaces.
	Accounts(ctx context.Context, after AccountID, limit int) ([]Account, error)
	Invites(ctx context.Context) ([]Invite, error)
	Space(ctx context.Context, space memory.SpaceID) (Space, error)
	Log(ctx context.Context, space memory.SpaceID, n uint64, limit int) ([][]byte, error)
	After(ctx context.Context, space memory.SpaceID, cursor uint64, limit, size int) ([]Placed, error)
	// Records returns a space's checkpoints and votes, in the order in which they
	// came.
	Records(ctx context.Context, space memory.SpaceID) ([]Record, error)
	// StoredBlobs returns the blobs after an id, in order, that are done.
	StoredBlobs(ctx context.Context, space memory.SpaceID, after BlobID, limit int) ([]StoredBlob, error)
	OpenBlob(ctx context.Context, space memory.SpaceID, id BlobID) (io.ReadSeekCloser, int64, error)
	io.Closer
}

// Restorer is a store into which an archive can be restored. It has methods for
// what a relay can't do by the methods of Store.
type Restorer interface {
	Store
	// RestoreAccount makes an account without spaces, if there is none.
	RestoreAccount(ctx context.Context, id AccountID) error
	// RestoreInvite restores an invitation. One that is used up in the store stays
	// used up.
	RestoreInvite(ctx context.Context, i Invite) error
}
