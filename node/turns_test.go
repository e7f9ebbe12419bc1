package node

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/plugintest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A caller that waits while a plugin is given past events can give up.
func TestPluginReplayIsCancelled(t *testing.T) {
	n := newNode(t, nil)
	end, err := n.open.plugins.Turn(t.Context()) // as a replay of a year holds it
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, err := range map[string]error{
		"install": func() error { _, err := n.InstallPlugin(ctx, plugintest.Silent("1.0.0", "")); return err }(),
		"enable":  func() error { _, err := n.EnablePlugin(ctx, "facts", false); return err }(),
		"remove":  n.RemovePlugin(ctx, "facts"),
		"unpin":   n.UnpinPlugin(ctx, "ann/none"),
		"rescan":  func() error { _, err := n.Rescan(ctx); return err }(),
		"replay":  func() error { _, err := n.ReplayPlugin(ctx, serve.ReplayPluginRequest{ID: "facts"}); return err }(),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
	end()
	if _, err := n.EnablePlugin(t.Context(), "facts", false); err != nil {
		t.Error(err)
	}
}

// An export that is read slowly, an import that arrives slowly and a replay that
// waits do not keep the keys open: they end when the node is locked.
func TestLockEndsLongRequests(t *testing.T) {
	for what, long := range map[string]func(n *Node, begun func()) error{
		"export": func(n *Node, begun func()) (last error) {
			for _, err := range n.Export(t.Context(), serve.ExportOptions{}) {
				if last = err; err == nil {
					begun()
				}
			}
			return last
		},
		"import": func(n *Node, begun func()) error {
			_, err := n.Import(t.Context(), func(yield func(serve.ExportRecord, error) bool) { begun(); yield(serve.ExportRecord{}, nil) }, serve.ImportOptions{Unsigned: true})
			return err
		},
		"replay": func(n *Node, begun func()) error {
			end, err := n.open.plugins.Turn(t.Context())
			if err != nil {
				return err
			}
			defer end()
			go begun()
			_, err = n.ReplayPlugin(t.Context(), serve.ReplayPluginRequest{ID: "facts"})
			return err
		},
	} {
		n := newNode(t, nil)
		life, locked := n.open.life, make(chan error, 1)
		asked := false
		err := long(n, func() {
			if asked {
				return
			}
			asked = true
			go func() { locked <- n.Lock(t.Context()) }()
			select {
			case <-life.Done():
			case <-time.After(10 * time.Second): // only if it fails
				t.Errorf("%s: a lock waits until it is over", what)
			}
		})
		if !errors.Is(err, memory.ErrLocked) {
			t.Errorf("%s: %v", what, err)
		}
		if err := <-locked; err != nil {
			t.Errorf("%s: locking: %v", what, err)
		}
	}
}
