package rules

import "testing"

// The places of money and spare keys are private; the places of other things are not.
func TestHidingPlacesArePrivate(t *testing.T) {
	for said, want := range map[string]string{
		"The spare key is under the blue pot.": "private", "I hid the biscuits on top of the wardrobe.": "private", "Grandma's ring is in the sugar tin.": "private",
		"备用钥匙在花盆底下。": "private", "我把现金藏在冰箱里了。": "private",
		"The car keys are on the hook by the door.": "personal", "The stapler is in the second drawer.": "personal", "雨伞在玄关柜子里。": "personal",
	} {
		out := hear(t, said)
		if len(out.Candidates) != 1 {
			t.Fatalf("%q: %q", said, keys(out))
		}
		if c := &out.Candidates[0]; c.Slot == nil || c.Slot.Attribute != "location" || c.Sensitivity != want {
			t.Errorf("%q: %+v is %s, want %s", said, c.Slot, c.Sensitivity, want)
		}
	}
}
