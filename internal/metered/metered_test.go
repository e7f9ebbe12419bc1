package metered_test

import (
	"context"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
	"github.com/locket-dev/locket/internal/metered"
)

// NetworkManager's knowledge or guess counts; if it is missing, or its answer is invalid, that is
// an error.
func TestNetworkManager(t *testing.T) {
	address := linktest.Bus(t)
	n := &metered.NetworkManager{Bus: address}
	if yes, err := n.Metered(t.Context()); yes || err == nil {
		t.Errorf("where nobody answers: %t, %v", yes, err)
	}
	manager := linktest.NetworkManager(t, address)
	if yes, err := n.Metered(t.Context()); yes || err == nil {
		t.Errorf("before 1.2, which has no such property: %t, %v", yes, err)
	}
	for value, want := range map[uint32]struct{ yes, fails bool }{0: {}, 1: {yes: true}, 2: {}, 3: {yes: true}, 4: {}, 5: {fails: true}} {
		manager.Says(t, value)
		if yes, err := n.Metered(t.Context()); yes != want.yes || (err != nil) != want.fails {
			t.Errorf("%d: %t, %v", value, yes, err)
		}
	}
	if yes, err := (&metered.NetworkManager{Bus: "unix:path=/nowhere/at/all"}).Metered(t.Context()); yes || err == nil {
		t.Errorf("without a bus: %t, %v", yes, err)
	}
}

// An answer is used for half a minute, and a change is reported once. If nobody knows, the network
// does not cost; but if it did, that counts for five more minutes.
func TestLine(t *testing.T) {
	address := linktest.Bus(t)
	manager := linktest.NetworkManager(t, address)
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	var told []bool
	l := &metered.Line{Manager: metered.NetworkManager{Bus: address}, Now: func() time.Time { return now }, Changed: func(costs bool) { told = append(told, costs) }}
	for i, step := range []struct {
		says  uint32
		after time.Duration
		want  bool
	}{{1, 0, true}, {2, 29 * time.Second, true}, {2, time.Second, false}, {3, 29 * time.Second, false}, {3, time.Second, true},
		{5, 30 * time.Second, true}, {5, 4 * time.Minute, true}, {5, 30 * time.Second, false}, {5, time.Minute, false},
		{1, -time.Hour, true}} { // a clock that was set back does not extend an old answer
		manager.Says(t, step.says)
		now = now.Add(step.after)
		if got := l.Costs(t.Context()); got != step.want {
			t.Errorf("step %d: %t", i, got)
		}
	}
	if len(told) != 5 || !told[0] || told[1] || !told[4] {
		t.Errorf("told of %v", told)
	}
}

// A caller that gives up before there is an answer does not affect later ones.
func TestLineGivenUp(t *testing.T) {
	address := linktest.Bus(t)
	linktest.NetworkManager(t, address).Says(t, 1)
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	told := 0
	l := &metered.Line{Manager: metered.NetworkManager{Bus: address}, Now: func() time.Time { return now }, Changed: func(bool) { told++ }}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	l.Costs(gone)
	if !l.Costs(t.Context()) {
		t.Error("the first answer is that of a question that was given up")
	}
	now = now.Add(time.Hour)
	if !l.Costs(gone) || !l.Costs(t.Context()) || told != 1 {
		t.Errorf("after a question that was given up the line is free, or a change was told: %d times", told)
	}
}
