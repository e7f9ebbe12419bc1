package worker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
)

// lined is a space with only a replica.
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
	return &space{store: st, now: time.Now, engine: engine.New(engine.Config{Store: st, Clock: new(memory.Ticker), Worker: true})}
}

func lineOf(n byte, session string, at time.Time) memory.Utterance {
	ev := memory.EventID{Device: "pin", Boot: 1, Seq: uint64(n)}
	return memory.Utterance{ID: memory.ID{n}, Space: memory.SpaceID{1}, Event: ev, Session: session, At: at, Speaker: "Bo", Text: fmt.Sprintf("This is line %d of it", n)}
}

// A session at the edge of the look-back period is split as before, or ignored: passing time does
// not make new talks of it.
func TestLookBackPeriodSplitsNoSessionAnew(t *testing.T) {
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

// A late line is asked about by itself, together with earlier lines, and a forgotten or redacted
// line repeats no question.
func TestLateLineIsAskedAboutOnce(t *testing.T) {
	began := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	now := began.Add(2 * time.Hour)
	var us []memory.Utterance
	for i := range 16 {
		us = append(us, lineOf(byte(i+1), "talk", began.Add(time.Duration(i)*time.Minute)))
	}
	s := lined(t, us...)
	names := func() (out []string) {
		t.Helper()
		list, err := s.talks(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		for _, talk := range list {
			out = append(out, talk.name)
		}
		return out
	}
	before := names()
	if len(before) != 2 {
		t.Fatal(before)
	}
	late := lineOf(200, "talk", began.Add(150*time.Second))
	redacted := us[9]
	redacted.Text = "This is [password] of it"
	if err := s.engine.Commit(t.Context(), func(tx *store.Tx) error {
		return errors.Join(tx.PutUtterance(&late), tx.PutUtterance(&redacted), tx.Erase(store.Targets{Utterances: []memory.ID{us[5].ID}}))
	}); err != nil {
		t.Fatal(err)
	}
	fresh := slices.DeleteFunc(names(), func(n string) bool { return slices.Contains(before, n) })
	if len(fresh) != 1 {
		t.Fatalf("%d talks are new", len(fresh))
	}
	alone, ok, err := s.talkOf(t.Context(), fresh[0])
	if err != nil || !ok || len(alone.lines) != 1 || alone.lines[0].ID != late.ID || len(alone.earlier) != 3 {
		t.Errorf("%+v, %v", alone, err)
	}
	again, ok, err := s.talkOf(t.Context(), before[1])
	if err != nil || !ok || len(again.lines) != 8 || again.lines[1].Text != redacted.Text || len(again.earlier) != 8 {
		t.Errorf("%+v, %v", again, err)
	}
}

// The last lines of a session are looked at again once it is over, although nothing new comes.
func TestLastLinesOfASessionAreProcessed(t *testing.T) {
	now := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	s := lined(t, lineOf(1, "talk", now.Add(-10*time.Minute)), lineOf(2, "talk", now.Add(-5*time.Minute)))
	s.wake = make(chan struct{}, 1)
	s.memberCtx, s.end = context.WithCancel(t.Context())
	defer s.end()
	s.ready.Store(true)
	if list, err := s.talks(t.Context(), now); err != nil || len(list) > 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	w := &Worker{c: Config{Now: func() time.Time { return now }}, spaces: map[memory.SpaceID]*space{{1}: s}}
	w.syncForReport(t.Context())
	if len(s.wake) > 0 {
		t.Fatal("looked at before the session was over")
	}
	now = now.Add(25 * time.Minute)
	w.syncForReport(t.Context())
	if len(s.wake) == 0 {
		t.Fatal("the last lines are left")
	}
	if list, err := s.talks(t.Context(), now); err != nil || len(list) != 1 || len(list[0].lines) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A summary is deleted with its lines, and at the end of its session, without a request.
func TestSummaryIsDeletedWithItsLines(t *testing.T) {
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
		if err := s.engine.Commit(t.Context(), func(tx *store.Tx) error { return tx.PutMeta(summaryMeta(name), sum) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.sweep(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	var left []string
	if err := s.engine.View(t.Context(), func(tx *store.Tx) error {
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
