package relay

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Store is what a relay needs kept. What a method acknowledges has reached the
// disk. All methods are safe for concurrent use, and what is not there is
// [ErrNotFound]. A store trusts its caller: signatures and roles were checked.
type Store interface {
	Accounts
	Logs
	Deltas
	Blobs
	Records
	Mailboxes
	// Sweep removes what has had its time at now: mailboxes, nonces, and blobs
	// that were begun and not finished.
	Sweep(ctx context.Context, now time.Time) error
	io.Closer
}

// AccountID is a root's Ed25519 key.
type AccountID [ed25519.PublicKeySize]byte

// String is 64 hexadecimal characters.
func (a AccountID) String() string { return hex.EncodeToString(a[:]) }

// Account is what is known of one.
type Account struct {
	ID     AccountID
	Bytes  int64 // stored
	Blobs  int64 // stored or begun
	Day    int64 // days since 1970, UTC, that Deltas counts
	Deltas int64 // taken on Day
	Spaces []memory.SpaceID
}

// Accounts keeps who pays for what.
type Accounts interface {
	Account(ctx context.Context, id AccountID) (Account, error)
	// DeleteAccount removes it, and everything of all its spaces.
	DeleteAccount(ctx context.Context, id AccountID) error
	// AddInvite lets one account come with the code of this SHA-256. Adding
	// one that is known, used or not, changes nothing.
	AddInvite(ctx context.Context, hash [32]byte) error
	// Once notes id until a time, and reports whether it was new.
	Once(ctx context.Context, id [16]byte, until time.Time) (bool, error)
}

// Space is the head of one.
type Space struct {
	Account AccountID
	LogN    uint64 // number of the last log entry
	LogHead envelope.Hash
	Cursor  uint64 // of the last delta, 0 before the first
}

// Founding is what the first entry of a space brings besides.
type Founding struct {
	Account AccountID
	Invite  *[32]byte // SHA-256 of the code; used up if the account is new
	Needed  bool      // a new account without an invitation is [ErrInvite]
}

// Logs keeps spaces and their membership logs.
type Logs interface {
	Space(ctx context.Context, space memory.SpaceID) (Space, error)
	// AppendLog appends e if the log ends at e.Prev, and is [ErrConflict]
	// otherwise. founding is given with the first entry alone.
	AppendLog(ctx context.Context, e *envelope.Entry, founding *Founding, quota Quota) error
	// Log gives the wire forms of entries after number n, in order, at most limit.
	Log(ctx context.Context, space memory.SpaceID, n uint64, limit int) ([][]byte, error)
	// DeleteSpace removes everything of it.
	DeleteSpace(ctx context.Context, space memory.SpaceID) error
}

// Ref names a delta by its place.
type Ref struct {
	Member memory.MemberID
	envelope.Position
}

// Placed is a delta and its cursor.
type Placed struct {
	Cursor uint64
	Delta  []byte // wire form
}

// Deltas keeps deltas in the order of their coming.
type Deltas interface {
	// Append takes all, in order, or none, and gives their cursors: the old one
	// for a delta that is here already. It is [ErrConflict] if the log is no
	// longer at logN, [envelope.ErrGap] or a [*envelope.ForkError] if the
	// author's chain does not go on so, [envelope.ErrChains] if it begins one more
	// than quota has.
	Append(ctx context.Context, space memory.SpaceID, logN uint64, deltas []*envelope.Delta, quota Quota, now time.Time) ([]uint64, error)
	// After gives what came after a cursor, at most limit, and no more than
	// size bytes but one at least.
	After(ctx context.Context, space memory.SpaceID, cursor uint64, limit, size int) ([]Placed, error)
	// Chains gives the last place of each of a member's chains, in any order.
	Chains(ctx context.Context, space memory.SpaceID, member memory.MemberID) ([]envelope.Position, error)
	// Hashes gives the hash of each header, zeros where there is none.
	Hashes(ctx context.Context, space memory.SpaceID, refs []Ref) ([]envelope.Hash, error)
	// Forget takes the bodies of deltas away for good and reports how many
	// there were. The headers stay.
	Forget(ctx context.Context, space memory.SpaceID, refs []Ref) (int, error)
}

