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

// Store is what a relay needs to have stored. When a method returns without an
// error, its change is on the disk. All methods are safe for concurrent use. They
// return [ErrNotFound] for what does not exist. A store trusts its caller, which
// has checked signatures and roles.
type Store interface {
	Accounts
	Logs
	Deltas
	Blobs
	Records
	Mailboxes
	// Sweep removes what has expired at now: mailboxes, nonces, and blobs that
	// were begun and not finished.
	Sweep(ctx context.Context, now time.Time) error
	io.Closer
}

// AccountID is the Ed25519 public key of a root.
type AccountID [ed25519.PublicKeySize]byte

// String returns 64 hexadecimal characters.
func (a AccountID) String() string { return hex.EncodeToString(a[:]) }

// Account describes an account.
type Account struct {
	ID     AccountID
	Bytes  int64 // stored bytes
	Blobs  int64 // stored or unfinished blobs
	Day    int64 // the day that Deltas counts, in days since 1970, UTC
	Deltas int64 // deltas accepted on Day
	Spaces []memory.SpaceID
}

// Accounts stores accounts and their usage.
type Accounts interface {
	Account(ctx context.Context, id AccountID) (Account, error)
	// DeleteAccount removes an account and all its spaces.
	DeleteAccount(ctx context.Context, id AccountID) error
	// AddInvite stores an invitation, by the SHA-256 of its code. It lets one
	// account be made. Adding a known invitation, used or not, changes nothing.
	AddInvite(ctx context.Context, hash [32]byte) error
	// Once stores id until a time, and reports whether it was new.
	Once(ctx context.Context, id [16]byte, until time.Time) (bool, error)
}

// Space is the head of a space.
type Space struct {
	Account AccountID
	LogN    uint64 // number of the last log entry
	LogHead envelope.Hash
	Cursor  uint64 // of the last delta, 0 before the first
}

// Founding is what is needed to found a space, besides its first entry.
type Founding struct {
	Account AccountID
	Invite  *[32]byte // SHA-256 of the code; used up if the account is new
	Needed  bool      // return [ErrInvite] for a new account without an invitation
}

// Logs stores spaces and their membership logs.
type Logs interface {
	Space(ctx context.Context, space memory.SpaceID) (Space, error)
	// AppendLog appends e if the last entry of the log has the hash e.Prev.
	// Otherwise it returns [ErrConflict]. founding is given with the first entry
	// only.
	AppendLog(ctx context.Context, e *envelope.Entry, founding *Founding, quota Quota) error
	// Log returns the wire forms of the entries after number n, in order, at most
	// limit.
	Log(ctx context.Context, space memory.SpaceID, n uint64, limit int) ([][]byte, error)
	// DeleteSpace removes a space with everything in it.
	DeleteSpace(ctx context.Context, space memory.SpaceID) error
}

// Ref names a delta by its place in a chain.
type Ref struct {
	Member memory.MemberID
	envelope.Position
}

// Placed is a delta with its cursor.
type Placed struct {
	Cursor uint64
	Delta  []byte // wire form
}

// Deltas stores deltas in the order in which they come.
type Deltas interface {
	// Append stores all deltas, in order, or none, and returns their cursors. A
	// delta that is stored already gets its old cursor. Append returns
	// [ErrConflict] if the log no longer ends at entry logN, [envelope.ErrGap] or
	// a [*envelope.ForkError] if a delta does not follow the end of its chain, and
	// [envelope.ErrChains] if the author would have more chains than quota allows.
	Append(ctx context.Context, space memory.SpaceID, logN uint64, deltas []*envelope.Delta, quota Quota, now time.Time) ([]uint64, error)
	// After returns the deltas after a cursor, in order: at most limit, and at
	// most size bytes, but at least one if there is one.
	After(ctx context.Context, space memory.SpaceID, cursor uint64, limit, size int) ([]Placed, error)
	// Chains returns the last position of each chain of a member, in any order.
	Chains(ctx context.Context, space memory.SpaceID, member memory.MemberID) ([]envelope.Position, error)
	// Hashes returns the hash of each delta's header, or zeros for a delta that is
	// not stored.
	Hashes(ctx context.Context, space memory.SpaceID, refs []Ref) ([]envelope.Hash, error)
	// Forget removes the bodies of deltas for good, and returns how many there
	// were. The headers stay.
	Forget(ctx context.Context, space memory.SpaceID, refs []Ref) (int, error)
}

