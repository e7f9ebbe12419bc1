package replica

import (
	"context"
	"errors"
	"io"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// The answers of a Remote that a replica must distinguish. A Remote wraps
// these, or ErrGap, ErrUnknownHead and ErrRule of package envelope.
var (
	// ErrAhead: the relay is at an older place than the request.
	ErrAhead = errors.New("relay is at an older place")
	// ErrConflict: the log, or for a blob the space, has moved on. Read it and
	// try again.
	ErrConflict = errors.New("the log has moved on")
	// ErrFork: the relay has another delta at this place of our chain.
	ErrFork = errors.New("the chain has something else in this place")
	// ErrForbidden: this member is not, or no longer, a member, or may not do
	// this.
	ErrForbidden = errors.New("not allowed")
	// ErrBlob: the bytes do not have the hash that names them.
	ErrBlob = errors.New("blob is another one")
	// ErrNoRoom: the account has no room for it.
	ErrNoRoom = errors.New("there is no room for it")
	// ErrRefused: the relay takes such a thing from nobody.
	ErrRefused = errors.New("it is not taken")
	// ErrNotFound: the relay has no such thing.
	ErrNotFound = errors.New("not at the relay")
)

// Placed is a delta's wire form with its cursor.
type Placed struct {
	Cursor uint64
	Delta  []byte
}

// Ref names a delta by its place.
type Ref struct {
	Member memory.MemberID
	envelope.Position
}

// Remote is the space at a relay, as this member sees it.
type Remote interface {
	// Log returns the wire forms of the entries after number n, all or the next
	// of them; none at the end.
	Log(ctx context.Context, n uint64) ([][]byte, error)
	// AppendLog appends an entry. It is no error if the entry is there.
	AppendLog(ctx context.Context, e *envelope.Entry) error
	// Deltas returns what came after a cursor, in order; none at the end.
	Deltas(ctx context.Context, after uint64) ([]Placed, error)
	// Append sends a delta. It is no error if it is there.
	Append(ctx context.Context, d *envelope.Delta) error
	// Wait returns when there may be something after the cursor, or after a
	// while.
	Wait(ctx context.Context, after uint64) error
	// Forget removes bodies.
	Forget(ctx context.Context, refs []Ref) error
	Blobs
}

// Blobs stores sealed bytes under their SHA-256.
type Blobs interface {
	// Upload sends all bytes of r and returns their hash. It skips what is
	// there already.
	Upload(ctx context.Context, r io.ReadSeeker) (envelope.Hash, error)
	// Holds reports whether a whole blob of so many bytes is there. A remote
	// that forwards blobs makes sure that the next one has it, too.
	Holds(ctx context.Context, id envelope.Hash, size int64) (bool, error)
	// Piece returns n bytes of a blob of size bytes from an offset, unchecked;
	// or ErrNotFound.
	Piece(ctx context.Context, id envelope.Hash, from, n, size int64) ([]byte, error)
	// Download appends a blob of at most limit bytes to what f has of it
	// already; or returns ErrNotFound.
	Download(ctx context.Context, id envelope.Hash, f io.ReadWriteSeeker, limit int64) error
	// DeleteBlob removes a blob. It is no error if there is none. With at it
	// does so only if at is the cursor of the relay's last delta; otherwise it
	// returns ErrConflict.
	DeleteBlob(ctx context.Context, id envelope.Hash, at *uint64) error
}
