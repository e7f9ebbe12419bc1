package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/pay/voucher"
	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/envelope"
)

// listedWords is how many words listings are made of. The nth is 1/n as frequent as the
// first, as in speech.
const listedWords = 20_000

func wordN(n int) string { return fmt.Sprintf("w%dx", n) }

// drawn returns a random word according to its frequency.
func drawn(r *mathrand.Rand) string {
	return wordN(int(math.Exp(r.Float64() * math.Log(listedWords))))
}

// search fills a database with listings, and searches them for two words each, one of which is
// frequent. The peer is PostgreSQL's own search for the same words over the same index, which
// counts nothing, has no facets and reads no listing.
func (b *marketBench) search(ctx context.Context, db *tables.DB, url string) ([]result, error) {
	began := time.Now()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "SET search_path TO market"); err != nil {
		return nil, err
	}
	m, err := b.filled(ctx, conn, db)
	if err != nil {
		return nil, fmt.Errorf("fill the market: %w", err)
	}
	fmt.Fprintf(b.stderr, "%d listings in %s\n", b.listings, time.Since(began).Round(time.Second))
	r := mathrand.New(mathrand.NewPCG(1, 2))
	var ours, bare []time.Duration
	total := 0
	for range b.searches {
		a, c := wordN(10+r.IntN(90)), drawn(r)
		began := time.Now()
		f, err := m.Search(ctx, market.Query{Words: a + " " + c})
		if err != nil {
			return nil, err
		}
		ours = append(ours, time.Since(began))
		total += int(f.Total)
		query := a + " & " + c + ":*"
		began = time.Now()
		err = db.Read(ctx, func(tx *sql.Tx) error {
			rows, err := tx.QueryContext(ctx, `SELECT n FROM listings WHERE words @@ $1::tsquery ORDER BY ts_rank_cd(words, $1::tsquery) DESC LIMIT 20`, query)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var n int64
				if err := rows.Scan(&n); err != nil {
					return err
				}
			}
			return rows.Err()
		})
		if err != nil {
			return nil, err
		}
		bare = append(bare, time.Since(began))
	}
	out := result{Suite: "market", Case: "search_p99", N: b.listings, Value: round(percentile(milliseconds(ours), 99)), Unit: "ms",
		Note: fmt.Sprintf("%d searches, %d hits each on average, of which 20 are given with count and facets; median %.2f ms", b.searches, total/b.searches, percentile(milliseconds(ours), 50))}
	if b.listings == 1_000_000 {
		out.Case = "search_p99_1m"
	}
	return []result{out.beside("bare full-text search", round(percentile(milliseconds(bare), 99)), false)}, nil
}

// filled copies listings into the tables in the state that Publish leaves. All have the bytes of
// one signed listing.
func (b *marketBench) filled(ctx context.Context, conn *pgx.Conn, db *tables.DB) (*market.Market, error) {
	operator, arbiter, seller := party(), party(), party()
	secret := seal.NewKey()
	defer secret.Zero()
	l, err := listing(operator.Key, arbiter.Key, seller, secret, [][]byte{make([]byte, 300)})
	if err != nil {
		return nil, err
	}
	text, err := envelope.SignRequest(envelope.Request{Key: arbiter.Key[:], Recipient: seal.NewIdentity().Recipient().String()}, arbiter.Sign)
	if err != nil {
		return nil, err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // this never fails
	vouchers, err := voucher.New(db, key, nil)
	if err != nil {
		return nil, err
	}
	var first int64
	if err := conn.QueryRow(ctx, "SELECT coalesce(max(n), 0) + 1 FROM listings").Scan(&first); err != nil {
		return nil, err
	}
	hash := func(i int) []byte {
		h := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("bench"), uint64(i)))
		return h[:]
	}
	r := mathrand.New(mathrand.NewPCG(3, 4))
	facets := []string{"garden", "travel", "cooking", "music", "health", "work", "sport", "history"}
	if _, err := conn.Exec(ctx, "DROP INDEX listings_words"); err != nil { // rebuilt in one go after the rows are inserted
		return nil, err
	}
	if _, err := conn.Exec(ctx, "CREATE TEMP TABLE filling (n bigint, id bytea, at bigint, words text)"); err != nil {
		return nil, err
	}
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"filling"}, []string{"n", "id", "at", "words"}, pgx.CopyFromSlice(b.listings, func(i int) ([]any, error) {
		var words strings.Builder
		for at := range 40 {
			fmt.Fprintf(&words, "%s:%d%s ", drawn(r), at+1, map[bool]string{true: "A", false: "C"}[at < 6])
		}
		return []any{first + int64(i), hash(i), int64(1_800_000_000 + i), words.String()}, nil
	}))
	if err != nil {
		return nil, err
	}
	for _, q := range []string{
		"INSERT INTO listings (n, id, seller, state, version, number, price, currency, at, words) OVERRIDING SYSTEM VALUE SELECT n, id, $1, 'live', id, 1, 500, 'EUR', at, words::tsvector FROM filling",
		"INSERT INTO versions (hash, listing, number, root, signed) SELECT id, n, 1, id, $1 FROM filling",
	} {
		v := seller.Key[:]
		if strings.Contains(q, "versions") {
			v = l.Signed
		}
		if _, err := conn.Exec(ctx, q, v); err != nil {
			return nil, err
		}
	}
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"listing_facets"}, []string{"listing", "kind", "value"}, pgx.CopyFromSlice(2*b.listings, func(i int) ([]any, error) {
		if i%2 == 0 {
			return []any{first + int64(i/2), "category", facets[(i/2)%len(facets)]}, nil
		}
		return []any{first + int64(i/2), "language", []string{"en", "zh-Hans"}[(i/2)%2]}, nil
	}))
	if err != nil {
		return nil, err
	}
	for _, q := range []string{"DROP TABLE filling", "CREATE INDEX listings_words ON listings USING gin (words)", "VACUUM ANALYZE"} {
		if _, err := conn.Exec(ctx, q); err != nil {
			return nil, err
		}
	}
	return market.New(market.Config{DB: db, Key: ed25519.NewKeyFromSeed(key), Arbiter: text, Vouchers: vouchers})
}
