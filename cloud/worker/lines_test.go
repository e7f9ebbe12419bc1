package worker

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
)

// lined is a space with a replica and nothing else.
func lined(t *testing.T, us ...memory.Utterance) *space {
	t.Helper()
	st, err := store.Open(store.Options{Dir: filepath.Join(t.TempDir(), "store"), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := range us {
		if err := st.Update(t.Context(), func(tx *store.Tx) error { return tx.PutUtterance(&us[i]) }); err != nil {
			t.Fatal(err)
		}
	}
	return &space{store: st}
}

func lineOf(n byte, session string, at time.Time) memory.Utterance {
	ev := memory.EventID{Device: "pin", Boot: 1, Seq: uint64(n)}
	return memory.Utterance{ID: memory.ID{n}, Space: memory.SpaceID{1}, Event: ev, Session: session, At: at, Speaker: "Bo", Text: fmt.Sprintf("This is line %d of it", n)}
}

// A session at the edge of what is looked back at is cut as before, or not
// asked about any more: time that passes makes no talk of it that is new.
func TestTalksStandWhileTimePasses(t *testing.T) {
	now := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	var us []memory.Utterance
	for i := range 20 {
		us = append(us, lineOf(byte(i+1), "old", now.Add(-lookBack+time.Duration(i)*10*time.Minute)))
	}
	us = append(us, lineOf(100, "new", now.Add(-time.Hour)))
	s := lined(t, us...)
	known := map[string]bool{}
	for i, want := range []int{4, 1, 1, 1} {
		list, err := s.talks(t.Context(), now.Add(time.Duration(i)*25*time.Minute))
		if err != nil || len(list) != want {
			t.Fatalf("%d: %d talks, %v", i, len(list), err)
		}
		for _, talk := range list {
			if i > 0 && !known[talk.name] {
				t.Errorf("%d: a new talk of %d lines of %s", i, len(talk.lines), talk.session)
			}
			known[talk.name] = true
		}
	}
}

// A summary goes with what it rests on, and with its session's end, without
// anybody asking for it.
func TestSummariesGo(t *testing.T) {
	now := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	here, over := lineOf(1, "live", now.Add(-time.Minute)), lineOf(2, "over", now.Add(-time.Hour))
	s := lined(t, here, over)
	of := func(us ...memory.Utterance) map[string][]byte {
		out := map[string][]byte{}
		for _, u := range us {
			sum := sha256.Sum256([]byte(u.Text))
			out[u.ID.String()] = sum[:]
		}
		return out
	}
	forgotten := lineOf(3, "live", now)
	changed := here
	changed.Text = "This was said otherwise"
	for name, sum := range map[string]summaryOf{
		"live":      {Text: "stands", Of: of(here), Upto: here.ID},
		"over":      {Text: "of no use", Of: of(over), Upto: over.ID},
		"forgotten": {Text: "gone", Of: of(here, forgotten), Upto: here.ID},
		"changed":   {Text: "redacted since", Of: of(changed), Upto: here.ID},
	} {
		if err := s.store.Update(t.Context(), func(tx *store.Tx) error { return tx.PutMeta(summaryMeta(name), sum) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.sweep(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	var left []string
	if err := s.store.View(t.Context(), func(tx *store.Tx) error {
		for name, err := range tx.MetaNames(summaryMeta("")) {
			if err != nil {
				return err
			}
			left = append(left, name)
		}
		return nil
	}); err != nil || !slices.Equal(left, []string{summaryMeta("live")}) {
		t.Errorf("%q, %v", left, err)
	}
}
