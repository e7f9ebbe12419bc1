package replica

import (
	"context"
	"errors"
	"io"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// A Remote returns these errors, or ErrGap, ErrUnknownHead and ErrRule of
// package envelope, wrapped, where a replica has to distinguish them.
var (
	// ErrAhead: the request names a place that the relay has not reached.
	ErrAhead = errors.New("relay has not reached this place")
	// ErrConflict: the log has new entries, or, for a blob, the space has new
	// deltas. Read them and try again.
	ErrConflict = errors.New("the log has moved on")
	// ErrFork: the relay has another delta at this place of our chain.
	ErrFork = errors.New("the chain has something else in this place")
	// ErrForbidden: this member is not, or no longer, a member, or may not do
	// this.
	ErrForbidden = errors.New("not allowed")
	// ErrBlob: the bytes do not have the hash that names the blob.
	ErrBlob = errors.New("bytes are not those of the blob")
	// ErrNoRoom: the account has no room left.
	ErrNoRoom = errors.New("no room is left in the account")
	// ErrRefused: the relay accepts this from no member.
	ErrRefused = errors.New("the relay does not accept it")
	// ErrNotFound: the relay does not have this.
	ErrNotFound = errors.New("not at the relay")
)

// Placed is a delta's wire form with its cursor.
type Placed struct {
	Cursor uint64
	Delta  []byte
}

// Ref names a delta by its place in a chain.
type Ref struct {
	Member memory.MemberID
	envelope.Position
}

// Remote is a space at a relay, as this member sees it. A relay over HTTP and
// an envelope store implement it.
type Remote interface {
	// Log returns the wire forms of the entries after number n, in order. It
	// may return only the next of them. At the end it returns none.
	Log(ctx context.Context, n uint64) ([][]byte, error)
	// AppendLog appends an entry. If the relay already has the entry, it
	// returns nil.
	AppendLog(ctx context.Context, e *envelope.Entry) error
	// Deltas returns the next deltas after a cursor, in order. At the end it
	// returns none.
	Deltas(ctx context.Context, after uint64) ([]Placed, error)
	// Append sends a delta. If the relay already has the delta, it returns
	// nil.
	Append(ctx context.Context, d *envelope.Delta) error
	// Wait returns when the relay may have something after the cursor, or
	// after some time.
	Wait(ctx context.Context, after uint64) error
	// Forget removes the bodies of these deltas. The headers stay.
	Forget(ctx context.Context, refs []Ref) error
	Blobs
}

// Blobs stores sealed bytes under their SHA-256.
type Blobs interface {
	// Upload sends all bytes of r and returns their SHA-256. It sends only the
	// bytes that the remote lacks.
	Upload(ctx context.Context, r io.ReadSeeker) (envelope.Hash, error)
	// Holds reports whether the remote has a whole blob of size bytes. A
	// remote that forwards blobs also makes sure that the next remote has it.
	Holds(ctx context.Context, id envelope.Hash, size int64) (bool, error)
	// Piece returns n bytes of a blob of size bytes, starting at the offset
	// from, in bytes. The bytes are not checked. It returns ErrNotFound if the
	// blob is not there.
	Piece(ctx context.Context, id envelope.Hash, from, n, size int64) ([]byte, error)
	// Download completes f, which holds the first part of a blob or nothing,
	// with the rest of the blob. The blob may have at most limit bytes. It
	// returns ErrNotFound if the blob is not there.
	Download(ctx context.Context, id envelope.Hash, f io.ReadWriteSeeker, limit int64) error
	// DeleteBlob removes a blob. If there is none, it returns nil. If at is
	// not nil and the relay's last delta is not at that cursor, it removes
	// nothing and returns ErrConflict.
	DeleteBlob(ctx context.Context, id envelope.Hash, at *uint64) error
}
