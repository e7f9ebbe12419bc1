package replica

import (
	"slices"
	"testing"

	"github.com/locket-dev/locket/sync/envelope"
)

// A snapshot that a relay does not return completely is tried again in the next round, and then
// after 1, 3, 7 … more rounds. So if a relay always lacks the last part, the other parts are
// downloaded only a few times.
func TestIncompleteSnapshotBacksOff(t *testing.T) {
	h := envelope.Hash{1}
	r := &Replica{wrongCheckpoints: map[envelope.Hash]bool{h: true}}
	r.noteIncomplete(h)
	var tried []int
	for round := 1; round <= 200; round++ {
		r.retryIncomplete()
		if !r.wrongCheckpoints[h] {
			tried = append(tried, round)
			r.wrongCheckpoints[h] = true
			r.noteIncomplete(h)
		}
	}
	if want := []int{1, 3, 7, 15, 31, 63, 127, 191}; !slices.Equal(tried, want) {
		t.Errorf("tried in rounds %v, want %v", tried, want)
	}
}
