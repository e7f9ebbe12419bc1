package store

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

func tasks(t *testing.T, s *Store) (out []Task) {
	t.Helper()
	view(t, s, func(tx *Tx) error {
		for k, err := range tx.Tasks() {
			if err != nil {
				return err
			}
			out = append(out, k)
		}
		return nil
	})
	return out
}

func TestTasks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	put := func(n int, at time.Time) {
		u := memory.Utterance{ID: testID(n), Event: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(n)}, At: at, Session: "s", Text: "hello"}
		update(t, s, func(tx *Tx) error {
			return errors.Join(tx.PutUtterance(&u), tx.PutTask(Task{Utterance: u.ID, At: u.At, Session: u.Session}))
		})
	}
	put(3, noon.Add(time.Hour))
	put(1, noon)
	put(2, noon)
	got := tasks(t, s)
	if len(got) != 3 || got[2].Utterance != testID(3) || !got[0].At.Equal(noon) || got[0].Session != "s" {
		t.Fatalf("%+v", got)
	}
	// The task survives closing the store, can be changed, and is removed with its utterance.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	got[0].Tries, got[0].Parked, got[0].Reason = 2, noon, "broken"
	update(t, s, func(tx *Tx) error { return tx.PutTask(got[0]) })
	if again := tasks(t, s); len(again) != 3 || again[0].Tries != 2 || again[0].Reason != "broken" {
		t.Fatalf("%+v", again)
	}
	update(t, s, func(tx *Tx) error {
		return errors.Join(tx.DropTask(got[2]), tx.DropTask(got[2]), tx.Erase(Targets{Utterances: []memory.ID{got[0].Utterance}}), tx.ExpireUtterance(got[1].Utterance))
	})
	if left := tasks(t, s); len(left) != 0 {
		t.Fatalf("%+v", left)
	}
	sound(t, s)
	if err := s.Update(t.Context(), func(tx *Tx) error { return tx.PutTask(Task{}) }); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a task of nothing: %v", err)
	}
}

// A summary may repeat anything from what it summarises.
func TestSummaryIsForgottenWithItsSources(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	u := memory.Utterance{ID: testID(1), Event: memory.EventID{Device: "pin", Boot: 1, Seq: 1}, At: noon, Session: "s", Text: "hello"}
	update(t, s, func(tx *Tx) error { return tx.PutUtterance(&u) })
	for name, change := range map[string]func(*Tx) error{
		"an utterance is erased": func(tx *Tx) error { return tx.Erase(Targets{Utterances: []memory.ID{testID(7)}}) },
		"a memory is erased":     func(tx *Tx) error { return tx.EraseRemote(Targets{Memories: []memory.ID{testID(8)}}) },
		"a text is redacted": func(tx *Tx) error {
			u.Text += "[password]"
			return tx.PutUtterance(&u)
		},
	} {
		update(t, s, func(tx *Tx) error {
			return errors.Join(tx.PutSummary(Summary{Session: "s", Text: "They said hello.", Of: 3}), tx.PutUtterance(&u))
		})
		view(t, s, func(tx *Tx) error {
			if got, err := tx.Summary(); err != nil || got.Of != 3 {
				t.Errorf("%s: before: %+v, %v", name, got, err)
			}
			return nil
		})
		update(t, s, change)
		view(t, s, func(tx *Tx) error {
			if got, err := tx.Summary(); err != nil || got != (Summary{}) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
			return nil
		})
	}
}
