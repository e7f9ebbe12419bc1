package apps

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// changed are memories whose changes an app is sent, in their order.
type changed struct {
	serve.Exchange
	serve.Reader
	list []memory.Memory
}

func (c *changed) Changes(_ context.Context, after uint64, _ bool) iter.Seq2[memory.Change, error] {
	return func(yield func(memory.Change, error) bool) {
		for i, m := range c.list[after:] {
			if !yield(memory.Change{Seq: after + uint64(i) + 1, Memory: m.ID, Verdict: memory.Add, New: m.Text}, nil) {
				return
			}
		}
	}
}

func (c *changed) Get(_ context.Context, id memory.ID) (memory.Memory, error) {
	return c.list[id[0]], nil
}

var letIn = time.Date(2026, 9, 14, 8, 0, 0, 500, time.UTC)

// hookBook returns a Book with apps that have hooks and 20 tokens a day.
func hookBook(t *testing.T, names ...string) (*Book, *store.Store) {
	t.Helper()
	s, err := store.Open(store.Options{Dir: t.TempDir(), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	b := NewBook(s, nil, func() time.Time { return letIn })
	for _, name := range names {
		if _, err := b.AddApp(t.Context(), serve.AppRequest{Name: name, Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}, Hook: "https://hook.example/", Tokens: 20}); err != nil {
			t.Fatal(err)
		}
	}
	return b, s
}

// If the record of an app's hook is missing, the hooks of other apps are still served. Ends of
// shares are sent from the time when an app was added.
func TestHooks(t *testing.T) {
	b, s := hookBook(t, "first", "second")
	if err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.DeleteMeta(hookName("first")) }); err != nil {
		t.Fatal(err)
	}
	list, err := b.Hooks(t.Context())
	if err != nil || len(list) != 1 || list[0].App != "second" {
		t.Fatalf("%+v, %v", list, err)
	}
	if !list[0].Ended.Equal(letIn.Truncate(time.Second)) {
		t.Errorf("ends are told from %s", list[0].Ended)
	}
}

// A memory that exceeds the tokens of a whole day is skipped, and the log says so. The error
// for too many current requests differs from that for the limit of a day.
func TestHookOverTheDay(t *testing.T) {
	b, _ := hookBook(t, "app")
	of := &changed{}
	for i, text := range []string{strings.Repeat("The sofa is brown. ", 50), "The lamp is red."} {
		of.list = append(of.list, memory.Memory{ID: memory.ID{byte(i)}, State: memory.Active, Candidate: memory.Candidate{Type: memory.Semantic, Text: text}})
	}
	b.exchange, b.reader = of, of
	list, err := b.Hooks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, cursor, err := b.NextChange(t.Context(), list[0])
	if err != nil || got == nil || got.Memory.Text != "The lamp is red." || cursor != 2 {
		t.Fatalf("%+v, %d, %v", got, cursor, err)
	}
	log, err := b.AppLog(t.Context(), "app", 10)
	if err != nil || len(log.Entries) != 2 || !strings.Contains(log.Entries[1].Refused+log.Entries[0].Refused, "gets 20 a day") {
		t.Errorf("%+v, %v", log, err)
	}
	for range maxVisits {
		_, _, leave, err := b.entry(t.Context(), &list[0])
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
	}
	if _, _, err := b.NextChange(t.Context(), list[0]); !errors.Is(err, ErrBusy) || !errors.Is(err, serve.ErrLimit) {
		t.Errorf("%v", err)
	}
}
