package serve_test

import (
	"slices"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// locksmith tests how a service changes the passphrase and the other ways to
// unlock, on a subject whose keys its passphrase opens.
func locksmith(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	v, err := c.Ways(ctx)
	if err != nil || !slices.Contains(v.Ways, serve.WayPassphrase) {
		t.Fatalf("%+v, %v", v, err)
	}
	old, next := serve.Secret(nodetest.Passphrase), serve.Secret("quite another one")
	_, err = c.SetWay(ctx, serve.WayPassphrase, serve.WayRequest{Passphrase: "not the passphrase", New: next})
	want(t, err, serve.ErrPassphrase)
	for _, r := range []serve.WayRequest{{Passphrase: old}, {Passphrase: old, New: "short"}, {Passphrase: old, New: next, Path: "/k"}} {
		_, err = c.SetWay(ctx, serve.WayPassphrase, r)
		want(t, err, memory.ErrInvalid)
	}
	_, err = c.SetWay(ctx, serve.WayKeyFile, serve.WayRequest{Passphrase: old, Path: "k"})
	want(t, err, memory.ErrInvalid)
	_, err = c.SetWay(ctx, "fingerprint", serve.WayRequest{Passphrase: old})
	want(t, err, memory.ErrNotFound)
	opens := func(p serve.Secret) error {
		t.Helper()
		if _, err := c.Lock(ctx); err != nil {
			t.Fatal(err)
		}
		if v, err := c.Ways(ctx); err != nil || len(v.Ways) == 0 {
			t.Errorf("locked: %+v, %v", v, err)
		}
		_, err := c.SetWay(ctx, serve.WayPassphrase, serve.WayRequest{Passphrase: p, New: next})
		want(t, err, memory.ErrLocked)
		_, err = c.Unlock(ctx, p)
		return err
	}
	if err := opens(old); err != nil { // refused requests changed nothing
		t.Fatal(err)
	}
	if _, err := c.SetWay(ctx, serve.WayPassphrase, serve.WayRequest{Passphrase: old, New: next}); err != nil {
		t.Fatal(err)
	}
	want(t, opens(old), serve.ErrPassphrase)
	if err := opens(next); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(v.Ways, serve.WayKeyFile) {
		_, err = c.RemoveWay(ctx, serve.WayKeyFile)
		want(t, err, memory.ErrNotFound)
		_, err = c.RemoveWay(ctx, serve.WayPassphrase)
		want(t, err, serve.ErrConflict)
	}
	if v, err = c.SetWay(ctx, serve.WayKeyFile, serve.WayRequest{Passphrase: next}); err != nil || !slices.Contains(v.Ways, serve.WayKeyFile) {
		t.Fatalf("%+v, %v", v, err)
	}
	if v, err = c.RemoveWay(ctx, serve.WayPassphrase); err != nil || !slices.Equal(v.Ways, []serve.Way{serve.WayKeyFile}) {
		t.Fatalf("%+v, %v", v, err)
	}
	_, err = c.RemoveWay(ctx, serve.WayKeyFile)
	want(t, err, serve.ErrConflict)
	if v, err = c.SetWay(ctx, serve.WayPassphrase, serve.WayRequest{New: next}); err != nil || len(v.Ways) != 2 { // by the key file
		t.Fatalf("%+v, %v", v, err)
	}
}
