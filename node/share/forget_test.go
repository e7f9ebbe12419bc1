package share_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/remote"
)

// What was forgotten is removed from the files of feeds at once, without a
// relay.
func TestForgottenIsGoneFromFeeds(t *testing.T) {
	service := serveRelay(t)
	w, main, hired := newWearer(t, service), newInbox(t), newWorker(t)
	var config share.Config
	w.Sharing = w.with(func(c *share.Config) { c.Inbox = main; config = *c })
	line := memory.Utterance{ID: memory.ID{210}, Space: home, Event: memory.EventID{Device: "pin", Boot: 1, Seq: 9}, At: day, Speaker: "Klara", Text: "I like grobnuts best."}
	main.change(func(tx *store.Tx) error { return tx.PutUtterance(&line) })
	likes := remembered("Klara likes grobnuts", func(m *memory.Memory) {
		m.Evidence = []memory.Evidence{{Event: line.Event, Utterance: line.ID, Speaker: "Klara", At: day, Excerpt: line.Text, End: len(line.Text)}}
	})
	main.tell(likes)
	rec, err := w.CreateFeed(t.Context(), share.FeedSpec{Name: "studio", Key: hired.request,
		Criteria: share.Criteria{Types: []memory.Type{memory.Semantic}, Most: memory.Personal},
		Grant:    delta.Grant{Types: []memory.Type{memory.Semantic}}})
	if err != nil {
		t.Fatal(err)
	}
	found := func() (n int) {
		t.Helper()
		key := share.StoreKey(config.Key, rec.Space)
		defer key.Zero()
		err := store.FindRemnants(filepath.Join(config.Dir, rec.Space.String(), "store"), key, func(r store.Remnant) error {
			if strings.Contains(string(r.Data), "grobnuts") {
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := found(); n < 3 {
		t.Fatalf("the feed holds %d values with the word: the search does not bite", n)
	}
	main.change(func(tx *store.Tx) error {
		return tx.Erase(store.Targets{Memories: []memory.ID{likes.ID}, Utterances: []memory.ID{line.ID}})
	})
	nowhere, err := remote.New("http://127.0.0.1:1", remote.Option{})
	if err != nil {
		t.Fatal(err)
	}
	w.Sharing = w.with(func(c *share.Config) { c.Relay = func() (*remote.Relay, string) { return nowhere, service.url } })
	if err := w.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := found(); n != 0 {
		t.Errorf("%d values of the feed hold it still", n)
	}
}
