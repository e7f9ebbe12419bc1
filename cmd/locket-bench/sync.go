package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"
)

// The sync suite runs one relay as it is deployed (package api over SQLite and a folder), on
// loopback, and devices in this process. A "device" is a whole node; a "replica" is only a replica
// over a store.

// syncParts in the order in which they run.
var syncParts = []string{"bytes", "visible", "rate", "idle", "first"}

func runSync(ctx context.Context, f *frame) error {
	parts := f.String("parts", strings.Join(syncParts, ","), "which of `PARTS` to measure")
	changes := f.Int("changes", 300, "memories that one device is told, one by one, and another shows")
	deltas := f.Int("deltas", 2000, "deltas of one memory each that a replica takes")
	memories := f.Int("memories", 100_000, "memories that a new device takes")
	idle := f.Duration("idle", 10*time.Minute, "how long two devices do nothing")
	cache := cacheFlag(f.FlagSet)
	if !f.parsed() {
		return errUsage
	}
	asked := strings.Split(*parts, ",")
	unknown := slices.ContainsFunc(asked, func(p string) bool { return !slices.Contains(syncParts, p) })
	if f.NArg() > 0 || unknown || *changes < 1 || *deltas < 1 || *memories < 1 || *idle < time.Second {
		return f.usage("--parts takes some of %s, --changes, --deltas and --memories numbers above 0, --idle a second at least",
			strings.Join(syncParts, ","))
	}
	return withCache(*cache, func(dir string) error {
		b := syncBench{dir, *changes, *deltas, *memories, *idle, f.stderr}
		do := map[string]func(context.Context) ([]result, error){"bytes": b.bytes, "visible": b.visible, "rate": b.rate, "idle": b.quiet, "first": b.first}
		return f.print(allOf(ctx, named(syncParts, asked, do)...))
	})
}

type syncBench struct {
	cache                     string
	changes, deltas, memories int
	idle                      time.Duration
	stderr                    io.Writer
}

func syncResult(name string, n int, value float64, unit, note string) result {
	return result{Suite: "sync", Case: name, N: n, Value: round(value), Unit: unit, Note: note}
}
