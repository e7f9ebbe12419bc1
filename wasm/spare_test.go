//go:build linux

package wasm

import (
	"context"
	"errors"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
)

// A call that becomes a long one continues with what others leave, and meanwhile a spare worker is
// made, which is used after a kill. If the host wants none, none is made. An idle domain has
// neither.
func TestSpareWorker(t *testing.T) {
	for _, none := range []bool{false, true} {
		h := newHost(t, Options{NoSpare: none, Idle: -1, MaxFaults: 10})
		m := testManifest()
		m.Limits.Fuel = 50_000_000 // several times longCall of spinning, on any machine
		p := loadApart(t, h, spinning(), m)
		d := h.domains[m.ID]
		if _, _, err := p.Extract(t.Context(), someText()); err != nil {
			t.Fatal(err)
		}
		proc := d.proc
		if _, _, err := p.Extract(t.Context(), longText()); !errors.Is(err, ErrFuel) {
			t.Fatal(err)
		}
		if d.proc != proc || lowered(t, proc, rankLong) == 0 {
			t.Error("a long call was not given a lower priority")
		}
		if (d.spare.ready != nil) == none {
			t.Errorf("a spare is there: %v", d.spare.ready != nil)
		}
		if !none {
			if <-d.spare.ready; lowered(t, d.spare.proc, rankSpare) == 0 {
				t.Error("the spare was made at the weight of this process")
			}
		}
		proc.kill()
		_ = proc.cmd.Wait()
		if _, _, err := p.Extract(t.Context(), someText()); !errors.Is(err, ErrWorker) {
			t.Fatal(err)
		}
		if _, _, err := p.Extract(t.Context(), someText()); err != nil || d.starts.Load() < 2 {
			t.Errorf("%d processes were started, %v", d.starts.Load(), err)
		}
		if d.last {
			t.Error("nobody was late, and yet the next one is taken for it")
		}
		if _, _, err := p.Extract(t.Context(), longText()); !errors.Is(err, ErrFuel) {
			t.Fatal(err)
		}
		d.releaseIdle()
		if d.proc != nil || d.spare.ready != nil {
			t.Error("what is idle holds a process")
		}
	}
}

// A domain that was late once gets what others leave, until it was idle.
func TestLateDomainHasLowPriority(t *testing.T) {
	h := newHost(t, Options{Idle: -1, MaxFaults: 10})
	m := testManifest()
	m.Limits = Limits{TimeMS: 100, Fuel: abi.MostFuel}
	p := loadApart(t, h, spinning(), m)
	d := h.domains[m.ID]
	var f *Fault
	if _, _, err := p.Extract(t.Context(), longText()); !errors.As(err, &f) || f.Kind != FaultTime && f.Kind != FaultStarved || f.Ended.IsZero() {
		t.Fatal(err)
	}
	unhurry(p)
	for i, idle := range []bool{false, true} {
		if idle {
			d.releaseIdle()
		}
		if _, _, err := p.Extract(t.Context(), someText()); err != nil {
			t.Fatal(err)
		}
		if d.last == idle || !idle && lowered(t, d.proc, rankLong) == 0 {
			t.Errorf("%d: last %v, %d threads are lowered", i, d.last, lowered(t, d.proc, rankLong))
		}
		d.mu.Lock()
		d.long() // as the watchdog reports it
		d.mu.Unlock()
		if late := lowered(t, d.proc, rankLate); (late == 0) != idle {
			t.Errorf("%d: in another long call, %d threads have the low priority", i, late)
		}
	}
}

// A plugin that got no processor time is not disabled for that, and a worker can't claim it.
func TestStarvedPluginIsNotDisabled(t *testing.T) {
	var s tally
	for range 10 {
		if s.fault(FaultStarved, Usage{}, 1) || s.disabled.Load() {
			t.Fatal("a starved plugin was disabled")
		}
	}
	if s.s.Faults[FaultStarved] != 10 || s.s.InARow != 0 {
		t.Errorf("%+v", s.s)
	}
	if !s.fault(FaultTime, Usage{}, 1) {
		t.Error("a late one is not")
	}
	f := new(frame).begin(frameAnswer)
	f.fail(&Fault{Kind: FaultStarved})
	f.off = len(new(frame).begin(frameAnswer).b)
	if err := f.getFail("x"); errors.Is(err, ErrStarved) {
		t.Error("the worker's word is taken")
	}
}

// TestWaitForATurn: a call waits for its turn no longer than its context allows.
func TestWaitForATurn(t *testing.T) {
	h := newHost(t, Options{})
	p := loadApart(t, h, new(asm).plugin(i64c(0)), testManifest())
	h.turn <- struct{}{} // another domain's call
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.Extract(ctx, someText()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-h.turn
	if _, _, err := p.Extract(t.Context(), someText()); err != nil {
		t.Error(err)
	}
	if len(h.turn) != 0 {
		t.Error("the turn was not given back")
	}
}