// ExactAppender is a store that can append on condition that the log's last entry has a
// given hash. The relay then need not read the head before it appends.
type ExactAppender interface {
	// AppendExact is Append, but returns [ErrConflict] if the log has another
	// head.
	AppendExact(ctx context.Context, space memory.SpaceID, logN uint64, logHead envelope.Hash, deltas []*envelope.Delta, quota Quota, now time.Time) ([]uint64, error)
}

// BlobID is the SHA-256 of a blob's sealed bytes.
type BlobID [32]byte

// String returns 64 hexadecimal characters.
func (b BlobID) String() string { return hex.EncodeToString(b[:]) }

// ParseBlobID parses 64 hexadecimal characters in lower case. It accepts no other
// form.
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

// Blob describes a blob.
type Blob struct {
	Author memory.MemberID
	Size   int64
	Offset int64 // number of stored bytes
	Done   bool  // all bytes are stored, have the right hash, and can be read; an unfinished blob may be removed
}

// Blobs stores sealed bytes under their hash.
type Blobs interface {
	Blob(ctx context.Context, space memory.SpaceID, id BlobID) (Blob, error)
	// WriteBlob writes a chunk at offset of a blob of size bytes. If the blob is
	// new, WriteBlob begins it. A chunk that is stored already changes nothing. If
	// the chunk does not begin at the end of the stored bytes, WriteBlob returns
	// [ErrOffset]. In both cases it also returns the blob. If the complete bytes
	// do not have the hash id, it returns [ErrBlob] and removes the blob.
	WriteBlob(ctx context.Context, space memory.SpaceID, id BlobID, author memory.MemberID, size, offset int64, chunk []byte, quota Quota, now time.Time) (Blob, error)
	// OpenBlob opens a blob that is done.
	OpenBlob(ctx context.Context, space memory.SpaceID, id BlobID) (io.ReadSeekCloser, int64, error)
	// DeleteBlob deletes a blob, done or not. If at is not nil and is not the
	// cursor of the space's last delta, DeleteBlob returns [ErrConflict], whether
	// the blob exists or not. No delta can be appended between this check and the
	// deletion.
	DeleteBlob(ctx context.Context, space memory.SpaceID, id BlobID, at *uint64) error
}

// Record is a checkpoint or a vote, in its wire form.
type Record struct {
	ID    envelope.Hash // hash of what was signed
	About envelope.Hash // the checkpoint's ID; for a vote, that of the checkpoint it is on
	Bytes []byte
}

// Records stores checkpoints and votes.
type Records interface {
	// Places returns the place of each chain at a cursor, in the order of
	// [envelope.Place.Compare].
	Places(ctx context.Context, space memory.SpaceID, cursor uint64) ([]envelope.Place, error)
	// PutRecord stores a record. A record that is stored already changes nothing. A vote on a
	// checkpoint that is not here is [ErrNotFound].
	PutRecord(ctx context.Context, space memory.SpaceID, r Record, quota Quota) error
	// Records returns all records, in the order in which they came.
	Records(ctx context.Context, space memory.SpaceID) ([]Record, error)
	// CountRecords returns the number of records.
	CountRecords(ctx context.Context, space memory.SpaceID) (int, error)
	// DropRecords removes a checkpoint and its votes.
	DropRecords(ctx context.Context, space memory.SpaceID, about envelope.Hash) error
	// Compact removes the bodies of the deltas up to a cursor for good, and
	// returns how many there were. The headers stay.
	Compact(ctx context.Context, space memory.SpaceID, upto uint64) (int, error)
}

// MailboxID names a mailbox. It can't be guessed.
type MailboxID [16]byte

// Mailboxes stores small messages for some minutes.
type Mailboxes interface {
	// Post appends a message and returns its number, from 1. It returns
	// [ErrTooLarge] if the mailbox is full. The first message sets the time at
	// which all of them are removed. Messages that have expired at now are removed
	// and do not count.
	Post(ctx context.Context, id MailboxID, message []byte, now, until time.Time) (int, error)
	// Message returns message n.
	Message(ctx context.Context, id MailboxID, n int, now time.Time) ([]byte, error)
}
