package worker

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine/cost"
	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// scene makes a photo of coloured fields, different for each number.
func scene(t *testing.T, n int) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 120, 80))
	pick := rand.New(rand.NewPCG(uint64(n), 1))
	var light [12 * 8]bool
	for i := range light {
		light[i] = pick.IntN(2) == 0
	}
	for y := range 80 {
		for x := range 120 {
			if light[y/10*12+x/10] {
				m.SetGray(x, y, color.Gray{Y: 255})
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Twenty different frames make one update, which names all of its photos; similar ones are shown
// once. The rest makes another update after the pause.
func TestFramesAreBatched(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	s.Otherwise(llmtest.Func(func(r *llmtest.Request) string {
		return fmt.Sprintf(`{"summary":"%d bars were seen. The Wi-Fi password is HarborKite4471.","frames":[{"n":1,"caption":"The first bar."}]}`, r.Pictures)
	}))
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	var ids []memory.ID
	for i := range 23 {
		ids = append(ids, o.source("image/png", scene(t, i)))
		if i == 4 {
			ids = append(ids, o.source("image/png", scene(t, i)))
		}
	}
	w, _, _ := run(t, Config{Home: home, Engines: sees(s), Now: soon})
	first, rest := o.await(ids[0]), o.await(ids[23])
	if first.ID == rest.ID || len(first.Links) != 20 || len(rest.Links) != 4 || first.Metadata["frames"] != "19" || first.Metadata["alike"] != "1" || rest.Metadata["frames"] != "4" {
		t.Fatalf("%+v\n%+v", first, rest)
	}
	if !strings.HasPrefix(first.Text, "19 bars were seen.") || !strings.Contains(first.Text, "\n10:00:01 The first bar.") || strings.Contains(first.Text, "Kite") || first.Metadata["redacted"] != "1" ||
		len(first.Evidence) != memory.MaxEvidence || first.Rank != memory.RankCloud || first.Source.Plugin != "worker/sequence" || first.Metadata["prompt"] != "sequence.v1" ||
		first.Sensitivity != memory.Private || !first.TrueTo.After(first.TrueFrom) {
		t.Errorf("%+v", first)
	}
	spentOf(t, &first)
	o.accepted()
	_, reads := o.told(w.Spaces()[0].Member, func(last delta.ReportContent, _ []delta.Read) bool {
		return slices.ContainsFunc(last.Work, func(k delta.Work) bool { return k.Kind == "sequence" && k.Done == 2 })
	})
	if len(reads) != 2 || len(reads[0].Of)+len(reads[1].Of) != len(ids) {
		t.Errorf("%+v", reads)
	}
	if n := len(s.Requests()); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// A worker that is stopped during an update, or before there is a job for it, loses no frame: the
// next one does it, once.
func TestStoppedWorkerLosesNoFrame(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	came, never := make(chan struct{}, 1), make(chan struct{})
	s.Script(llmtest.Holds(came, never, llmtest.Say("too late")))
	s.Otherwise(llmtest.Say(`{"summary":"Bars were seen.","frames":[]}`))
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	var ids []memory.ID
	for i := range 3 {
		ids = append(ids, o.source("image/png", scene(t, i)))
	}
	_, _, stop := run(t, Config{Home: home, Engines: sees(s), Now: soon})
	<-came
	stop()
	close(never)
	run(t, Config{Home: home, Engines: sees(s), Now: soon})
	m := o.await(ids[0])
	if len(m.Links) != 3 || m.Text != "Bars were seen." {
		t.Errorf("%+v", m)
	}
	if got := o.answers(ids[0]); len(got) != 1 {
		t.Errorf("%d updates", len(got))
	}
}

// If one photo can't be opened, the others are still seen; if none can, the job is parked with the
// reason.
func TestUnreadableFramesAreLeftOut(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	s.Otherwise(llmtest.Say(`{"summary":"Bars were seen.","frames":[]}`))
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	bad := o.source("image/png", pngOf(1<<16, 1<<16))
	o.source("image/png", append(scene(t, 2), make([]byte, maxMedia)...))
	good := o.source("image/png", scene(t, 1))
	_, _, stop := run(t, Config{Home: home, Engines: sees(s), Now: soon})
	if m := o.await(good); len(m.Links) != 1 || m.Links[0].To != good.String() {
		t.Errorf("%+v", m)
	}
	stop()
	o.source("image/png", pngOf(1<<16, 1<<15))
	o.source("image/png", day(t, "note.png")[:900])
	w, _, _ := run(t, Config{Home: home, Engines: sees(s), Now: soon})
	if j := await(t, w, func(j *queue.Job) bool { return j.State == queue.Parked && j.Kind == queue.Sequence }); !strings.Contains(j.Reason, "pixels") {
		t.Errorf("%+v", j)
	}
	if got := o.answers(bad); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// A service's charge for transcription is booked by the minute, and limited by the budget: the next
// recording waits.
func TestTranscriptionObeysTheBudget(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	recording := o.source("audio/wav", audio.Speech(), "recording", "waiting")
	engines := Engines{Sight: "none", WhisperURL: hears(t, "Good morning everybody"), Prices: cost.Prices{"whisper.cpp": {Minute: 6000}}}
	w, _, _ := run(t, Config{Home: home, Engines: engines, Now: soon, Budget: queue.Cost{MicroUSD: 100}})
	if m := o.await(recording); m.Metadata["micro_usd"] != "1100" { // for 11 s
		t.Errorf("%+v", m.Metadata)
	}
	o.source("audio/wav", audio.Speech(), "recording", "waiting")
	if j := putOff(t, w); j.Kind != queue.Transcribe || !strings.Contains(j.Reason, "budget of the space is spent: $0.001100 of $0.000100") {
		t.Errorf("%+v", j)
	}
	if spent, err := w.Queue().Spent(t.Context(), o.space); err != nil || spent != (queue.Cost{MicroUSD: 1100}) {
		t.Errorf("%+v, %v", spent, err)
	}
}

// The text of photos that show the same page is stored once, and confirmed by the others.
func TestSameTextInPhotosIsStoredOnce(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	for range 3 {
		o.source("image/png", day(t, "note.png"))
	}
	run(t, Config{Home: home, Engines: Engines{Speech: "none"}})
	m := o.until(func(m *memory.Memory) bool { return len(m.Evidence) == 3 })
	prints := 0
	for _, other := range o.all() {
		if other.Source.Plugin == "worker/read" {
			prints++
		}
	}
	if prints != 1 || !strings.Contains(m.Text, "BOOK SWAP") {
		t.Errorf("%d prints, %+v", prints, m)
	}
	o.accepted()
}

// Batches that are not needed any more are deleted.
func TestUnneededBatchesAreDeleted(t *testing.T) {
	s := lined(t)
	now := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	for _, kind := range []queue.Kind{queue.Language, queue.Sequence} {
		if err := s.keepBatches(t.Context(), kind, []batch{{name: "old", At: now.Add(-lookBack - time.Hour), Of: []memory.ID{{1}}}, {name: "new", At: now, Of: []memory.ID{{2}}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.sweep(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[queue.Kind]int{queue.Language: 1, queue.Sequence: 0} { // none of these photos exists
		if err := s.engine.View(t.Context(), func(tx *store.Tx) error {
			got, err := batches(tx, kind)
			if err != nil || len(got) != want {
				t.Errorf("%s: %+v, %v", kind, got, err)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}
