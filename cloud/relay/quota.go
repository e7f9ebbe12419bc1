package relay

import (
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// FullWait is how long an account that is full should wait: somebody has to delete first.
const FullWait = time.Hour

// Day numbers a UTC day from 1970.
func Day(t time.Time) int64 { return t.Unix() / 86400 }

// A part of an account's bytes is for what is said, and no blob may take it: what is
// forgotten is said first, and only then makes room.
const (
	saidShare = 64       // of which one is kept
	mostSaid  = 64 << 20 // bytes
)

// Room reports whether an account may store so many more bytes and blobs.
func (q Quota) Room(a Account, bytes, blobs int64) error {
	limit := q.Bytes
	if blobs > 0 {
		limit -= min(limit/saidShare, mostSaid)
	}
	switch {
	case bytes > 0 && q.Bytes > 0 && a.Bytes+bytes > limit:
		return &QuotaError{What: "bytes", Limit: limit, Wait: FullWait}
	case blobs > 0 && q.Blobs > 0 && a.Blobs+blobs > q.Blobs:
		return &QuotaError{What: "blobs", Limit: q.Blobs, Wait: FullWait}
	}
	return nil
}

// Begin reports whether a member that has so many chains in a space may begin
// one more: [envelope.ErrChains] if not.
func (q Quota) Begin(member memory.MemberID, chains int64) error {
	if q.Chains > 0 && chains >= q.Chains {
		return fmt.Errorf("%w: %s has %d", envelope.ErrChains, member, chains)
	}
	return nil
}

// Today reports whether an account may send so many more deltas today.
func (q Quota) Today(a Account, deltas int64, now time.Time) error {
	used := a.Deltas
	if a.Day != Day(now) {
		used = 0
	}
	if q.DeltasPerDay > 0 && used+deltas > q.DeltasPerDay {
		next := time.Unix((Day(now)+1)*86400, 0)
		return &QuotaError{What: "deltas a day", Limit: q.DeltasPerDay, Wait: next.Sub(now)}
	}
	return nil
}

// DeltaSize is what a delta counts: its bytes, and what a row costs.
func DeltaSize(wire int) int64 { return int64(wire) + 128 }
