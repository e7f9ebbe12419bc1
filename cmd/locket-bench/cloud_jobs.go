package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/cloud/worker/queue"
	jobs "github.com/locket-dev/locket/cloud/worker/queue/postgres"
	"github.com/locket-dev/locket/memory"
)

// queue measures a worker's queue by itself: jobs that do nothing, from adding the first until the
// last is recorded as done, on SQLite and on a PostgreSQL with fsync on.
func (b *cloudBench) queue(ctx context.Context) (out []result, err error) {
	dir, err := os.MkdirTemp("", "locket-bench-cloud-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cluster := pgtest.Cluster{Durable: true}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	url, err := cluster.New(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		name, note string
		o          queue.Options
	}{{"jobs_per_s", "SQLite", queue.Options{File: filepath.Join(dir, "queue.db")}}, {"jobs_per_s_postgres", "PostgreSQL", queue.Options{DB: jobs.At(url)}}} {
		c.o.Parallel = 8
		rate, err := jobsPerSecond(ctx, c.o, b.jobs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		out = append(out, result{Suite: "cloud", Case: c.name, N: b.jobs, Value: round(rate), Unit: "1/s", Note: c.note + ", added and done, 8 at a time"})
	}
	return out, nil
}

func jobsPerSecond(ctx context.Context, o queue.Options, n int) (rate float64, err error) {
	q, err := queue.Open(ctx, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	space := memory.SpaceID{1}
	var did atomic.Int64
	all := make(chan struct{})
	q.Enter(space)
	run, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- q.Run(run, func(context.Context, *queue.Running) error {
			if did.Add(1) == int64(n) {
				close(all)
			}
			return nil
		})
	}()
	defer func() { stop(); err = errors.Join(err, <-ended) }()
	tasks := make([]queue.Task, n)
	for i := range tasks {
		tasks[i] = queue.Task{Space: space, Kind: queue.Read, Subject: fmt.Sprint(i)}
	}
	began := time.Now()
	if _, err := q.Add(ctx, tasks...); err != nil {
		return 0, err
	}
	select {
	case <-all:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	for { // completion is recorded after the handler, many jobs at a time
		counts, err := q.Counts(ctx, space)
		if err != nil {
			return 0, err
		}
		if len(counts) == 1 && counts[0].Done == int64(n) {
			return float64(n) / time.Since(began).Seconds(), nil
		}
	}
}
