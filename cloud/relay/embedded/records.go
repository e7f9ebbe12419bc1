package embedded

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// selectEnds uses the index to go from one chain of a space to the next, and to its end. A space
// has few chains, but may have millions of deltas.
const selectEnds = `WITH RECURSIVE chains (member, incarnation) AS (
	SELECT * FROM (SELECT member, incarnation FROM deltas WHERE space = ?1 ORDER BY member, incarnation LIMIT 1)
	UNION ALL SELECT d.member, d.incarnation FROM chains JOIN deltas d ON d.rowid = coalesce(
		(SELECT n.rowid FROM deltas n WHERE n.space = ?1 AND n.member = chains.member AND n.incarnation > chains.incarnation ORDER BY n.incarnation LIMIT 1),
		(SELECT n.rowid FROM deltas n WHERE n.space = ?1 AND n.member > chains.member ORDER BY n.member, n.incarnation LIMIT 1)))
SELECT member, incarnation, (SELECT max(d.seq) FROM deltas d WHERE d.space = ?1 AND d.member = chains.member AND d.incarnation = chains.incarnation), x'' FROM chains`

const selectDelta = "SELECT cursor, hash FROM deltas WHERE space = ? AND member = ? AND incarnation = ? AND seq = ?"

func (s *Store) Places(ctx context.Context, id memory.SpaceID, cursor uint64) (out []envelope.Place, err error) {
	ends, err := collect(ctx, s.read, relay.ScanPlace[*sql.Rows], selectEnds, id[:])
	for i := 0; err == nil && i < len(ends); i++ {
		var p envelope.Place
		if p, err = s.placeAt(ctx, id, ends[i], cursor); p.Seq > 0 {
			out = append(out, p)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("places: %w", err)
	}
	return relay.SortPlaces(out), nil
}

// placeAt returns the last delta of a chain up to a cursor, with seq 0 if there is none. A chain has
// no gaps, and its cursors ascend, so that they can be halved.
func (s *Store) placeAt(ctx context.Context, id memory.SpaceID, end envelope.Place, cursor uint64) (p envelope.Place, err error) {
	p = envelope.Place{Member: end.Member, Incarnation: end.Incarnation}
	for most, seq := end.Seq, end.Seq; p.Seq < most; seq = most - (most-p.Seq)/2 {
		var at uint64
		var hash []byte
		if err := s.read.QueryRowContext(ctx, selectDelta, id[:], end.Member[:], int64(end.Incarnation), int64(seq)).Scan(&at, &hash); err != nil {
			return p, err
		}
		if at > cursor {
			most = seq - 1
			continue
		}
		p.Seq = seq
		copy(p.Hash[:], hash)
	}
	return p, nil
}

func (s *Store) PutRecord(ctx context.Context, id memory.SpaceID, r relay.Record, quota relay.Quota) error {
	return s.inSpace(ctx, "keep record", id, func(ctx context.Context, tx *sql.Tx, head relay.Space) error {
		if r.ID != r.About {
			var there int
			if err := tx.QueryRowContext(ctx, "SELECT 1 FROM records WHERE space = ? AND id = ?", id[:], r.About[:]).Scan(&there); err != nil {
				return found(err)
			}
		}
		n, err := affected(tx.ExecContext(ctx, "INSERT INTO records (space, id, about, record) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
			id[:], r.ID[:], r.About[:], r.Bytes))
		if err != nil || n == 0 {
			return err
		}
		return spend(ctx, tx, head.Account, quota, int64(len(r.Bytes)), 0)
	})
}

func (s *Store) Records(ctx context.Context, id memory.SpaceID) ([]relay.Record, error) {
	return readRecords(ctx, s.read, id)
}

func (s *Store) CountRecords(ctx context.Context, id memory.SpaceID) (n int, err error) {
	if err := s.read.QueryRowContext(ctx, "SELECT count(*) FROM records WHERE space = ?", id[:]).Scan(&n); err != nil {
		return 0, fmt.Errorf("count records: %w", err)
	}
	return n, nil
}

func readRecords(ctx context.Context, q querier, id memory.SpaceID) ([]relay.Record, error) {
	out, err := collect(ctx, q, relay.ScanRecord[*sql.Rows], "SELECT id, about, record FROM records WHERE space = ? ORDER BY n", id[:])
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	return out, nil
}

func (s *Store) DropRecords(ctx context.Context, id memory.SpaceID, about envelope.Hash) error {
	return s.inSpace(ctx, "drop records", id, func(ctx context.Context, tx *sql.Tx, head relay.Space) error {
		var size int64
		err := tx.QueryRowContext(ctx, "SELECT coalesce(sum(length(record)), 0) FROM records WHERE space = ? AND about = ?", id[:], about[:]).Scan(&size)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM records WHERE space = ? AND about = ?", id[:], about[:]); err != nil {
			return err
		}
		return use(ctx, tx, head.Account, -size, 0)
	})
}

func (s *Store) Compact(ctx context.Context, id memory.SpaceID, upto uint64) (n int, err error) {
	err = s.inSpace(ctx, "compact", id, func(ctx context.Context, tx *sql.Tx, head relay.Space) error {
		var freed int64
		err := tx.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(length(body)), 0) FROM deltas WHERE space = ? AND cursor <= ? AND body IS NOT NULL",
			id[:], int64(min(upto, 1<<63-1))).Scan(&n, &freed)
		if err != nil || n == 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE deltas SET size = size - length(body), body = NULL WHERE space = ? AND cursor <= ? AND body IS NOT NULL",
			id[:], int64(min(upto, 1<<63-1)))
		if err != nil {
			return err
		}
		return use(ctx, tx, head.Account, -freed, 0)
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
