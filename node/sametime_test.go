package node

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/engine/trial"
	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// Recordings of the same second and the same length have the same description, and are still
// several: each gets its words once, and none is left out of the queue. When two wearables hear the
// same words, there is one line.
func TestRecordingsOfTheSameSecond(t *testing.T) {
	t.Parallel()
	s := speechtest.Whisper(t)
	n := running(t, nil)
	hears := func(device string, at time.Time) {
		t.Helper()
		comesEvent(t, n, memory.Event{ID: memory.EventID{Device: device, Boot: 1, Seq: uint64(at.UnixNano())}, Kind: memory.KindAudio, At: at, Received: at, Clock: memory.ClockWall,
			Codec: "wav", Data: audio.Speech(), Last: true})
	}
	waiting := func() (marked int) {
		t.Helper()
		err := n.view(t.Context(), func(_ *session, tx *store.Tx) error {
			marked = 0
			for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}}) {
				if err != nil {
					return err
				}
				if slices.Contains(m.Tags, memory.WaitingTag) {
					marked++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return marked
	}
	hears("pin", evening)
	hears("glasses", evening)
	hears("glasses", evening.Add(400*time.Millisecond)) // in the same second
	if got := waiting(); got != 3 {
		t.Fatalf("%d recordings wait of 3", got)
	}
	words := []string{"Lena is allergic to peanuts.", "The dentist is on Friday at nine.", "Bo works for Philips now."}
	var next atomic.Int64
	s.Says(func([]byte) string {
		n := int(next.Add(1))
		if n == 1 {
			return trial.Said // in the sample
		}
		return words[n%len(words)]
	})
	addEngine(t, n, "ears", s.URL)
	eventually(t, "all words", func() bool { return engineOfKind(t, n, "ears").Waiting == 0 && waiting() == 0 })
	lines := heardBy(t, n)
	var got []string
	events := map[memory.EventID]bool{}
	for _, u := range lines {
		got = append(got, u.Text)
		events[u.Event] = true
	}
	if len(got) != 3 || len(events) != 3 {
		t.Errorf("of %d recordings: %q", len(events), got)
	}

	s.Says(says("The harbour is closed for the summer and nobody told us."))
	later := evening.Add(time.Hour)
	hears("pin", later)
	hears("glasses", later)
	eventually(t, "the words of both", func() bool {
		return engineOfKind(t, n, "ears").Done >= 5 && engineOfKind(t, n, "ears").Waiting == 0 && waiting() == 0
	})
	if got := heardBy(t, n); len(got) != 4 {
		t.Errorf("the same words are there %d times: %+v", len(got)-3, got)
	}
}