// Exact is a store that can be asked to append only where the log is the very
// one that the caller knows. A relay then need not ask where it is first.
type Exact interface {
	// AppendExact is Append, and [ErrConflict] if the log's head is another.
	AppendExact(ctx context.Context, space memory.SpaceID, logN uint64, logHead envelope.Hash, deltas []*envelope.Delta, quota Quota, now time.Time) ([]uint64, error)
}

// BlobID is the SHA-256 of a blob's sealed bytes.
type BlobID [32]byte

// String is 64 hexadecimal characters.
func (b BlobID) String() string { return hex.EncodeToString(b[:]) }

// ParseBlobID reads 64 hexadecimal characters in lower case, and nothing else.
func ParseBlobID(s string) (BlobID, error) {
	var id BlobID
	if len(s) != hex.EncodedLen(len(id)) {
		return id, fmt.Errorf("blob id: %w: want 64 hexadecimal characters", envelope.ErrForm)
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil || id.String() != s {
		return id, fmt.Errorf("blob id: %w: want 64 hexadecimal characters in lower case", envelope.ErrForm)
	}
	return id, nil
}

// Blob is what is known of one.
type Blob struct {
	Author memory.MemberID
	Size   int64
	Offset int64 // bytes that are here
	Done   bool  // all are, they are the ones that the id names, and it can be opened; until then it may go
}

// Blobs keeps sealed bytes by their hash.
type Blobs interface {
	Blob(ctx context.Context, space memory.SpaceID, id BlobID) (Blob, error)
	// WriteBlob puts a chunk at offset of a blob of size bytes in all, which it
	// begins where it is new. A chunk that is here already changes nothing; one
	// that begins elsewhere than at the end is [ErrOffset]; in both cases, too,
	// the blob is given. A whole that its id does not name is [ErrBlob], and gone.
	WriteBlob(ctx context.Context, space memory.SpaceID, id BlobID, author memory.MemberID, size, offset int64, chunk []byte, quota Quota, now time.Time) (Blob, error)
	// OpenBlob gives a done one.
	OpenBlob(ctx context.Context, space memory.SpaceID, id BlobID) (io.ReadSeekCloser, int64, error)
	// DeleteBlob removes one, begun or done. With at it does so only where at is
	// the cursor of the space's last delta, as one step with all appends, and is
	// [ErrConflict] otherwise, whether the blob is here or not.
	DeleteBlob(ctx context.Context, space memory.SpaceID, id BlobID, at *uint64) error
}

// Record is a checkpoint, or a vote on one, in its wire form.
type Record struct {
	ID    envelope.Hash // of what was signed
	About envelope.Hash // the checkpoint: its own, or the one that is voted on
	Bytes []byte
}

// Records keeps checkpoints and votes.
type Records interface {
	// Places gives where each chain is at a cursor, in [envelope.Place.Compare]'s order.
	Places(ctx context.Context, space memory.SpaceID, cursor uint64) ([]envelope.Place, error)
	// PutRecord keeps one; one that is here already changes nothing.
	PutRecord(ctx context.Context, space memory.SpaceID, r Record, quota Quota) error
	// Records gives all, in the order of their coming.
	Records(ctx context.Context, space memory.SpaceID) ([]Record, error)
	// CountRecords tells how many there are.
	CountRecords(ctx context.Context, space memory.SpaceID) (int, error)
	// DropRecords removes those about a checkpoint.
	DropRecords(ctx context.Context, space memory.SpaceID, about envelope.Hash) error
	// Compact takes the bodies up to a cursor away for good, and reports how
	// many there were. The headers stay.
	Compact(ctx context.Context, space memory.SpaceID, upto uint64) (int, error)
}

// MailboxID names a mailbox; it can't be guessed.
type MailboxID [16]byte

// Mailboxes keeps small messages for a while.
type Mailboxes interface {
	// Post appends a message and gives its number from 1; [ErrTooLarge] if the
	// mailbox is full. The first message sets when all of them go; what has had
	// its time at now goes at once, and counts no more.
	Post(ctx context.Context, id MailboxID, message []byte, now, until time.Time) (int, error)
	// Message gives message n.
	Message(ctx context.Context, id MailboxID, n int, now time.Time) ([]byte, error)
}
