package relay

import (
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// FullWait is how long a client of a full account should wait: somebody has to delete
// something first.
const FullWait = time.Hour

// Day returns the number of a UTC day, counted from 1970.
func Day(t time.Time) int64 { return t.Unix() / 86400 }

// A part of an account's bytes is reserved for deltas and log entries; blobs can't use
// it. It is needed because members first have to send a delta that forgets something
// before that makes room.
const (
	reservedShare = 64       // 1/reservedShare of the bytes is reserved
	maxReserved   = 64 << 20 // bytes
)

// Room returns a [*QuotaError] if an account may not store this many more bytes and blobs.
func (q Quota) Room(a Account, bytes, blobs int64) error {
	limit := q.Bytes
	if blobs > 0 {
		limit -= min(limit/reservedShare, maxReserved)
	}
	switch {
	case bytes > 0 && q.Bytes > 0 && a.Bytes+bytes > limit:
		return &QuotaError{What: "bytes", Limit: limit, Wait: FullWait}
	case blobs > 0 && q.Blobs > 0 && a.Blobs+blobs > q.Blobs:
		return &QuotaError{What: "blobs", Limit: q.Blobs, Wait: FullWait}
	}
	return nil
}

// Begin returns [envelope.ErrChains] if a member that has this many chains in a space may
// not begin another.
func (q Quota) Begin(member memory.MemberID, chains int64) error {
	if q.Chains > 0 && chains >= q.Chains {
		return fmt.Errorf("%w: %s has %d", envelope.ErrChains, member, chains)
	}
	return nil
}

// Today returns a [*QuotaError] if an account may not send this many more deltas today.
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

// DeltaSize returns how many bytes a delta counts for: its length on the wire, and 128
// for its row.
func DeltaSize(wire int) int64 { return int64(wire) + 128 }
