package rules

import "testing"

// A medicine that is taken in the morning and one that is taken in the evening have one slot
// and two values, which hold beside each other.
func TestTimesOfMedicine(t *testing.T) {
	for said, value := range map[string]string{"I take vitamin D every morning.": "every morning", "I take vitamin D every evening.": "every evening"} {
		out := hear(t, said)
		if len(out.Candidates) != 1 {
			t.Fatalf("%q: %q", said, keys(out))
		}
		c := &out.Candidates[0]
		if c.Slot == nil || c.Slot.Attribute != "routine: take vitamin d" || c.Slot.Value != value || !c.Slot.Many || c.Predicate != medication || c.Object != "vitamin D "+value || c.Sensitivity != "private" {
			t.Errorf("%q: %+v, %+v", said, c.Slot, c)
		}
	}
}
