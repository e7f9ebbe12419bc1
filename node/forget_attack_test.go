package node

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
)

// What was taken in but not processed yet is in the plan, and is erased.
func TestForgetUnprocessedEvents(t *testing.T) {
	n := keyed(t, nil)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for i := range 40 {
		send(t, n, said("pin", uint64(i+1), now.Add(-time.Duration(i)*time.Second), "Ana", fmt.Sprintf("Quintavius keeps %d grobnuts.", i+100)))
	}
	if p := confirm(t, n, serve.ForgetSelection{Query: "grobnuts"}); len(p.Utterances) != 40 {
		t.Errorf("%d lines in the plan", len(p.Utterances))
	}
	for _, f := range dig(t, n, "Quintavius", "grobnuts").Finds {
		t.Error(f)
	}
}

// A part of a photo whose rest is still to come is forgotten with its device. A part
// from another device keeps waiting, although the journal segment that held it is
// gone.
func TestForgetPartsOfAPhoto(t *testing.T) {
	n := keyed(t, nil)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile("../testdata/day/" + anyPhoto(t))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	half := len(picture) / 2
	part := func(device string, i int, data []byte) memory.Event {
		return memory.Event{ID: memory.EventID{Device: device, Boot: 1, Seq: uint64(10 + i)}, Kind: memory.KindPhoto, At: now, Received: now, Clock: memory.ClockWall, Codec: "jpeg", Data: data,
			Metadata: memory.Metadata{wire.MetaPart: fmt.Sprint(i), wire.MetaParts: "2"}}
	}
	send(t, n, part("pin", 0, picture[:half]))
	send(t, n, part("glasses", 0, []byte("the Zanzibarra picture begins")))
	send(t, n, said("glasses", 1, now, "Ana", "Quintavius counts grobnuts."))
	p := confirm(t, n, serve.ForgetSelection{Device: "glasses"})
	if p.Events != 2 {
		t.Errorf("the plan: %+v", p)
	}
	send(t, n, part("pin", 1, picture[half:]))
	if err := n.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := n.List(t.Context(), serve.ListQuery{Type: memory.Resource, Limit: 10})
	if err != nil || len(page.Memories) != 1 {
		t.Errorf("the photo that was not forgotten: %+v, %v", page.Memories, err)
	}
	for _, f := range dig(t, n, "Zanzibarra", "Quintavius").Finds {
		t.Error(f)
	}
}

func anyPhoto(t *testing.T) string {
	t.Helper()
	names, err := os.ReadDir("../testdata/day")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range names {
		if strings.HasSuffix(e.Name(), ".jpg") || strings.HasSuffix(e.Name(), ".jpeg") {
			return e.Name()
		}
	}
	t.Fatal("the day has no photo")
	return ""
}

