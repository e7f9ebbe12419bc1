package replica

import (
	"context"
	"errors"
	"io"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// What a Remote answers that a replica must tell apart. It wraps these, or
// those of package envelope: ErrGap, ErrUnknownHead, ErrRule.
var (
	// ErrAhead: the relay is at an older place than the one asked about.
	ErrAhead = errors.New("relay is at an older place")
	// ErrConflict: the log, or for a blob the space, has moved on; read it, and
	// look again.
	ErrConflict = errors.New("the log has moved on")
	// ErrFork: the relay has something else at this place of our chain.
	ErrFork = errors.New("the chain has something else in this place")
	// ErrForbidden: this member is none, or no longer one.
	ErrForbidden = errors.New("not allowed")
	// ErrBlob: the bytes are not those that the hash names.
	ErrBlob = errors.New("blob is another one")
	// ErrNoRoom: the account has no room left for it.
	ErrNoRoom = errors.New("there is no room for it")
	// ErrRefused: the relay does not take such a thing from anybody.
	ErrRefused = errors.New("it is not taken")
	// ErrNotFound: there is no such thing at the relay.
	ErrNotFound = errors.New("not at the relay")
)

// Placed is a delta's wire form behind its cursor.
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
	// Log gives the wire forms of entries after number n, all or the next of them;
	// none at the end.
	Log(ctx context.Context, n uint64) ([][]byte, error)
	// AppendLog appends; an entry that is there is no error.
	AppendLog(ctx context.Context, e *envelope.Entry) error
	// Deltas gives what came after a cursor, in order; none at the end.
	Deltas(ctx context.Context, after uint64) ([]Placed, error)
	// Append sends; what is there is no error.
	Append(ctx context.Context, d *envelope.Delta) error
	// Wait returns when there may be something after the cursor, or after a while.
	Wait(ctx context.Context, after uint64) error
	// Forget takes bodies away.
	Forget(ctx context.Context, refs []Ref) error
	Blobs
}

// Blobs keeps sealed bytes under their SHA-256.
type Blobs interface {
	// Upload sends all that r says, and gives its hash. What is there already
	// is not sent again.
	Upload(ctx context.Context, r io.ReadSeeker) (envelope.Hash, error)
	// Holds reports whether a blob of so many bytes is there whole. A place that
	// passes it on sees to it that it is where that was passed on to, too.
	Holds(ctx context.Context, id envelope.Hash, size int64) (bool, error)
	// Piece gives n bytes of a blob of size bytes, from an offset on, unchecked;
	// ErrNotFound.
	Piece(ctx context.Context, id envelope.Hash, from, n, size int64) ([]byte, error)
	// Download writes a blob of at most limit bytes to f, after what f has of
	// it already; ErrNotFound.
	Download(ctx context.Context, id envelope.Hash, f io.ReadWriteSeeker, limit int64) error
	// DeleteBlob removes one; none there is no error. With at it does so only
	// where at is the cursor of the last delta that is there: ErrConflict.
	DeleteBlob(ctx context.Context, id envelope.Hash, at *uint64) error
}
