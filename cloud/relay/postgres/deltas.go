package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

func (s *Store) Append(ctx context.Context, id memory.SpaceID, logN uint64, deltas []*envelope.Delta, quota relay.Quota, now time.Time) ([]uint64, error) {
	return s.append(ctx, id, logN, nil, deltas, quota, now)
}

func (s *Store) AppendExact(ctx context.Context, id memory.SpaceID, logN uint64, logHead envelope.Hash, deltas []*envelope.Delta, quota relay.Quota, now time.Time) ([]uint64, error) {
	return s.append(ctx, id, logN, &logHead, deltas, quota, now)
}

func (s *Store) append(ctx context.Context, id memory.SpaceID, logN uint64, logHead *envelope.Hash, deltas []*envelope.Delta, quota relay.Quota, now time.Time) (cursors []uint64, err error) {
	err = s.of(ctx, id, func(account relay.AccountID) error {
		if logHead != nil {
			if r := newRun(account, id, logN, *logHead, deltas, quota, now); r != nil {
				stored, err := s.appendRun(ctx, r)
				if err != nil {
					return err // a transaction may still be using r
				}
				if stored {
					cursors = r.cursors()
					return nil
				}
			}
		}
		conn, err := s.pool.Acquire(ctx)
		if err != nil {
			return wrap(err)
		}
		defer conn.Release() // Release closes a connection that is in a transaction
		cursors, err = appendDeltas(ctx, conn.Conn(), account, id, logN, logHead, deltas, quota, now)
		if err != nil {
			if _, failed := conn.Exec(context.WithoutCancel(ctx), "ROLLBACK"); failed != nil {
				_ = conn.Conn().Close(context.WithoutCancel(ctx)) // the connection is of no use any more
			}
		}
		return wrap(err)
	})
	if err != nil {
		return nil, fmt.Errorf("append deltas: %w", err)
	}
	return cursors, nil
}

// appendDeltas needs two round trips: the first locks and reads, the second
// writes and commits.
func appendDeltas(ctx context.Context, conn *pgx.Conn, account relay.AccountID, id memory.SpaceID, logN uint64, logHead *envelope.Hash, deltas []*envelope.Delta, quota relay.Quota, now time.Time) ([]uint64, error) {
	at, err := look(ctx, conn, account, id, deltas)
	if err != nil {
		return nil, err
	}
	if at.head.LogN != logN || logHead != nil && at.head.LogHead != *logHead {
		return nil, relay.ErrConflict
	}
	cursors := make([]uint64, len(deltas))
	var fresh rows
	begun := map[memory.MemberID]int64{}
	cursor := at.head.Cursor
	for i, d := range deltas {
		if cursors[i], err = at.place(&d.Header); err != nil {
			return nil, err
		}
		if cursors[i] == 0 {
			if d.Header.Seq == 1 {
				if err := begin(ctx, conn, account, begun, &d.Header, quota); err != nil {
					return nil, err
				}
			}
			cursor++
			cursors[i] = cursor
			fresh.add(d, cursor)
			at.put(&d.Header, cursor)
		}
	}
	if len(fresh.cursor) == 0 {
		_, err := conn.Exec(ctx, "ROLLBACK")
		return cursors, err
	}
	if err := quota.Room(at.account, fresh.bytes, 0); err != nil {
		return nil, err
	}
	if err := quota.Today(at.account, int64(len(fresh.cursor)), now); err != nil {
		return nil, err
	}
	today, day := int64(len(fresh.cursor)), relay.Day(now)
	if at.account.Day == day {
		today += at.account.Deltas
	}
	b := &pgx.Batch{}
	b.Queue(`INSERT INTO deltas SELECT $1, $2, * FROM unnest($3::bigint[], $4::bytea[], $5::bigint[], $6::bigint[], $7::bytea[], $8::bytea[], $9::bytea[], $10::bytea[], $11::int[])`,
		account[:], id[:], fresh.cursor, fresh.member, fresh.incarnation, fresh.seq, fresh.hash, fresh.header, fresh.signature, fresh.body, fresh.size)
	b.Queue("UPDATE spaces SET cursor = $3 WHERE account = $1 AND space = $2", account[:], id[:], int64(cursor))
	b.Queue("UPDATE accounts SET bytes = bytes + $2, day = $3, deltas = $4 WHERE account = $1", account[:], fresh.bytes, day, today)
	b.Queue("COMMIT")
	return cursors, conn.SendBatch(ctx, b).Close()
}

