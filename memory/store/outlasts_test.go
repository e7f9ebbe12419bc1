package store

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// All devices keep the same one of two lines with one id, in whatever order they came, although the
// device that heard a line knows more about it than is synced.
func TestDevicesKeepTheSameLine(t *testing.T) {
	base := memory.Utterance{ID: testID(9), At: noon, Text: "The key is under the mat.", Session: "s"}
	var lines []memory.Utterance
	for _, change := range []func(*memory.Utterance){
		func(*memory.Utterance) {},
		func(u *memory.Utterance) { u.Text = "The key is under the pot." },
		func(u *memory.Utterance) { u.Text = "A key." },
		func(u *memory.Utterance) { u.Speaker = "Bo" },
		func(u *memory.Utterance) { u.At = noon.Add(-time.Minute) },
		func(u *memory.Utterance) { u.Event = memory.EventID{Device: "pin", Boot: 1, Seq: 2} },
		func(u *memory.Utterance) { u.Text, u.Redacted = "*", 1 },
		func(u *memory.Utterance) { u.Text, u.Source.Plugin = "The zebra.", "worker/transcribe" },
	} {
		u := base
		change(&u)
		lines = append(lines, u)
	}
	kept := func(puts ...func(*Tx) error) (out memory.Utterance) {
		s := open(t, t.TempDir())
		for _, put := range puts {
			update(t, s, put)
		}
		update(t, s, func(tx *Tx) error {
			u, err := tx.Utterance(base.ID)
			if err == nil {
				out = *u
			}
			return err
		})
		out.Agent, out.Run, out.Metadata = "", "", nil
		return out
	}
	for i := range lines {
		for j := range lines[:i] {
			a, b := lines[i], lines[j]
			heard := a
			heard.Agent, heard.Run, heard.Metadata = "glasses", "today", memory.Metadata{"mood": "calm"}
			local := func(tx *Tx) error { return tx.PutUtterance(&heard) }
			remote := func(u memory.Utterance) func(*Tx) error {
				return func(tx *Tx) error { return tx.PutRemoteUtterance(&u) }
			}
			want := kept(remote(a), remote(b))
			for name, got := range map[string]memory.Utterance{"the other way round": kept(remote(b), remote(a)), "where one was heard": kept(local, remote(b))} {
				if ok, err := alike(got, want); err != nil || !ok {
					t.Errorf("%d and %d, %s: %q by %q is kept, and elsewhere %q by %q, %v", i, j, name, got.Text, got.Speaker, want.Text, want.Speaker, err)
				}
			}
		}
	}
}

// A worker's line does not replace a device's, whatever it claims.
func TestWorkerCannotReplaceADevicesLine(t *testing.T) {
	device := memory.Utterance{ID: testID(9), At: noon, Text: "The key is under the mat.", Session: "s", Source: memory.Source{Plugin: "speech"}}
	worker := device
	worker.Text, worker.Redacted, worker.Source.Plugin = "The zebra.", 9, memory.WorkerPlugin+"transcribe"
	for _, order := range [][]*memory.Utterance{{&device, &worker}, {&worker, &device}} {
		s := open(t, t.TempDir())
		for _, u := range order {
			update(t, s, func(tx *Tx) error { return tx.PutRemoteUtterance(u) })
		}
		view(t, s, func(tx *Tx) error {
			if u, err := tx.Utterance(device.ID); err != nil || u.Text != device.Text {
				t.Errorf("%+v, %v", u, err)
			}
			return nil
		})
	}
}
