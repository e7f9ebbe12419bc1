package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay/objects"
	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/cloud/relay/postgres"
	"github.com/locket-dev/locket/cloud/relay/storetest"
)

// The scale suite fills its own PostgreSQL with the deltas of many accounts, in the order of real
// use: one of each account in turn, so that what a device pulls is spread over many pages. Then,
// with the relay's own store, it does what a relay does in one space that has a tenth of all
// deltas. From the server's log it reads how each statement was executed (auto_explain: EXPLAIN
// ANALYZE of what really ran, including row-level security and functions).

func runScale(ctx context.Context, f *frame) error {
	b := scaleBench{stderr: f.stderr}
	f.IntVar(&b.rows, "rows", 10_000_000, "deltas in the database")
	f.IntVar(&b.accounts, "accounts", 10_000, "that have them, with one space each")
	f.IntVar(&b.body, "body", 256, "bytes of a delta's body")
	f.IntVar(&b.times, "times", 5, "how often each thing is done")
	f.StringVar(&b.plans, "plans", "", "write the plans to this file")
	if !f.parsed() || f.NArg() > 0 || b.accounts < 1 || b.times < 1 || b.body < 1 || b.body > 64<<10 || b.rows < 10*b.accounts {
		return f.usage("flags take numbers above 0, and ten rows an account at least")
	}
	return f.print(b.run(ctx))
}

type scaleBench struct {
	rows, accounts, body, times int
	plans                       string
	stderr                      io.Writer
}

func (b *scaleBench) run(ctx context.Context) (out []result, err error) {
	var cluster pgtest.Cluster
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	url, err := cluster.New(ctx)
	if err != nil {
		return nil, err
	}
	m, err := postgres.Migrate(url)
	if err == nil {
		_, err = m.Up(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := m.Close(); err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	dir, err := os.MkdirTemp("", "locket-bench-scale-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	h := storetest.NewHousehold(panics{}, "scale")
	began := time.Now()
	if err := b.fill(ctx, conn, url, dir, h); err != nil {
		return nil, fmt.Errorf("fill the database: %w", err)
	}
	fmt.Fprintf(b.stderr, "filled in %s\n", time.Since(began).Round(time.Second))
	if out, err = b.sizes(ctx, conn); err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": "0", "auto_explain.log_analyze": "on",
		"auto_explain.log_buffers": "on", "auto_explain.log_nested_statements": "on"} {
		if _, err := conn.Exec(ctx, "ALTER DATABASE "+conn.Config().Database+" SET "+name+" = '"+value+"'"); err != nil {
			return nil, err
		}
	}
	if b.plans != "" {
		if err := os.WriteFile(b.plans, nil, 0o600); err != nil {
			return nil, err
		}
	}
	s, err := openScale(ctx, url, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, op := range b.operations(s, h) {
		r, err := b.measure(ctx, cluster.Log(), op)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op.name, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func openScale(ctx context.Context, url, dir string) (*postgres.Store, error) {
	blobs, err := objects.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	return postgres.Open(ctx, url+"&pool_max_conns=2", blobs)
}

// measure repeats one operation, and reads the plan of the last run. The value is how long a caller
// waits, over a Unix socket.
func (b *scaleBench) measure(ctx context.Context, log string, op scaleOperation) (result, error) {
	var took []time.Duration
	var said string
	for range b.times {
		before, err := os.Stat(log)
		if err != nil {
			return result{}, err
		}
		began := time.Now()
		if err := op.do(ctx); err != nil {
			return result{}, err
		}
		took = append(took, time.Since(began))
		all, err := os.ReadFile(log)
		if err != nil {
			return result{}, err
		}
		said = string(all[before.Size():])
	}
	if b.plans != "" {
		f, err := os.OpenFile(b.plans, os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return result{}, err
		}
		_, err = fmt.Fprintf(f, "== %s\n%s\n", op.name, said)
		if err := errors.Join(err, f.Close()); err != nil {
			return result{}, err
		}
	}
	return result{Suite: "scale", Case: op.name, N: b.rows, Value: round(percentile(milliseconds(took), 50)), Unit: "ms", Note: strings.Join(scansOf(said), ", ")}, nil
}

// sizes returns the sizes of the large tables, with their indexes.
func (b *scaleBench) sizes(ctx context.Context, conn *pgx.Conn) (out []result, err error) {
	for _, table := range []string{"deltas", "blobs", "log", "spaces", "accounts", "directory"} {
		var rows, heap, total int64
		if err := conn.QueryRow(ctx, "SELECT count(*), pg_table_size('"+table+"'), pg_total_relation_size('"+table+"') FROM "+table).Scan(&rows, &heap, &total); err != nil {
			return nil, err
		}
		out = append(out, result{Suite: "scale", Case: "size_" + table, N: int(rows), Value: round(float64(total) / (1 << 20)), Unit: "MB",
			Note: fmt.Sprintf("%d bytes a row, %d of them in indexes", total/max(rows, 1), (total-heap)/max(rows, 1))})
	}
	return out, nil
}
