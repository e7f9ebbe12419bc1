package dream

import (
	"errors"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
)

// A request to leave steps out is accepted a second time, even while the plan is being
// carried out. It never moves the steps of such a plan, because the progress counts them.
func TestLeaveOut(t *testing.T) {
	of := func(d *dreaming) (ids []memory.ID) {
		for _, s := range d.Plan.Steps {
			ids = append(ids, s.Memory)
		}
		return ids
	}
	plan := func() *dreaming {
		d := &dreaming{Plan: new(consolidate.Plan)}
		for i := range 6 {
			d.Plan.Steps = append(d.Plan.Steps, consolidate.Step{Kind: consolidate.Archive, Memory: memory.ID{byte(i)}})
		}
		return d
	}
	all := of(plan())

	d := plan()
	for range 2 {
		if err := d.leaveOut([]memory.ID{all[1], all[4], all[1]}); err != nil {
			t.Fatal(err)
		}
		if got, want := of(d), []memory.ID{all[0], all[2], all[3], all[5]}; !slices.Equal(got, want) || len(d.Spared) != 2 {
			t.Fatalf("%v are left and %q are spared, want %v", got, d.Spared, want)
		}
		d.Doing, d.Next = true, 3 // it was interrupted, and the same request comes again
	}
	for _, id := range []memory.ID{all[0], all[5], {99}} { // done, still to be done, and never there
		if err := d.leaveOut([]memory.ID{all[1], id}); !errors.Is(err, memory.ErrInvalid) || len(of(d)) != 4 || len(d.Spared) != 2 {
			t.Errorf("%s: %v, %+v", id, err, d)
		}
	}

	d = plan()
	if err := d.leaveOut([]memory.ID{all[1], {99}}); !errors.Is(err, memory.ErrInvalid) || !slices.Equal(of(d), all) || len(d.Spared) != 0 {
		t.Errorf("refused, and changed: %v, %+v", err, d)
	}
}
