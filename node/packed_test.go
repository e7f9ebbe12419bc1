package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// Old lines are packed where a storage budget is kept, also without a relay:
// they are searched and shown as before, and no trace is left of those that are
// forgotten.
func TestForgettingPackedLines(t *testing.T) {
	n := keyed(t, func(c *config.Config) { c.Hot.Records = 1000 })
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	old := noonBefore(time.Now()).Add(-72 * time.Hour)
	send(t, n, said("pin", 1, old, "Hildebrand", goneLine))
	for i := range 140 {
		send(t, n, said("pin", uint64(i+2), old.Add(time.Duration(i+1)*time.Second), "Ana", fmt.Sprintf("Well, the tram number %d was late again, would you believe it.", i)))
	}
	if err := n.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := n.MoveTiers(t.Context(), serve.MoveRequest{Cool: true}); err != nil {
		t.Fatal(err)
	}
	loose := func() (loose, all int) {
		t.Helper()
		err := n.open.store.View(t.Context(), func(tx *store.Tx) (err error) {
			for _, err := range tx.Utterances(time.Time{}, time.Time{}) {
				if err != nil {
					return err
				}
				all++
			}
			loose, err = tx.LooseUtterances(time.Now())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return loose, all
	}
	if l, all := loose(); l != 0 || all != 141 {
		t.Fatalf("%d of %d utterances are loose", l, all)
	}
	r, err := n.Search(t.Context(), serve.SearchRequest{Query: "tram number 77", Only: "utterances", K: 1})
	if err != nil || len(r.Hits) != 1 || r.Hits[0].Utterance == nil || r.Hits[0].Utterance.Event.Seq != 79 {
		t.Fatalf("%+v, %v", r.Hits, err)
	}
	if err := n.Lock(t.Context()); err != nil { // and after it was closed
		t.Fatal(err)
	}
	if _, err := n.UnlockAsConfigured(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := confirm(t, n, serve.ForgetSelection{Query: "Quintavius"})
	if len(p.Utterances) != 1 {
		t.Errorf("%d utterances are to go", len(p.Utterances))
	}
	if _, all := loose(); all != 140 {
		t.Errorf("%d utterances are left", all)
	}
	if found := dig(t, n, goneWords...); len(found.Finds) > 0 {
		t.Errorf("found: %v", found.Finds)
	}
}
