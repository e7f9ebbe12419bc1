package main

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
)

// fill sets up a household, and adds everybody else's deltas. The generated data has the sizes of
// real data. Indexes are built at the end, and nothing is written to the write-ahead log: the plans
// are the same.
func (b *scaleBench) fill(ctx context.Context, conn *pgx.Conn, url, dir string, h *storetest.Household) (err error) {
	s, err := openScale(ctx, url, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for i, e := range h.Entries {
		var f *relay.Founding
		if i == 0 {
			f = &relay.Founding{Account: relay.AccountID(h.Root.Public())}
		}
		if err := s.AppendLog(ctx, e, f, relay.Quota{}); err != nil {
			return err
		}
	}
	d, err := envelope.Sign(envelope.Header{Space: h.Space, Member: h.Writer.ID, Incarnation: 7, Seq: 1, Head: h.State.Head(), Epoch: h.State.Epoch()},
		[]byte(strings.Repeat("s", b.body)), envelope.KeySigner(h.Writer.Key))
	if err != nil {
		return err
	}
	header := d.Header.Bytes()
	size := relay.DeltaSize(len(header) + len(d.Signature) + len(d.Body))
	own := b.rows / 10 // of the household
	each := (b.rows - own) / b.accounts
	turn := max(1, own/each) // of the household, each time that everybody else has one
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{"SET maintenance_work_mem = '512MB'", nil},
		{`CREATE UNLOGGED TABLE everybody AS SELECT sha256(int8send(i)) AS account, substr(sha256(int8send(-i)), 1, 16) AS space FROM generate_series(1, $1::bigint) i`, []any{b.accounts}},
		{"INSERT INTO accounts SELECT account, $1::bigint * $2::bigint, 20, 0, 0 FROM everybody", []any{each, size}},
		{"INSERT INTO spaces SELECT account, space, 3, sha256(space), $1::bigint FROM everybody", []any{each}},
		{"INSERT INTO directory SELECT space, account FROM everybody", nil},
		{"INSERT INTO log SELECT account, space, n, $1::bytea FROM everybody, generate_series(1, 3) n", []any{h.Entries[1].Bytes()}},
		{"INSERT INTO blobs SELECT account, space, sha256(account || int8send(n)), substr(space, 1, 16), substr(space, 1, 16), 100000, 100000, NULL, true, 0 FROM everybody, generate_series(1, 20) n", nil},
		{"ALTER TABLE deltas SET UNLOGGED", nil},
		{"ALTER TABLE deltas DROP CONSTRAINT deltas_pkey, DROP CONSTRAINT deltas_account_space_member_incarnation_seq_key", nil},
		{`INSERT INTO deltas SELECT r.account, r.space, r.at, $3::bytea, 7, r.at, sha256(r.account || int8send(r.at)), $4::bytea, $5::bytea, $6::bytea, $7::int
			FROM generate_series(1, $1::bigint) g, LATERAL (
				SELECT account, space, g AS at FROM everybody
				UNION ALL SELECT $8::bytea, $9::bytea, (g - 1) * $2::bigint + j FROM generate_series(1, $2::bigint) j) r`,
			[]any{each, turn, h.Writer.ID[:], header, d.Signature, d.Body, size, []byte(h.Root.Public()), h.Space[:]}},
		{"UPDATE spaces SET cursor = $2 WHERE space = $1", []any{h.Space[:], each * turn}},
		{"ALTER TABLE deltas ADD PRIMARY KEY (account, space, cursor)", nil},
		{"ALTER TABLE deltas ADD UNIQUE (account, space, member, incarnation, seq)", nil},
		{"VACUUM (ANALYZE) deltas", nil},
		{"ANALYZE", nil},
	} {
		if _, err := conn.Exec(ctx, step.sql, step.args...); err != nil {
			return err
		}
	}
	return nil
}
