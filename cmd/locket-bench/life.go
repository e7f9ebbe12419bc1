package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/internal/player"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// life is a node in its own folder, with its own broker, that gets events like a wearer's node.
type life struct {
	home string // removed by Close; empty if it stays
	node *node.Node

	locked bool
}

// cacheFlag is the flag of suites that run plugins.
func cacheFlag(fs *flag.FlagSet) *string {
	return fs.String("cache", "", "keep compiled plugins in `DIR`, which saves the next run some seconds")
}

// withCache calls f with dir, or with a temporary folder that is removed after f.
func withCache(dir string, f func(dir string) error) error {
	if dir != "" {
		return f(dir)
	}
	dir, err := os.MkdirTemp("", "locket-bench-plugins-")
	if err != nil {
		return err
	}
	return errors.Join(f(filepath.Join(dir, "cache")), os.RemoveAll(dir)) // the cache's key lies beside it
}

// newLife starts a node in its own folder, which Close removes. cache is for compiled plugins.
func newLife(ctx context.Context, cache, wearer string) (*life, error) {
	return newLifeWith(ctx, cache, wearer, func(*config.Config) {})
}

// newLifeWith is newLife with other settings.
func newLifeWith(ctx context.Context, cache, wearer string, change func(*config.Config)) (*life, error) {
	home, err := os.MkdirTemp("", "locket-bench-")
	if err != nil {
		return nil, err
	}
	l, err := startLife(ctx, filepath.Join(home, "home"), cache, wearer, false, change)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	l.home = home
	return l, nil
}

// startLife starts a node in a folder that does not exist yet.
func startLife(ctx context.Context, home, cache, wearer string, locked bool, change func(*config.Config)) (l *life, err error) {
	l = &life{locked: locked}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	cfg := config.Config{Home: home, Wearer: wearer, Zone: "UTC", Broker: config.Broker{Listen: "127.0.0.1:0"}}
	change(&cfg)
	cfg.Defaults()
	if _, err = node.Init(cfg, node.InitOptions{KeyFile: true}); err != nil {
		return l, err
	}
	if l.node, err = node.Open(cfg, node.Options{Cache: cache}); err != nil {
		return l, err
	}
	if !locked {
		if _, err = l.node.UnlockAsConfigured(ctx); err != nil {
			return l, err
		}
	}
	return l, l.node.Start(ctx)
}

// happen publishes events of one device as a wearable does, and returns when all are acknowledged
// and committed.
func (l *life) happen(ctx context.Context, device string, events []day.Event) error {
	broker, password, err := l.device(ctx, device)
	if err != nil {
		return err
	}
	rep, err := player.Play(ctx, player.Config{URL: broker, Password: func(string) string { return password }}, events)
	if err != nil {
		return err
	}
	if rep.Acked != len(events) {
		return fmt.Errorf("%d of %d events were acknowledged", rep.Acked, len(events))
	}
	return l.node.WaitIdle(ctx)
}

// memories returns all memories, in any state.
func (l *life) memories(ctx context.Context) ([]memory.Memory, error) {
	var out []memory.Memory
	for q := (serve.ListQuery{State: serve.AnyState, Limit: serve.MaxPage}); ; {
		page, err := l.node.List(ctx, q)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Memories...)
		if q.Cursor = page.Next; page.Next == "" {
			return out, nil
		}
	}
}

// Close is safe on a life that was not started.
func (l *life) Close() error {
	var err error
	if l.node != nil {
		err = errors.Join(l.node.Stop(context.Background()), l.node.Close())
	}
	if l.home != "" {
		err = errors.Join(err, os.RemoveAll(l.home))
	}
	return err
}

// said is a text event of a device, numbered from 1.
func said(device string, seq int, l memory.Event) day.Event {
	l.ID, l.Kind = memory.EventID{Device: device, Boot: 1, Seq: uint64(seq)}, memory.KindText
	return day.Event{Line: seq, Event: l}
}
