package query

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// A device that keeps losing messages does not hide another's losses, and each counts all of
// its own. A loss that begins with message 0 says so.
func TestLossesPerDevice(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	refusals := func(yield func(memory.Refusal, error) bool) {
		say := func(device string, at time.Time, kind string, missing *memory.Range) bool {
			return yield(memory.Refusal{Event: memory.EventID{Device: device}, At: at, Kind: kind, Reason: memory.GapReason(missing, "out of range")}, nil)
		}
		for i := range 300 {
			if !say("noisy", noon.Add(time.Duration(i)*time.Second), memory.GapKind, nil) {
				return
			}
		}
		_ = say("pin", noon.Add(-time.Hour), memory.GapKind, &memory.Range{From: 0, To: 6}) &&
			say("pin", noon.Add(-48*time.Hour), memory.GapKind, nil) &&
			say("pin", noon, "duplicate", nil)
	}
	out, err := lostOf(refusals, noon.Add(-24*time.Hour), 200)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"devices":[{"device":"noisy","times":300,"more":true},{"device":"pin","times":1}]`, `"from":0,"to":6`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
	if len(out.Gaps) != 201 || !out.Gaps[0].At.Equal(noon.Add(299*time.Second)) || out.Gaps[200].Device != "pin" {
		t.Errorf("%d, %+v", len(out.Gaps), out.Gaps[0])
	}
}
