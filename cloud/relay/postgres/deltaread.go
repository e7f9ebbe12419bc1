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

func (s *Store) After(ctx context.Context, id memory.SpaceID, cursor uint64, limit, size int) ([]relay.Placed, error) {
	return list(ctx, s, "read deltas", id, scanPlaced, selectAfter, int64(min(cursor, 1<<63-1)), limit, size)
}

// selectAfter selects a page with limits on the number of deltas and of bytes; it has at
// least one delta.
const selectAfter = `SELECT cursor, header, signature, body FROM (
	SELECT cursor, header, signature, body, sum(size) OVER (ORDER BY cursor) AS sum, row_number() OVER (ORDER BY cursor) AS nth FROM (
		SELECT * FROM deltas WHERE account = $1 AND space = $2 AND cursor > $3 ORDER BY cursor LIMIT $4) page) counted
	WHERE sum <= $5 OR nth = 1 ORDER BY cursor`

func scanPlaced(r pgx.CollectableRow) (relay.Placed, error) {
	var at int64
	var header []byte
	var d envelope.Delta
	if err := r.Scan(&at, &header, &d.Signature, &d.Body); err != nil {
		return relay.Placed{}, err
	}
	h, err := envelope.ParseHeader(header)
	if err != nil {
		return relay.Placed{}, fmt.Errorf("delta %d: stored %v", at, err)
	}
	d.Header = *h
	return relay.Placed{Cursor: uint64(at), Delta: d.Bytes()}, nil
}

// selectChains selects the last delta of each chain. It uses the index to go from
// one chain to the next.
const selectChains = `WITH RECURSIVE ends AS (
	(SELECT incarnation, seq FROM deltas WHERE account = $1 AND space = $2 AND member = $3 ORDER BY incarnation DESC, seq DESC LIMIT 1)
	UNION ALL SELECT next.* FROM ends e, LATERAL (
		SELECT incarnation, seq FROM deltas WHERE account = $1 AND space = $2 AND member = $3 AND incarnation < e.incarnation
		ORDER BY incarnation DESC, seq DESC LIMIT 1) next)
SELECT incarnation, seq FROM ends`

func (s *Store) Chains(ctx context.Context, id memory.SpaceID, member memory.MemberID) ([]envelope.Position, error) {
	return list(ctx, s, "read chains", id, relay.ScanChain[pgx.CollectableRow], selectChains, member[:])
}

// columns splits refs into columns.
func columns(refs []relay.Ref) (members [][]byte, incarnations, seqs []int64) {
	for _, r := range refs {
		members, incarnations, seqs = append(members, r.Member[:]), append(incarnations, int64(r.Incarnation)), append(seqs, int64(r.Seq))
	}
	return members, incarnations, seqs
}

func (s *Store) Hashes(ctx context.Context, id memory.SpaceID, refs []relay.Ref) ([]envelope.Hash, error) {
	out := make([]envelope.Hash, len(refs))
	members, incarnations, seqs := columns(refs)
	err := s.of(ctx, id, func(account relay.AccountID) error {
		return s.read(ctx, account, func(r pgx.Rows) error {
			var n int64
			var hash []byte
			if err := r.Scan(&n, &hash); err != nil {
				return err
			}
			copy(out[n-1][:], hash)
			return nil
		}, `SELECT w.n, d.hash FROM unnest($3::bytea[], $4::bigint[], $5::bigint[]) WITH ORDINALITY AS w (member, incarnation, seq, n)
			JOIN deltas d ON d.account = $1 AND d.space = $2 AND d.member = w.member AND d.incarnation = w.incarnation AND d.seq = w.seq`,
			account[:], id[:], members, incarnations, seqs)
	})
	if err != nil && !errors.Is(err, relay.ErrNotFound) {
		return nil, fmt.Errorf("read hashes: %w", err)
	}
	return out, nil
}
