// Package relay stores and forwards data that it can't read: the sealed deltas
// and blobs of spaces, and the signed membership log of each. It checks
// signatures, membership, chains and quotas. It decrypts nothing, and imports
// no package that could.
//
// These words are used beside those of package envelope:
//
//   - An account is a root key, the storage that its spaces use, and its quota.
//   - A cursor is the number of a delta in its space. Deltas are numbered from
//     1, without a gap, in the order in which they come. So a member that has
//     read up to a cursor has missed nothing.
//   - A caller is the signer of a request: a member of a space, or a root.
//   - A mailbox holds a few small messages for some minutes. Two devices use it
//     for pairing, before they have a space in common.
//
// The data is behind the interface [Store]. Package storetest is the test suite
// for any store, and package embedded a store that needs no service.
package relay

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Callers can distinguish these errors, and those of package envelope.
var (
	ErrNotFound  = errors.New("not here")
	ErrForbidden = errors.New("not allowed to this caller")
	ErrConflict  = errors.New("the log has moved on")
	ErrAhead     = errors.New("cursor is ahead of this relay")
	ErrOffset    = errors.New("chunk does not begin where the blob ends")
	ErrBlob      = errors.New("blob is not the one that its id names")
	ErrTooLarge  = errors.New("larger than the relay accepts")
	ErrQuota     = errors.New("quota is used up")
	ErrInvite    = errors.New("an invitation is needed")
	ErrBusy      = errors.New("too much at once")

	// ErrFull: the disk, database or bucket has no room left.
	ErrFull = errors.New("the store is full")
	// ErrUnavailable: the database or the bucket can't be reached now.
	ErrUnavailable = errors.New("the store can't be reached")
)

// QuotaError says which limit was reached. It wraps [ErrQuota].
type QuotaError struct {
	What  string        // "bytes", "blobs", "deltas a day", "spaces", "requests a minute"
	Limit int64         // in the unit of What
	Wait  time.Duration // how long to wait before asking again
}

// Error names the limit.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("%v: %d %s", ErrQuota, e.Limit, e.What)
}

// Unwrap returns [ErrQuota].
func (e *QuotaError) Unwrap() error { return ErrQuota }

// Quota is what an account may use. A zero means no limit, unless a field says
// otherwise.
type Quota struct {
	Bytes        int64 // stored deltas, log entries and blobs
	Blobs        int64 // stored or unfinished
	DeltasPerDay int64 // accepted on one UTC day
	Spaces       int64
	PerMinute    int64 // requests
	Membership   int64 // bytes that the present and former members of a space take in memory; 0: DefaultQuota's
	Chains       int64 // of one member in a space; a relay always sets it to [envelope.MaxIncarnations]
}

// DefaultQuota is meant for one wearer. A day of wearing is about 3 MB of
// deltas.
var DefaultQuota = Quota{Bytes: 10 << 30, Blobs: 100_000, DeltasPerDay: 50_000, Spaces: 1000, PerMinute: 3000, Membership: 8 << 20}

// These limits are part of the protocol.
const (
	MaxDeltas    = 256     // in one request
	MaxChunk     = 1 << 20 // bytes of a blob in one request
	MaxBlob      = 1 << 30 // bytes
	MaxPage      = 4 << 20 // bytes of deltas in one answer, which has at least one delta
	MaxMessage   = 8 << 10 // bytes in a mailbox
	MaxMessages  = 8       // in a mailbox
	MailboxLife  = 10 * time.Minute
	UnfinishedBy = 24 * time.Hour // a blob that gets no chunk for this long is removed
)

// Config says how a relay serves. The zero value lets anybody make an account,
// without quota.
type Config struct {
	Quota  Quota
	Invite bool             // a new account needs an invitation
	Now    func() time.Time // nil: time.Now
	Wakes  Wakes            // from and to other relays on the same store; nil: there are none
}

// Relay serves spaces from a store. It is safe for concurrent use.
type Relay struct {
	store  Store
	config Config
	hub    *Hub // of spaces
	mail   *Hub // of mailboxes
	paces  paces

	mu              sync.Mutex
	states          states
	used            map[AccountID]cachedUsage
	refusedRemovals map[spaceMember]refusedRemoval // removals that were refused once; see removal.go
}

// New returns a relay over store. The caller has to close the store.
func New(store Store, config Config) *Relay {
	if config.Now == nil {
		config.Now = time.Now
	}
	config.Quota.Chains = envelope.MaxIncarnations
	config.Quota.Membership = cmp.Or(config.Quota.Membership, DefaultQuota.Membership)
	return &Relay{store: store, config: config, hub: newHub(), mail: newHub(),
		paces: newPaces(config), states: states{bySpace: map[memory.SpaceID]*envelope.State{}, reads: map[memory.SpaceID]*reading{}}, used: map[AccountID]cachedUsage{}, refusedRemovals: map[spaceMember]refusedRemoval{}}
}

// Hub returns the hub that tells of changes of spaces.
func (r *Relay) Hub() *Hub { return r.hub }

// Mail returns the hub that tells of new messages in mailboxes, by the
// mailbox's id.
func (r *Relay) Mail() *Hub { return r.mail }
