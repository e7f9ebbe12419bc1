package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

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

func (s *Store) append(ctx context.Context, id memory.SpaceID, logN uint64, logHead *envelope.Hash, deltas []*envelope.Delta, quota relay.Quota, now time.Time) ([]uint64, error) {
	cursors := make([]uint64, len(deltas))
	err := s.inSpace(ctx, "append deltas", id, func(ctx context.Context, tx *sql.Tx, head relay.Space) error {
		if head.LogN != logN || logHead != nil && head.LogHead != *logHead {
			return relay.ErrConflict
		}
		var bytes, fresh int64
		ends := map[chain]envelope.Link{}
		for i, d := range deltas {
			cursor, err := placed(ctx, tx, ends, &d.Header)
			if err != nil {
				return err
			}
			if cursor == 0 {
				if d.Header.Seq == 1 {
					if err := begin(ctx, tx, &d.Header, quota); err != nil {
						return err
					}
				}
				head.Cursor++
				cursor = head.Cursor
				size, err := insert(ctx, tx, d, cursor)
				if err != nil {
					return err
				}
				bytes, fresh = bytes+size, fresh+1
				ends[chain{d.Header.Member, d.Header.Incarnation}] = d.Header.Next()
			}
			cursors[i] = cursor
		}
		if fresh == 0 {
			return nil
		}
		if err := spendToday(ctx, tx, head.Account, quota, bytes, fresh, now); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE spaces SET cursor = ? WHERE id = ?", head.Cursor, id[:])
		return err
	})
	if err != nil {
		return nil, err
	}
	return cursors, nil
}

// chain names a chain: the deltas that one incarnation of a member sends in
// order.
type chain struct {
	member      memory.MemberID
	incarnation uint64
}

// placed returns the cursor of a delta that is stored, 0 if it is the next of
// its chain, and an error otherwise. ends caches the last link of each chain.
func placed(ctx context.Context, tx *sql.Tx, ends map[chain]envelope.Link, h *envelope.Header) (uint64, error) {
	c := chain{h.Member, h.Incarnation}
	link, known := ends[c]
	if !known {
		var seq int64
		var have []byte
		err := tx.QueryRowContext(ctx, "SELECT seq, hash FROM deltas WHERE space = ? AND member = ? AND incarnation = ? ORDER BY seq DESC LIMIT 1",
			h.Space[:], h.Member[:], int64(h.Incarnation)).Scan(&seq, &have)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
		if err == nil {
			link.Seq = uint64(seq)
			copy(link.Hash[:], have)
		}
		ends[c] = link
	}
	if h.Seq > link.Seq {
		return 0, link.Check(h)
	}
	var cursor uint64
	var have []byte
	err := tx.QueryRowContext(ctx, "SELECT cursor, hash FROM deltas WHERE space = ? AND member = ? AND incarnation = ? AND seq = ?",
		h.Space[:], h.Member[:], int64(h.Incarnation), int64(h.Seq)).Scan(&cursor, &have)
	hash := h.Hash()
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, link.Check(h)
	case err != nil:
		return 0, err
	case string(have) != string(hash[:]):
		fork := &envelope.ForkError{What: "member " + h.Member.String(), At: h.Seq, Theirs: hash}
		copy(fork.Ours[:], have)
		return 0, fork
	}
	return cursor, nil
}

// begin returns an error if the member may not begin another chain.
func begin(ctx context.Context, tx *sql.Tx, h *envelope.Header, quota relay.Quota) error {
	if quota.Chains == 0 {
		return nil
	}
	var n int64
	if err := tx.QueryRowContext(ctx, countChains, h.Space[:], h.Member[:], h.Space[:], h.Member[:], quota.Chains).Scan(&n); err != nil {
		return err
	}
	return quota.Begin(h.Member, n)
}

// countChains counts the chains of a member. It uses the index to go from one
// chain to the next, because a chain may have millions of deltas, and stops at
// the limit.
const countChains = `WITH RECURSIVE chains (incarnation) AS (
	SELECT min(incarnation) FROM deltas WHERE space = ? AND member = ?
	UNION ALL SELECT (SELECT min(d.incarnation) FROM deltas d WHERE d.space = ? AND d.member = ? AND d.incarnation > chains.incarnation)
		FROM chains WHERE chains.incarnation IS NOT NULL)
SELECT count(incarnation) FROM (SELECT incarnation FROM chains LIMIT ?)`

