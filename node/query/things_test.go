package query_test

import "testing"

// TestThingsOfOthers asks whether the wearer has a thing, where things of others were spoken of.
func TestThingsOfOthers(t *testing.T) {
	asked, right := askFile(t, "testdata/things.txt")
	for _, name := range []string{"en+=", "en-=", "zh+=", "zh-="} {
		if right[name] < asked[name] {
			t.Errorf("%s: %d of %d are right", name, right[name], asked[name])
		}
	}
}
