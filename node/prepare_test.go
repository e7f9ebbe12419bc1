package node

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// What may be asked for during the day is fetched before anybody asks: what
// searches for its date, for the speakers and for plans find.
func TestColdMemoriesAreFetchedForTheDay(t *testing.T) {
	w := newWorld(t)
	cfg := w.settings("home")
	if _, err := Init(cfg, InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	n := w.open(cfg, -72*time.Hour)
	now := time.Now().UTC()
	no := false
	tell := func(r serve.AddRequest) memory.ID {
		t.Helper()
		r.Infer = &no
		a, err := n.Add(t.Context(), r)
		if err != nil || len(a.Changes) == 0 {
			t.Fatalf("%+v, %v", a, err)
		}
		return a.Changes[0].Memory
	}
	old := func(text string) memory.ID {
		t.Helper()
		return tell(serve.AddRequest{Text: text, At: now.Add(-72 * time.Hour)})
	}
	cold := map[string]memory.ID{
		"the date":    old("The boiler will be inspected on " + now.Format("2 January 2006") + "."),
		"who speaks":  old("Zoltan is allergic to walnuts."),
		"what is due": old("Grace keeps the oars in the red shed."),
	}
	var others []memory.ID
	for i := range 130 { // more than what the cues bring in
		others = append(others, old(fmt.Sprintf("The kettle number %d stands in the attic.", i)))
	}
	w.sync(n)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	cfg.Hot.Records = 2
	n = w.open(cfg, 0)
	w.sync(n)
	if a, err := n.MoveTiers(t.Context(), serve.MoveRequest{Cool: true}); err != nil || a.Cold < 130 {
		t.Fatalf("%+v, %v", a, err)
	}
	if _, err := n.Add(t.Context(), serve.AddRequest{Text: "What a wind today.", Speaker: "Zoltan"}); err != nil {
		t.Fatal(err)
	}
	tell(serve.AddRequest{Text: "Rowing with Grace, oars and all", Type: memory.Episodic, Fields: memory.Fields{Episodic: &memory.EpisodicFields{Started: now}}})

	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	isCold := func(id memory.ID) (is bool) {
		t.Helper()
		err := o.store.View(t.Context(), func(tx *store.Tx) (err error) {
			_, is, err = tx.Cold(id)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	for what, id := range cold {
		if !isCold(id) {
			t.Fatalf("of %s: hot before", what)
		}
	}
	if err := o.tiers.PrepareDay(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, id := range cold {
		if isCold(id) {
			t.Errorf("of %s: not brought here", what)
		}
	}
	if !slices.ContainsFunc(others, isCold) {
		t.Error("everything came")
	}
}
