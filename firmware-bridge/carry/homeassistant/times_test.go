package homeassistant

import (
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// If a house stops sending times, they are not waited for any longer: after twenty states without
// one, states settle as soon as their names are there.
func TestTimesAreNoLongerAwaited(t *testing.T) {
	at := time.Date(2026, 5, 2, 5, 30, 0, 0, time.UTC)
	s := &session{Conn: &carry.Conn{}, part: part{Times: true, Things: map[string]thing{}}, now: map[string]thing{}, about: map[string]about{}}
	s.Options.Prefix = "statestream"
	take := func(leaf, payload string) {
		t.Helper()
		at = at.Add(time.Minute)
		if err := s.Handle(t.Context(), link.Notification{Char: "statestream/binary_sensor/door/" + leaf, Data: []byte(payload), At: at}); err != nil {
			t.Fatal(err)
		}
	}
	waits := func() bool {
		t.Helper()
		if err := s.settled(t.Context(), at.Add(settle)); err != nil {
			t.Fatal(err)
		}
		return len(s.queue) > 0
	}
	for i := range maxTimeless {
		take("state", "unknown")
		if !waits() {
			t.Fatal(fmt.Sprint("state ", i, " is not waited for"))
		}
	}
	take("state", "unknown")
	if waits() {
		t.Error("a time is waited for that does not come")
	}
	take("state", "unknown")
	take("last_changed", at.Format(time.RFC3339))
	take("state", "unknown")
	if !waits() {
		t.Error("the house says times again, and they are not waited for")
	}
}
