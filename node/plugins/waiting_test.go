package plugins_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/internal/testing/plugintest"
	"github.com/locket-dev/locket/node/serve"
)

// TestEventsWaitForAPlugin: three faults disable a plugin; what is said after
// that waits for it, also across an upgrade, and is passed to the version that
// then runs.
func TestEventsWaitForAPlugin(t *testing.T) {
	const id, wait = "suite/silent", "on_fault = \"wait\"\n"
	n := nodetest.New(t, nil)
	ctx := t.Context()
	traps := plugintest.Silent("1.0.0", wait)
	// Its last function traps, instead of answering with 0.
	traps.Module = append(bytes.Clone(traps.Module[:len(traps.Module)-4]), 0, 0, 0, 0x0b)
	if _, err := n.InstallPlugin(ctx, traps); err != nil {
		t.Fatal(err)
	}
	began := time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)
	for i := range 5 {
		nodetest.Hear(t, n, began.Add(time.Duration(i)*time.Minute), "Ana", fmt.Sprintf("The heron has caught %d fish.", i+2))
	}
	waiting := func(want int) {
		t.Helper()
		list, err := n.Plugins(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if p.ID == id && p.Waiting != want {
				t.Errorf("%d events wait for %s %s, which is %s; want %d", p.Waiting, id, p.Version, p.State, want)
			}
		}
	}
	waiting(3) // the third fault disabled it
	if p, err := n.EnablePlugin(ctx, id, true); err != nil || p.State != serve.PluginRuns {
		t.Fatalf("%+v, %v", p, err)
	}
	ps, release, err := n.Plugger.Opened()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	catchUpOld := ps.CatchUpOnce(id)
	if _, err := n.InstallPlugin(ctx, plugintest.Silent("1.1.0", wait)); err != nil {
		t.Fatal(err)
	}
	// A caller that was about to pass them to the old version loses none.
	if more, err := catchUpOld(ctx); more || err != nil {
		t.Errorf("the version that is gone: %v, %v", more, err)
	}
	waiting(3)
	ps.CatchUp(ctx)
	waiting(0)
	v, err := n.Plugin(ctx, id)
	if err != nil || v.Calls != 3 || len(v.Faults) != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// Faults disable a built-in plugin for one minute. Nobody has to enable it.
func TestBuiltInPluginIsRetried(t *testing.T) {
	const id = "suite/silent"
	n := nodetest.New(t, nil)
	traps := plugintest.Silent("1.0.0", "")
	traps.Module = append(bytes.Clone(traps.Module[:len(traps.Module)-4]), 0, 0, 0, 0x0b)
	if _, err := n.InstallPlugin(t.Context(), traps); err != nil {
		t.Fatal(err)
	}
	ps, release, err := n.Plugger.Opened()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	said := 0
	state := func() string {
		t.Helper()
		for range 3 {
			said++
			nodetest.Hear(t, n, time.Date(2026, 9, 14, 8, said, 0, 0, time.UTC), "Ana", fmt.Sprintf("The heron has caught %d fish.", said))
		}
		v, err := n.Plugin(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(v.State, " ", v.Calls)
	}
	if got := state(); got != "faulted 3" {
		t.Error(got)
	}
	ps.CatchUpAt(t.Context(), time.Now().Add(time.Hour))
	if got := state(); got != "faulted 3" {
		t.Errorf("an installed one: %s", got)
	}
	if err := ps.AsBuiltIn(id); err != nil {
		t.Fatal(err)
	}
	ps.CatchUpAt(t.Context(), time.Now())
	if got := state(); got != "faulted 3" {
		t.Errorf("at once: %s", got)
	}
	ps.CatchUpAt(t.Context(), time.Now().Add(time.Minute))
	if got := state(); got != "faulted 6" {
		t.Errorf("after a minute: %s", got)
	}
}