// insert stores a delta and returns the size that counts towards the quota.
func insert(ctx context.Context, tx *sql.Tx, d *envelope.Delta, cursor uint64) (int64, error) {
	h := &d.Header
	header, hash := h.Bytes(), h.Hash()
	size := relay.DeltaSize(len(header) + len(d.Signature) + len(d.Body))
	var body any // a nil []byte would be stored as an empty value, not as null
	if d.Body != nil {
		body = d.Body
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO deltas VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", h.Space[:], cursor,
		h.Member[:], int64(h.Incarnation), int64(h.Seq), hash[:], header, d.Signature, body, size)
	return size, err
}

func spendToday(ctx context.Context, tx *sql.Tx, id relay.AccountID, quota relay.Quota, bytes, deltas int64, now time.Time) error {
	a, err := account(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := quota.Room(a, bytes, 0); err != nil {
		return err
	}
	if err := quota.Today(a, deltas, now); err != nil {
		return err
	}
	day := relay.Day(now)
	if a.Day == day {
		deltas += a.Deltas
	}
	_, err = tx.ExecContext(ctx, "UPDATE accounts SET bytes = bytes + ?, day = ?, deltas = ? WHERE id = ?", bytes, day, deltas, id[:])
	return err
}

func (s *Store) After(ctx context.Context, id memory.SpaceID, cursor uint64, limit, size int) ([]relay.Placed, error) {
	return readAfter(ctx, s.read, id, cursor, limit, size)
}

func readAfter(ctx context.Context, q querier, id memory.SpaceID, cursor uint64, limit, size int) ([]relay.Placed, error) {
	rows, err := q.QueryContext(ctx, "SELECT cursor, header, signature, body FROM deltas WHERE space = ? AND cursor > ? ORDER BY cursor LIMIT ?",
		id[:], int64(min(cursor, 1<<63-1)), limit)
	if err != nil {
		return nil, fmt.Errorf("read deltas: %w", err)
	}
	defer rows.Close()
	var out []relay.Placed
	for rows.Next() {
		var p relay.Placed
		var header []byte
		var d envelope.Delta
		if err := rows.Scan(&p.Cursor, &header, &d.Signature, &d.Body); err != nil {
			return nil, fmt.Errorf("read deltas: %w", err)
		}
		h, err := envelope.ParseHeader(header)
		if err != nil {
			return nil, fmt.Errorf("read delta %d: stored %v", p.Cursor, err)
		}
		d.Header = *h
		p.Delta = d.Bytes()
		if size -= len(p.Delta); size < 0 && len(out) > 0 {
			break
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

func (s *Store) Chains(ctx context.Context, id memory.SpaceID, member memory.MemberID) ([]envelope.Position, error) {
	out, err := collect(ctx, s.read, relay.ScanChain[*sql.Rows], "SELECT incarnation, max(seq) FROM deltas WHERE space = ? AND member = ? GROUP BY incarnation", id[:], member[:])
	if err != nil {
		return nil, fmt.Errorf("read chains: %w", err)
	}
	return out, nil
}

func (s *Store) Hashes(ctx context.Context, id memory.SpaceID, refs []relay.Ref) ([]envelope.Hash, error) {
	out := make([]envelope.Hash, len(refs))
	for i, r := range refs {
		var hash []byte
		err := s.read.QueryRowContext(ctx, "SELECT hash FROM deltas WHERE space = ? AND member = ? AND incarnation = ? AND seq = ?",
			id[:], r.Member[:], int64(r.Incarnation), int64(r.Seq)).Scan(&hash)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("read hashes: %w", err)
		}
		copy(out[i][:], hash)
	}
	return out, nil
}

func (s *Store) Forget(ctx context.Context, id memory.SpaceID, refs []relay.Ref) (n int, err error) {
	err = s.inSpace(ctx, "forget", id, func(ctx context.Context, tx *sql.Tx, head relay.Space) error {
		var freed int64
		for _, r := range refs {
			key := []any{id[:], r.Member[:], int64(r.Incarnation), int64(r.Seq)}
			var size int64
			err := tx.QueryRowContext(ctx, "SELECT length(body) FROM deltas WHERE space = ? AND member = ? AND incarnation = ? AND seq = ? AND body IS NOT NULL",
				key...).Scan(&size)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, "UPDATE deltas SET size = size - length(body), body = NULL WHERE space = ? AND member = ? AND incarnation = ? AND seq = ?", key...)
			if err != nil {
				return err
			}
			n++
			freed += size
		}
		return use(ctx, tx, head.Account, -freed, 0)
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
