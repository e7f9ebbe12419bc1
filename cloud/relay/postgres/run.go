package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// A run is the usual request of a device: deltas of one chain, in order, that
// follow what is stored. Runs that come at the same time share a round trip and a
// transaction. Within it, each run names its own account before it can see a row
// (see migrations/00004_append.sql). A request that is not so simple is done by
// itself, in [appendDeltas]: if a delta is stored already, does not fit the quota
// or does not follow, or if the account is locked.
type run struct {
	account relay.AccountID
	space   memory.SpaceID
	logN    uint64
	logHead envelope.Hash
	member  memory.MemberID
	first   envelope.Position
	prev    envelope.Hash
	rows    rows
	quota   relay.Quota
	day     int64

	cursor int64 // cursor before the first delta; set when the run is stored
	stored bool
	err    error
	done   chan struct{}
}

// newRun returns nil if the deltas are no run. It also returns nil if they begin
// a chain, because chains have to be counted.
func newRun(account relay.AccountID, space memory.SpaceID, logN uint64, logHead envelope.Hash, deltas []*envelope.Delta, quota relay.Quota, now time.Time) *run {
	first := &deltas[0].Header
	if first.Seq == 1 && quota.Chains > 0 {
		return nil
	}
	r := &run{account: account, space: space, logN: logN, logHead: logHead, member: first.Member, first: first.Position(), prev: first.Prev,
		quota: quota, day: relay.Day(now), done: make(chan struct{})}
	link := envelope.Link{Seq: first.Seq - 1, Hash: first.Prev}
	for i, d := range deltas {
		h := &d.Header
		if h.Member != first.Member || h.Incarnation != first.Incarnation || link.Check(h) != nil {
			return nil
		}
		r.rows.add(d, uint64(i))
		copy(link.Hash[:], r.rows.hash[i])
		link.Seq = h.Seq
	}
	return r
}

// cursors returns the cursors of a stored run.
func (r *run) cursors() []uint64 {
	out := make([]uint64, len(r.rows.hash))
	for i := range out {
		out[i] = uint64(r.cursor) + uint64(i) + 1
	}
	return out
}

const (
	maxRuns     = 64      // in one transaction
	maxRunBytes = 4 << 20 // of deltas in one, but one run at least
	// runsFor is how long a transaction may take. After that, the database counts
	// as unreachable. Then it is not known whether the transaction was committed;
	// the client sends the deltas again and finds out.
	runsFor = 30 * time.Second
)

// lanes is the number of lanes. Each lane runs one transaction at a time. All
// runs of an account use the same lane, so that two transactions of this relay
// never need the same rows.
const lanes = 2

// lane collects runs while a transaction is running.
type lane struct {
	mu      sync.Mutex
	waiting []*run
	leading bool
}

// appendRun stores a run. stored is false and err nil if [appendDeltas] has to do
// it.
func (s *Store) appendRun(ctx context.Context, r *run) (stored bool, err error) {
	l := &s.lanes[int(r.account[0])%lanes]
	l.mu.Lock()
	l.waiting = append(l.waiting, r)
	lead := !l.leading
	l.leading = true
	l.mu.Unlock()
	if lead {
		s.lead(context.WithoutCancel(ctx), l, r)
	}
	select {
	case <-r.done:
		return r.stored, r.err
	case <-ctx.Done(): // the run may still be stored
		return false, ctx.Err()
	}
}

// lead commits waiting runs until mine is done, and then leaves the rest to
// another goroutine.
func (s *Store) lead(ctx context.Context, l *lane, mine *run) {
	for {
		now := l.next()
		if len(now) == 0 {
			return
		}
		s.commit(ctx, now)
		for _, r := range now {
			close(r.done)
		}
		if mine != nil {
			select {
			case <-mine.done:
				s.handed.Go(func() { s.lead(ctx, l, nil) }) // its own caller gets the answer now, and the rest need not wait
				return
			default:
			}
		}
	}
}

// next returns the next runs. If there are none, nobody leads the lane any more.
func (l *lane) next() []*run {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, size := 0, int64(0)
	for n < len(l.waiting) && n < maxRuns && (n == 0 || size+l.waiting[n].rows.bytes <= maxRunBytes) {
		size += l.waiting[n].rows.bytes
		n++
	}
	out := l.waiting[:n:n]
	l.waiting = l.waiting[n:]
	l.leading = n > 0
	return out
}

// commit stores runs in one transaction. If the database refuses one of them,
// none is stored, and each is done by itself.
func (s *Store) commit(ctx context.Context, all []*run) {
	ctx, cancel := context.WithTimeout(ctx, runsFor)
	defer cancel()
	b := &pgx.Batch{}
	for _, r := range all {
		b.Queue("SELECT append_run($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
			r.account[:], r.space[:], int64(r.logN), r.logHead[:], r.member[:], int64(r.first.Incarnation), int64(r.first.Seq-1), r.prev[:],
			r.rows.hash, r.rows.header, r.rows.signature, r.rows.body, r.rows.size, r.rows.bytes, r.day, r.quota.Bytes, r.quota.DeltasPerDay)
	}
	before := make([]*int64, len(all))
	res := s.pool.SendBatch(ctx, b) // without BEGIN a batch is one transaction
	var err error
	for i := range all {
		if err = res.QueryRow().Scan(&before[i]); err != nil {
			break
		}
	}
	err = errors.Join(err, res.Close())
	if _, refused := errors.AsType[*pgconn.PgError](err); refused && !errors.Is(wrap(err), relay.ErrUnavailable) {
		return
	}
	for i, r := range all {
		if r.err = wrap(err); err == nil && before[i] != nil {
			r.cursor, r.stored = *before[i], true
		}
	}
}
