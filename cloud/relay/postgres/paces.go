package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
)

var _ relay.SharedPace = (*Store)(nil)

// spend is one statement for all accounts that made requests since the last
// call. It locks rows in the order of their ids, so that relays can't deadlock.
// An account's debt is at most the requests of a minute.
const spend = `INSERT INTO paces AS p SELECT id, $3 - n, $4 FROM unnest($1::bytea[], $2::float8[]) AS asked (id, n)
	ON CONFLICT (id) DO UPDATE SET
		spare = greatest(-$3, least($3, p.spare + greatest(0, $4 - p.at) * $3 / 60) - ($3 - excluded.spare)),
		at = greatest(p.at, $4)
	RETURNING id, spare`

// paid is the number of seconds after which no account has a debt any more: by
// then a debt and a full minute's requests have come back.
const paid = 120

func (s *Store) Spend(ctx context.Context, requests map[relay.AccountID]int64, perMinute int64, now time.Time) (map[relay.AccountID]float64, error) {
	of := make(map[[16]byte]relay.AccountID, len(requests))
	for a := range requests {
		sum := sha256.Sum256(append([]byte("locket/v1 pace\x00"), a[:]...))
		of[[16]byte(sum[:16])] = a
	}
	ids := slices.SortedFunc(maps.Keys(of), func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	keys, counts := make([][]byte, len(ids)), make([]float64, len(ids))
	for i, id := range ids {
		keys[i], counts[i] = id[:], float64(requests[of[id]])
	}
	rows, err := s.pool.Query(ctx, spend, keys, counts, float64(perMinute), float64(now.UnixMicro())/1e6)
	if err != nil {
		return nil, fmt.Errorf("count requests: %w", wrap(err))
	}
	defer rows.Close()
	left := make(map[relay.AccountID]float64, len(ids))
	for rows.Next() {
		var id []byte
		var spare float64
		if err := rows.Scan(&id, &spare); err != nil {
			return nil, fmt.Errorf("count requests: %w", wrap(err))
		}
		left[of[[16]byte(id)]] = spare
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count requests: %w", wrap(err))
	}
	return left, nil
}
