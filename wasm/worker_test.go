package wasm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
)

// loadApart loads a plugin into a publisher's worker; without a signature a plugin is a domain of
// its own.
func loadApart(t *testing.T, h *Host, a *asm, m Manifest) *Plugin {
	t.Helper()
	p, err := unhurried(h.LoadApart(context.Background(), func() ([]byte, error) { return a.bytes(), nil }, m, nil))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func named(id string) Manifest {
	m := testManifest()
	m.ID = id
	return m
}

// spinning is a plugin that spins on texts of over 16 bytes until its fuel or its time ends.
func spinning() *asm {
	return new(asm).plugin([]byte{0x20, 1}, i32c(120), []byte{0x4b, 0x04, 0x40}, spin, []byte{0x0b}, i64c(0))
}

func longText() *abi.Event {
	e := someText()
	e.Text = strings.Repeat("x", 200)
	return e
}

// unhurry gives a plugin in a worker the longest time for its next, short call, however busy the
// machine is.
func unhurry(p *Plugin) { allow(p, 100*abi.MostTime) }

// allow sets a plugin's time limit, while no spare is being made with it.
func allow(p *Plugin, ms int) {
	s := &p.domain.spare
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready != nil {
		<-s.ready
	}
	p.limits.TimeMS = ms
}

// TestWorkerSameAnswers: a plugin gives the same answer and costs the same fuel in either place.
func TestWorkerSameAnswers(t *testing.T) {
	module := echo(t)
	var answers []string
	everywhere(t, func(t *testing.T, load loader) {
		p, err := load(t, newHost(t, Options{}), module, testManifest())
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 20, 20_000} {
			e := someText()
			e.Text = strings.Repeat("0123456789", n)
			out, u, err := p.Extract(context.Background(), e)
			if err != nil || len(out.Candidates) != 1 {
				t.Fatal(out, err)
			}
			answers = append(answers, fmt.Sprintf("%x %d %d %d", abi.AppendOutput(nil, &out), u.Fuel, u.Memory, u.Out))
		}
	})
	if n := len(answers) / 2; strings.Join(answers[:n], ",") != strings.Join(answers[n:], ",") {
		t.Error(answers)
	}
}

// TestWorkerConfined: on Linux with seccomp all restrictions are applied.
func TestWorkerConfined(t *testing.T) {
	p := loadApart(t, newHost(t, Options{}), new(asm).plugin(i64c(0)), testManifest())
	want := "a process of its own, limits"
	if runtime.GOOS == "linux" {
		want += ", no new privileges"
	}
	if got := p.Confined(); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	t.Log(p.Confined())
}

// TestLateWorkerIsReplaced: a call that exceeds its time ends with its process; the next call, of
// this or another plugin of the publisher, gets a new one.
func TestLateWorkerIsReplaced(t *testing.T) {
	h := newHost(t, Options{MaxFaults: 10})
	m := testManifest()
	m.Limits = Limits{TimeMS: 100, Fuel: abi.MostFuel}
	p := loadApart(t, h, spinning(), m)
	for range 2 {
		unhurry(p)
		if _, u, err := p.Extract(context.Background(), someText()); err != nil {
			t.Fatal(u, err)
		}
		allow(p, m.Limits.TimeMS)
		_, u, err := p.Extract(context.Background(), longText())
		var f *Fault
		// If the machine has no time for it at all, the kind says so.
		if !errors.As(err, &f) || f.Kind != FaultTime && f.Kind != FaultStarved || !u.Late {
			t.Fatalf("%+v, %v", u, err)
		}
	}
	if s := p.Stats(); s.Faults[FaultTime]+s.Faults[FaultStarved] != 2 {
		t.Errorf("%+v", s)
	}
	d := h.domains[m.ID]
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.proc = d.spare.take(context.Background()); d.proc == nil {
		t.Error("the second to be killed left no spare")
	}
	if n := d.starts.Load(); n != 3 {
		t.Errorf("%d processes were started, want 3: the first, and one for each that was killed", n)
	}
}

// TestWorkerDies: a process that ends by itself, or is killed by somebody else, is a fault of the
// call and no more.
func TestWorkerDies(t *testing.T) {
	h := newHost(t, Options{})
	p := loadApart(t, h, new(asm).plugin(i64c(0)), testManifest())
	proc := h.domains["test/plugin"].proc
	proc.kill()
	_ = proc.cmd.Wait()
	var f *Fault
	if _, _, err := p.Extract(context.Background(), someText()); !errors.As(err, &f) || f.Kind != FaultWorker {
		t.Errorf("%v", err)
	}
	if _, _, err := p.Extract(context.Background(), someText()); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// TestPublishersAreIsolated: another publisher's plugins do not notice what a plugin does to its process.
func TestPublishersAreIsolated(t *testing.T) {
	h := newHost(t, Options{})
	one, other := loadApart(t, h, new(asm).plugin(i64c(0)), named("a/one")), loadApart(t, h, new(asm).plugin(i64c(0)), named("b/other"))
	before := h.domains["b/other"].proc
	if before == h.domains["a/one"].proc {
		t.Fatal("two publishers share a process")
	}
	h.domains["a/one"].proc.kill()
	if _, _, err := one.Extract(context.Background(), someText()); err == nil {
		t.Error("a dead process answered")
	}
	if _, _, err := other.Extract(context.Background(), someText()); err != nil || h.domains["b/other"].proc != before {
		t.Error(err)
	}
	if err := other.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if _, _, err := other.Extract(context.Background(), someText()); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// TestNoWorker: a host without workers runs no stranger's code.
func TestNoWorker(t *testing.T) {
	h := newHost(t, Options{Worker: []string{}})
	_, err := h.LoadApart(context.Background(), func() ([]byte, error) { return new(asm).plugin(i64c(0)).bytes(), nil }, testManifest(), nil)
	if !errors.Is(err, ErrNoWorker) {
		t.Error(err)
	}
}

// TestAnswerBounded: a worker's numbers are limited to what is possible: a line costs fuel, and no
// count is negative if an int has 32 bits.
func TestAnswerBounded(t *testing.T) {
	p := &Plugin{limits: Limits{MemoryMiB: 2, Fuel: 1600, OutputKiB: 1}}
	f := new(frame).begin(frameAnswer)
	f.u8(answerNothing)
	f.u64(1 << 63)
	f.u64(0)
	f.u64(1<<64 - 1)
	f.u32(1<<32 - 1)
	f.flag(false)
	f.u32(0)
	f.bytes(nil)
	f.off = len(new(frame).begin(frameAnswer).b)
	if _, u, err := p.readAnswer(f); err != nil || u.Fuel != 0 || u.Memory != 2<<20 || u.Lines != 100 {
		t.Errorf("%+v, %v", u, err)
	}
}
