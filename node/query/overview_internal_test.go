package query

import (
	"testing"

	"github.com/locket-dev/locket/memory"
)

// After a lock, no name from a memory is left in the overview.
func TestOverviewForgetsNames(t *testing.T) {
	o := &overview{lock: make(chan struct{}, 1), by: map[memory.ID]*outline{}, types: map[memory.Type]int{memory.Semantic: 1},
		from: map[string]string{}, slots: map[[2]string]*memory.Slot{}}
	o.plugin("notes")
	o.slot(&memory.Slot{Subject: "Zora", Attribute: "clinic"})
	if err := o.drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o.by != nil || o.types != nil || o.from != nil || o.slots != nil {
		t.Errorf("%v %v %v %v is left", o.by, o.types, o.from, o.slots)
	}
}
