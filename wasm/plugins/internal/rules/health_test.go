package rules

import (
	"testing"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
)

// A medicine that is taken in the morning and in the evening has one slot and two values, which are
// both true.
func TestTimesOfMedicine(t *testing.T) {
	for said, value := range map[string]string{"I take vitamin D every morning.": "every morning", "I take vitamin D every evening.": "every evening"} {
		out := hear(t, said)
		if len(out.Candidates) != 1 {
			t.Fatalf("%q: %q", said, keys(out))
		}
		c := &out.Candidates[0]
		if c.Slot == nil || c.Slot.Attribute != "routine: take vitamin d" || c.Slot.Value != value || !c.Slot.Many || c.Predicate != discourse.Medication || c.Object != "vitamin D "+value || c.Sensitivity != "private" {
			t.Errorf("%q: %+v, %+v", said, c.Slot, c)
		}
	}
}

// A condition is true besides others, and is not a marital status.
func TestConditions(t *testing.T) {
	for _, said := range []string{"I'm colour-blind.", "I'm diabetic.", "I am color-blind"} {
		all := allOf(said).Candidates
		if len(all) != 1 || all[0].Slot == nil || all[0].Slot.Attribute != "condition" || !all[0].Slot.Many {
			t.Errorf("%q: %+v", said, all)
		}
	}
}
