// Package relay keeps and forwards what it cannot read: the sealed deltas and
// blobs of spaces, and the signed log of who belongs to each. It checks
// signatures, membership, chains and quotas; it opens nothing, and reaches no
// code that could.
//
// The words, beside those of package envelope:
//
//   - An account is a root key, what its spaces use, and its quota.
//   - A cursor numbers the deltas of a space in the order of their coming, from
//     1 without a gap: whoever has read up to a cursor has missed nothing.
//   - A caller is who signed a request: a member of a space, or a root.
//   - A mailbox holds a few small messages for minutes, for two devices that
//     are being paired and have no space in common yet.
//
// What it stores lies behind [Store]; package storetest is the suite that any
// store passes, package embedded the one that needs no service.
package relay

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// What callers can tell apart, beside the errors of package envelope.
var (
	ErrNotFound  = errors.New("not here")
	ErrForbidden = errors.New("not allowed to this caller")
	ErrConflict  = errors.New("the log has moved on")
	ErrAhead     = errors.New("cursor is ahead of this relay")
	ErrOffset    = errors.New("chunk does not begin where the blob ends")
	ErrBlob      = errors.New("blob is not the one that its id names")
	ErrTooLarge  = errors.New("larger than is taken")
	ErrQuota     = errors.New("quota is used up")
	ErrInvite    = errors.New("an invitation is needed")
	ErrBusy      = errors.New("too much at once")

	// ErrFull: the disk, database or bucket takes nothing more.
	ErrFull = errors.New("the store is full")
	// ErrUnavailable: the database or the bucket can't be reached now.
	ErrUnavailable = errors.New("the store can't be reached")
)

// QuotaError says which limit was met. It is [ErrQuota].
type QuotaError struct {
	What  string        // "bytes", "blobs", "deltas a day", "spaces", "requests a minute"
	Limit int64         // in what What counts
	Wait  time.Duration // after which asking again makes sense
}

// Error names the limit.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("%v: %d %s", ErrQuota, e.Limit, e.What)
}

// Unwrap gives [ErrQuota].
func (e *QuotaError) Unwrap() error { return ErrQuota }

// Quota is what an account may use. A zero is no limit.
type Quota struct {
	Bytes        int64 // of deltas, log entries and blobs, stored
	Blobs        int64 // stored, or begun
	DeltasPerDay int64 // taken, by UTC day
	Spaces       int64
	PerMinute    int64 // requests
	Membership   int64 // bytes that who belongs and belonged to a space weighs in memory; DefaultQuota's where zero
	Chains       int64 // of one member in a space; a relay sets it to [envelope.MaxIncarnations], whatever is given
}

// DefaultQuota suits one wearer: a day of wearing is about 3 MB of deltas.
var DefaultQuota = Quota{Bytes: 10 << 30, Blobs: 100_000, DeltasPerDay: 50_000, Spaces: 1000, PerMinute: 3000, Membership: 8 << 20}

// Limits that the wire knows, too.
const (
	MaxDeltas    = 256     // in one request
	MaxChunk     = 1 << 20 // bytes of a blob in one request
	MaxBlob      = 1 << 30 // bytes
	MaxPage      = 4 << 20 // bytes of deltas in one answer, but one delta at least
	MaxMessage   = 8 << 10 // bytes in a mailbox
	MaxMessages  = 8       // in a mailbox
	MailboxLife  = 10 * time.Minute
	UnfinishedBy = 24 * time.Hour // a blob that gets no chunk for so long goes
)

// Config is how a relay serves. The zero value is open to all, without quota.
type Config struct {
	Quota  Quota
	Invite bool             // a new account needs an invitation
	Now    func() time.Time // time.Now where nil
	Wakes  Wakes            // from and to other relays on the same store; nil: there are none
}

// Relay serves spaces from a store. Safe for concurrent use.
type Relay struct {
	store  Store
	config Config
	hub    *Hub // of spaces
	mail   *Hub // of mailboxes
	paces  paces

	mu     sync.Mutex
	states states
	used   map[AccountID]used
	asked  map[place]asked // of removals; see removal.go
}

// New gives a relay over store, which stays the caller's to close.
func New(store Store, config Config) *Relay {
	if config.Now == nil {
		config.Now = time.Now
	}
	config.Quota.Chains = envelope.MaxIncarnations
	if config.Quota.Membership == 0 {
		config.Quota.Membership = DefaultQuota.Membership
	}
	return &Relay{store: store, config: config, hub: NewHub(), mail: NewHub(),
		paces: newPaces(config), states: states{of: map[memory.SpaceID]*envelope.State{}, reads: map[memory.SpaceID]*reading{}}, used: map[AccountID]used{}, asked: map[place]asked{}}
}

// Hub tells of what comes to a space.
func (r *Relay) Hub() *Hub { return r.hub }

// Mail tells of what comes to a mailbox, under its id.
func (r *Relay) Mail() *Hub { return r.mail }