// A locked node can't say what there is, and erases nothing.
func TestForgetOnALockedNode(t *testing.T) {
	n := lived(t, time.Now())
	p, err := n.PlanForget(t.Context(), serve.ForgetSelection{Query: "quintavius"})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := n.PlanForget(t.Context(), serve.ForgetSelection{Query: "quintavius"}); !errors.Is(err, memory.ErrLocked) {
		t.Errorf("a plan: %v", err)
	}
	if _, err := n.Forget(t.Context(), p); !errors.Is(err, memory.ErrLocked) {
		t.Errorf("a plan of before: %v", err)
	}
	if _, err := n.UnlockAsConfigured(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Forget(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for _, f := range dig(t, n, goneWords...).Finds {
		t.Error(f)
	}
}

// Below the disk's reserve nothing is taken in, but forgetting works, because it
// frees space.
func TestForgetOnAFullDisk(t *testing.T) {
	n := lived(t, time.Now())
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	cfg := n.cfg
	cfg.Disk.Reserve = config.Size(1 << 60)
	full, err := Open(cfg, Options{Cache: compiled})
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	if _, err := full.UnlockAsConfigured(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := full.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := full.Add(t.Context(), serve.AddRequest{Text: "one more"}); !errors.Is(err, memory.ErrNoSpace) {
		t.Fatalf("the disk is not full: %v", err)
	}
	confirm(t, full, serve.ForgetSelection{When: "yesterday"})
	for _, f := range dig(t, full, append([]string{goneHan}, goneWords...)...).Finds {
		t.Error(f)
	}
}

// While lines are heard and added, only what is to be forgotten is erased.
func TestForgetAmongAdds(t *testing.T) {
	n := keyed(t, nil)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	var group sync.WaitGroup
	sent, added := 0, 0
	group.Go(func() {
		for ; sent < 150; sent++ {
			send(t, n, said("pin", uint64(sent+1), now, "Ana", fmt.Sprintf("Parcel %d stands in the hall.", sent+1000)))
		}
	})
	group.Go(func() {
		no := false
		for ; added < 60; added++ {
			if _, err := n.Add(t.Context(), serve.AddRequest{Text: fmt.Sprintf("Crate %d holds books", added+1000), Infer: &no}); err != nil {
				t.Errorf("add: %v", err)
				return
			}
		}
	})
	for i := range 4 {
		send(t, n, said("glasses", uint64(i+1), now.AddDate(0, 0, -1).Add(time.Duration(i)*time.Minute), "Ana", fmt.Sprintf("Quintavius ate %d grobnuts.", i+100)))
		if p := confirm(t, n, serve.ForgetSelection{Device: "glasses"}); len(p.Utterances) != 1 {
			t.Errorf("round %d: %+v", i, p.Utterances)
		}
	}
	group.Wait()
	if err := n.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines, crates := 0, 0
	err := n.view(t.Context(), func(_ *session, tx *store.Tx) error {
		for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			if strings.HasPrefix(u.Text, "Parcel") {
				lines++
			}
		}
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			if strings.HasPrefix(m.Text, "Crate") {
				crates++
			}
		}
		return nil
	})
	if err != nil || lines != sent || crates != added || sent == 0 || added == 0 {
		t.Errorf("%d of %d lines and %d of %d memories are there, %v", lines, sent, crates, added, err)
	}
	for _, f := range dig(t, n, "Quintavius", "grobnuts").Finds {
		t.Error(f)
	}
}

// A memory that was heard twice stays on the other line when one of the lines is
// forgotten; but it does not stay if it has a word that only the first line has.
func TestForgetKeepsWhatStandsOnOtherEvidence(t *testing.T) {
	n := keyed(t, nil)
	yesterday, today := noonBefore(time.Now()), time.Now()
	event := func(seq uint64, at time.Time, text string) memory.Evidence {
		return memory.Evidence{Event: memory.EventID{Device: "pin", Boot: 9, Seq: seq}, At: at, Speaker: "Ana", Excerpt: text}
	}
	o := n.open
	propose := func(text string, es ...memory.Evidence) memory.ID {
		c := memory.Candidate{Type: memory.Semantic, Text: text, Owner: memory.Owner{User: memory.WearerUser}, Confidence: 1, Evidence: es[:1], Source: memory.Source{Plugin: "facts"}}
		id := o.ring.MemoryID(es[0].Event, "facts", c.Fingerprint())
		as := []memory.Assertion{{Memory: id, Act: memory.ActPropose, Candidate: &c}}
		for _, e := range es[1:] {
			as = append(as, memory.Assertion{Memory: id, Act: memory.ActReinforce, Evidence: []memory.Evidence{e}})
		}
		if _, err := o.engine.Assert(t.Context(), engine.PersonAuthority, func(*store.Tx) ([]memory.Assertion, error) { return as, nil }); err != nil {
			t.Fatal(err)
		}
		return id
	}
	stands := propose("The gate sticks in winter", event(1, yesterday, "you know the gate sticks in winter, says Quintavius"), event(2, today, "the gate still sticks in winter"))
	falls := propose("Quintavius mends the gate", event(3, yesterday, "Quintavius mends the gate"), event(4, today, "somebody mends the gate"))
	if _, err := n.Pin(t.Context(), stands, true); err != nil {
		t.Fatal(err)
	}
	p := confirm(t, n, serve.ForgetSelection{When: "yesterday"})
	if len(p.Memories) != 1 || p.Memories[0].ID != falls || len(p.Trimmed) != 1 || p.Trimmed[0].ID != stands {
		t.Errorf("the plan: %+v", p)
	}
	page, err := n.List(t.Context(), serve.ListQuery{Limit: 10})
	if err != nil || len(page.Memories) != 1 {
		t.Fatalf("%+v, %v", page.Memories, err)
	}
	m := page.Memories[0]
	if m.Text != "The gate sticks in winter" || len(m.Evidence) != 1 || m.Evidence[0].Event.Seq != 2 || m.ID == stands || !m.Pinned {
		t.Errorf("what stays: %+v", m)
	}
	for _, f := range dig(t, n, "Quintavius").Finds {
		t.Error(f)
	}
}

// What is kept for a disabled plugin is forgotten, too.
func TestForgetEventsOfADisabledPlugin(t *testing.T) {
	n := keyed(t, nil)
	now := time.Now()
	keep := func(slot int, device, place string) {
		ev := memory.Event{ID: memory.EventID{Device: device, Boot: 3, Seq: uint64(slot + 1)}, Kind: memory.KindLocation, At: now, Received: now, Place: &memory.Place{Name: place}}
		if err := n.open.store.Update(t.Context(), func(tx *store.Tx) error { return tx.PutMeta(fmt.Sprintf("owed to guide, %d", slot), &ev) }); err != nil {
			t.Fatal(err)
		}
	}
	keep(0, "glasses", "Zanzibarra")
	keep(1, "pin", "Grobnuthall")
	confirm(t, n, serve.ForgetSelection{Device: "glasses"})
	finds := dig(t, n, "Zanzibarra", "Grobnuthall").Finds
	if len(finds) == 0 {
		t.Error("what waits of another device is gone as well")
	}
	for _, f := range finds {
		if f.Needle == "Zanzibarra" {
			t.Error(f)
		}
	}
}