// begin checks whether a member may begin another chain. This needs one more
// round trip. begun caches the number of chains of each member.
func begin(ctx context.Context, conn *pgx.Conn, account relay.AccountID, begun map[memory.MemberID]int64, h *envelope.Header, quota relay.Quota) error {
	if quota.Chains == 0 {
		return nil
	}
	n, known := begun[h.Member]
	if !known {
		if err := conn.QueryRow(ctx, countChains, account[:], h.Space[:], h.Member[:], quota.Chains).Scan(&n); err != nil {
			return err
		}
	}
	if err := quota.Begin(h.Member, n); err != nil {
		return err
	}
	begun[h.Member] = n + 1
	return nil
}

// countChains counts the chains of a member. It uses the index to go from one
// chain to the next, and stops at the limit.
const countChains = `WITH RECURSIVE chains AS (
	(SELECT incarnation FROM deltas WHERE account = $1 AND space = $2 AND member = $3 ORDER BY incarnation LIMIT 1)
	UNION ALL SELECT next.* FROM chains c, LATERAL (
		SELECT incarnation FROM deltas WHERE account = $1 AND space = $2 AND member = $3 AND incarnation > c.incarnation
		ORDER BY incarnation LIMIT 1) next)
SELECT count(*) FROM (SELECT 1 FROM chains LIMIT $4) counted`

// rows are deltas, one slice for each column.
type rows struct {
	cursor, incarnation, seq              []int64
	member, hash, header, signature, body [][]byte
	size                                  []int32
	bytes                                 int64
}

func (r *rows) add(d *envelope.Delta, cursor uint64) {
	h := &d.Header
	header, hash := h.Bytes(), h.Hash()
	size := relay.DeltaSize(len(header) + len(d.Signature) + len(d.Body))
	r.cursor = append(r.cursor, int64(cursor))
	r.member = append(r.member, h.Member[:])
	r.incarnation = append(r.incarnation, int64(h.Incarnation))
	r.seq = append(r.seq, int64(h.Seq))
	r.hash = append(r.hash, hash[:])
	r.header = append(r.header, header)
	r.signature = append(r.signature, d.Signature)
	r.body = append(r.body, d.Body) // nil is stored as null
	r.size = append(r.size, int32(size))
	r.bytes += size
}

// view is what an append needs to know. Account and space are locked.
type view struct {
	account relay.Account
	head    relay.Space
	here    map[relay.Ref]stored    // stored deltas at the places of the new ones
	links   map[chain]envelope.Link // the last links of the authors' chains
}

type stored struct {
	cursor uint64
	hash   envelope.Hash
}

type chain struct {
	member      memory.MemberID
	incarnation uint64
}

// look begins a transaction, locks, and reads.
func look(ctx context.Context, conn *pgx.Conn, account relay.AccountID, id memory.SpaceID, deltas []*envelope.Delta) (*view, error) {
	v := &view{account: relay.Account{ID: account}, head: relay.Space{Account: account}, here: map[relay.Ref]stored{}, links: map[chain]envelope.Link{}}
	var members, ends [][]byte
	var incarnations, seqs, endings []int64
	for _, d := range deltas {
		h := &d.Header
		members, incarnations, seqs = append(members, h.Member[:]), append(incarnations, int64(h.Incarnation)), append(seqs, int64(h.Seq))
		c := chain{h.Member, h.Incarnation}
		if _, known := v.links[c]; !known {
			v.links[c] = envelope.Link{}
			ends, endings = append(ends, h.Member[:]), append(endings, int64(h.Incarnation))
		}
	}
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	b.Queue(name, accountText(account))
	b.Queue("SELECT bytes, blobs, day, deltas FROM accounts WHERE account = $1 FOR UPDATE", account[:])
	b.Queue(selectHead+" FOR UPDATE", account[:], id[:])
	b.Queue(`SELECT d.member, d.incarnation, d.seq, d.hash, d.cursor FROM unnest($3::bytea[], $4::bigint[], $5::bigint[]) AS w (member, incarnation, seq)
		JOIN deltas d ON d.account = $1 AND d.space = $2 AND d.member = w.member AND d.incarnation = w.incarnation AND d.seq = w.seq`,
		account[:], id[:], members, incarnations, seqs)
	b.Queue(`SELECT l.member, l.incarnation, l.seq, l.hash, l.cursor FROM unnest($3::bytea[], $4::bigint[]) AS w (member, incarnation), LATERAL (
		SELECT member, incarnation, seq, hash, cursor FROM deltas d WHERE d.account = $1 AND d.space = $2 AND d.member = w.member AND d.incarnation = w.incarnation
		ORDER BY seq DESC LIMIT 1) l`, account[:], id[:], ends, endings)
	res := conn.SendBatch(ctx, b)
	err := v.read(res)
	if closing := res.Close(); err == nil {
		err = closing
	}
	return v, err
}

