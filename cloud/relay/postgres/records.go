package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// selectPlaces uses the index to go from one chain of a space to the next, and then halves each
// chain until it has the last delta up to the cursor: a chain has no gaps, and its cursors ascend. A
// space has few chains, but may have millions of deltas. ORDER BY makes the planner use the index of
// the chains, even if it knows nothing of the table yet.
const selectPlaces = `WITH RECURSIVE chains AS (
	(SELECT member, incarnation FROM deltas WHERE account = $1 AND space = $2 ORDER BY member, incarnation LIMIT 1)
	UNION ALL SELECT next.* FROM chains c, LATERAL (
		SELECT member, incarnation FROM deltas WHERE account = $1 AND space = $2 AND (member, incarnation) > (c.member, c.incarnation)
		ORDER BY member, incarnation LIMIT 1) next),
halves (member, incarnation, least, most) AS (
	SELECT c.member, c.incarnation, 0::bigint, last.seq FROM chains c, LATERAL (
		SELECT seq FROM deltas WHERE account = $1 AND space = $2 AND member = c.member AND incarnation = c.incarnation ORDER BY seq DESC LIMIT 1) last
	UNION ALL SELECT h.member, h.incarnation, CASE WHEN mid.cursor <= $3 THEN mid.seq ELSE h.least END, CASE WHEN mid.cursor <= $3 THEN h.most ELSE mid.seq - 1 END
	FROM halves h, LATERAL (
		SELECT seq, cursor FROM deltas
		WHERE account = $1 AND space = $2 AND member = h.member AND incarnation = h.incarnation AND seq <= h.most - (h.most - h.least) / 2
		ORDER BY seq DESC LIMIT 1) mid
	WHERE h.least < h.most)
SELECT last.* FROM halves h, LATERAL (
	SELECT member, incarnation, seq, hash FROM deltas
	WHERE account = $1 AND space = $2 AND member = h.member AND incarnation = h.incarnation AND seq <= h.least ORDER BY seq DESC LIMIT 1) last
WHERE h.least = h.most`

func (s *Store) Places(ctx context.Context, id memory.SpaceID, cursor uint64) ([]envelope.Place, error) {
	out, err := list(ctx, s, "places", id, relay.ScanPlace[pgx.CollectableRow], selectPlaces, int64(min(cursor, 1<<63-1)))
	return relay.SortPlaces(out), err
}

func (s *Store) PutRecord(ctx context.Context, id memory.SpaceID, r relay.Record, quota relay.Quota) error {
	return s.inSpace(ctx, "keep record", id, func(tx pgx.Tx, a *relay.Account, _ relay.Space) error {
		if r.ID != r.About {
			var there int
			if err := tx.QueryRow(ctx, "SELECT 1 FROM records WHERE account = $1 AND space = $2 AND id = $3", a.ID[:], id[:], r.About[:]).Scan(&there); err != nil {
				return notHere(err)
			}
		}
		made, err := tx.Exec(ctx, `INSERT INTO records SELECT $1, $2, $3, coalesce(max(n), 0) + 1, $4, $5 FROM records WHERE account = $1 AND space = $2
			ON CONFLICT DO NOTHING`, a.ID[:], id[:], r.ID[:], r.About[:], r.Bytes)
		if err != nil || made.RowsAffected() == 0 {
			return err
		}
		if err := quota.Room(*a, int64(len(r.Bytes)), 0); err != nil {
			return err
		}
		return use(ctx, tx, a.ID, int64(len(r.Bytes)), 0)
	})
}

func (s *Store) Records(ctx context.Context, id memory.SpaceID) ([]relay.Record, error) {
	return list(ctx, s, "read records", id, relay.ScanRecord[pgx.CollectableRow], selectRecords)
}

const selectRecords = "SELECT id, about, record FROM records WHERE account = $1 AND space = $2 ORDER BY n"

func (s *Store) CountRecords(ctx context.Context, id memory.SpaceID) (n int, err error) {
	err = s.of(ctx, id, func(account relay.AccountID) error {
		return s.read(ctx, account, func(row pgx.Rows) error { return row.Scan(&n) },
			"SELECT count(*) FROM records WHERE account = $1 AND space = $2", account[:], id[:])
	})
	if errors.Is(err, relay.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("count records: %w", err)
	}
	return n, nil
}

func (s *Store) DropRecords(ctx context.Context, id memory.SpaceID, about envelope.Hash) error {
	return s.inSpace(ctx, "drop records", id, func(tx pgx.Tx, a *relay.Account, _ relay.Space) error {
		var size int64
		err := tx.QueryRow(ctx, `WITH gone AS (DELETE FROM records WHERE account = $1 AND space = $2 AND about = $3 RETURNING length(record) AS size)
			SELECT coalesce(sum(size), 0)::bigint FROM gone`, a.ID[:], id[:], about[:]).Scan(&size)
		if err != nil {
			return err
		}
		return use(ctx, tx, a.ID, -size, 0)
	})
}

func (s *Store) Compact(ctx context.Context, id memory.SpaceID, upto uint64) (int, error) {
	return s.emptyBodies(ctx, "compact", id, `
		SELECT cursor, length(body) AS size FROM deltas WHERE account = $1 AND space = $2 AND cursor <= $3 AND body IS NOT NULL`, int64(min(upto, 1<<63-1)))
}
