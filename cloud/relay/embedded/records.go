package embedded

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

func (s *Store) Places(ctx context.Context, id memory.SpaceID, cursor uint64) ([]envelope.Place, error) {
	// In a query with max(), SQLite takes the other columns from the row with
	// the maximum (lang_select, "bare columns in an aggregate query").
	out, err := collect(ctx, s.read, relay.ScanPlace[*sql.Rows],
		"SELECT member, incarnation, max(seq), hash FROM deltas WHERE space = ? AND cursor <= ? GROUP BY member, incarnation", id[:], int64(min(cursor, 1<<63-1)))
	if err != nil {
		return nil, fmt.Errorf("places: %w", err)
	}
	return relay.SortPlaces(out), nil
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