func (v *view) read(res pgx.BatchResults) error {
	for range 2 {
		if _, err := res.Exec(); err != nil {
			return err
		}
	}
	a := &v.account
	if err := res.QueryRow().Scan(&a.Bytes, &a.Blobs, &a.Day, &a.Deltas); err != nil {
		return notHere(err)
	}
	if err := scanHead(res.QueryRow(), &v.head); err != nil {
		return notHere(err)
	}
	each := func(f func(relay.Ref, stored)) func(pgx.Rows) error {
		return func(r pgx.Rows) error {
			var member, hash []byte
			var incarnation, seq, cursor int64
			if err := r.Scan(&member, &incarnation, &seq, &hash, &cursor); err != nil {
				return err
			}
			ref := relay.Ref{Position: envelope.Position{Incarnation: uint64(incarnation), Seq: uint64(seq)}}
			copy(ref.Member[:], member)
			st := stored{cursor: uint64(cursor)}
			copy(st.hash[:], hash)
			f(ref, st)
			return nil
		}
	}
	if err := scan(res, each(func(r relay.Ref, st stored) { v.here[r] = st })); err != nil {
		return err
	}
	return scan(res, each(func(r relay.Ref, st stored) {
		v.links[chain{r.Member, r.Incarnation}] = envelope.Link{Seq: r.Seq, Hash: st.hash}
	}))
}

func notHere(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return relay.ErrNotFound
	}
	return err
}

// place returns the cursor of a delta that is stored, 0 if it is the next of its
// chain, and an error otherwise.
func (v *view) place(h *envelope.Header) (uint64, error) {
	hash := h.Hash()
	if st, ok := v.here[relay.Ref{Member: h.Member, Position: h.Position()}]; ok {
		if st.hash == hash {
			return st.cursor, nil
		}
		return 0, &envelope.ForkError{What: "member " + h.Member.String(), At: h.Seq, Ours: st.hash, Theirs: hash}
	}
	return 0, v.links[chain{h.Member, h.Incarnation}].Check(h)
}

// put records that a delta was placed.
func (v *view) put(h *envelope.Header, cursor uint64) {
	v.here[relay.Ref{Member: h.Member, Position: h.Position()}] = stored{cursor, h.Hash()}
	v.links[chain{h.Member, h.Incarnation}] = h.Next()
}

func (s *Store) Forget(ctx context.Context, id memory.SpaceID, refs []relay.Ref) (int, error) {
	members, incarnations, seqs := columns(refs)
	return s.emptyBodies(ctx, "forget", id, `
		SELECT d.cursor, length(d.body) AS size FROM (SELECT DISTINCT * FROM unnest($3::bytea[], $4::bigint[], $5::bigint[]) AS u (member, incarnation, seq)) w
		JOIN deltas d ON d.account = $1 AND d.space = $2 AND d.member = w.member AND d.incarnation = w.incarnation AND d.seq = w.seq
		WHERE d.body IS NOT NULL`, members, incarnations, seqs)
}

// emptyBodies removes the bodies of the deltas that a query selects, and gives their
// bytes back to the account. The query returns cursor and size; $1 is the account, $2 the
// space, and args are $3 and those after it.
func (s *Store) emptyBodies(ctx context.Context, what string, id memory.SpaceID, query string, args ...any) (n int, err error) {
	err = s.inSpace(ctx, what, id, func(tx pgx.Tx, a *relay.Account, _ relay.Space) error {
		var freed int64
		err := tx.QueryRow(ctx, `WITH gone AS (`+query+`),
		emptied AS (
			UPDATE deltas d SET body = NULL, size = d.size - gone.size FROM gone WHERE d.account = $1 AND d.space = $2 AND d.cursor = gone.cursor
			RETURNING gone.size)
		SELECT count(*), coalesce(sum(size), 0)::bigint FROM emptied`, append([]any{a.ID[:], id[:]}, args...)...).Scan(&n, &freed)
		if err != nil {
			return err
		}
		return use(ctx, tx, a.ID, -freed, 0)
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
