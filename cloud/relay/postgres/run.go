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

// A run is what devices send nearly always: deltas of one chain, in order, that
// follow what is there. Runs that come at once share a round trip and a
// transaction, in which each names its own account before it sees a row (see
// migrations/00004_append.sql). What is not so plain is done by itself, by
// [appendDeltas]: what was there already, has no room, does not follow, or
// would wait for somebody who holds its account.
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

	cursor int64 // before the first, once it is stored
	stored bool
	err    error
	done   chan struct{}
}

// newRun gives nil where deltas are not one, or begin a chain: those are counted.
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

// cursors are those of a stored run.
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
	// runsFor is how long a transaction may take: after that the database is
	// taken for gone. Whether it committed is not known then, and who sends
	// again finds out.
	runsFor = 30 * time.Second
)

// lanes have one transaction each under way. An account has one of them, so
// that no two of this relay's transactions want the same rows.
const lanes = 2

// lane gathers runs while a transaction is under way.
type lane struct {
	mu      sync.Mutex
	waiting []*run
	leading bool
}

// appendRun stores a run, or reports that it is for [appendDeltas].
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
	case <-ctx.Done(): // it may be stored all the same
		return false, ctx.Err()
	}
}

// lead commits what waits until mine is done, and leaves the rest to another.
func (s *Store) lead(ctx context.Context, l *lane, mine *run) {
	for {
		now := l.take()
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
				s.handed.Go(func() { s.lead(ctx, l, nil) }) // its caller is answered; who waits is not kept waiting
				return
			default:
			}
		}
	}
}

// take gives the next runs, and ends the leading where there are none.
func (l *lane) take() []*run {
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

// commit stores runs in one transaction. Where the database refuses one of
// them, none is stored, and each is left to be done by itself.
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
