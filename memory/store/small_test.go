package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/memory"
)

func TestNamedRecords(t *testing.T) {
	s := open(t, t.TempDir())
	type pair struct {
		A string    `json:"a"`
		B time.Time `json:"b"`
	}
	device := Device{Name: "pin-1", Credentials: []byte("hash"), Description: memory.Metadata{"model": "x"}, Added: noon}
	update(t, s, func(tx *Tx) error {
		return errors.Join(tx.SetCursor("journal", 12), tx.PutMeta("member", me), tx.PutMeta("pair", pair{"x", noon}),
			tx.PutDevice(device), tx.PutDevice(Device{Name: "pin-2"}))
	})
	s = reopen(t, s)
	view(t, s, func(tx *Tx) error {
		if n, err := tx.Cursor("journal"); n != 12 || err != nil {
			t.Errorf("cursor: %d, %v", n, err)
		}
		if n, err := tx.Cursor("other"); n != 0 || err != nil {
			t.Errorf("unset cursor: %d, %v", n, err)
		}
		var m memory.MemberID
		var p pair
		if ok, err := tx.Meta("member", &m); !ok || err != nil || m != me {
			t.Errorf("member: %v, %v", m, err)
		}
		if ok, err := tx.Meta("pair", &p); !ok || err != nil || p.A != "x" || !p.B.Equal(noon) {
			t.Errorf("pair: %v, %v", p, err)
		}
		if ok, err := tx.Meta("none", &p); ok || err != nil || p.A != "x" {
			t.Errorf("none: %v", err)
		}
		if _, err := tx.Meta("pair", &m); err == nil {
			t.Error("a pair was read as a member")
		}
		if d, err := tx.Device("pin-1"); err != nil || d.Description["model"] != "x" || !d.Added.Equal(noon) {
			t.Errorf("device: %+v, %v", d, err)
		}
		if _, err := tx.Device("pin-3"); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("unknown device: %v", err)
		}
		if all := collect(t, tx.Devices()); len(all) != 2 {
			t.Errorf("devices: %+v", all)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error {
		return errors.Join(tx.DeleteDevice("pin-1"), tx.DeleteDevice("pin-9"), tx.DeleteMeta("pair"))
	})
	view(t, s, func(tx *Tx) error {
		if all := collect(t, tx.Devices()); len(all) != 1 || all[0].Name != "pin-2" {
			t.Errorf("devices: %+v", all)
		}
		if ok, err := tx.Meta("pair", new(pair)); ok || err != nil {
			t.Errorf("deleted: %v", err)
		}
		return nil
	})
	for _, name := range []string{"", strings.Repeat("x", memory.MaxName+1)} {
		if err := s.Update(t.Context(), func(tx *Tx) error { return tx.SetCursor(name, 1) }); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("name of %d bytes: %v", len(name), err)
		}
	}
	sound(t, s)
}

// TestKeysRevealNothing looks in the keys for what was said and named.
func TestKeysRevealNothing(t *testing.T) {
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		_, err := tx.Assert(home(1, me, 1, "Ghent"))
		e := memory.EventID{Device: "pin-1", Boot: 1, Seq: 1}
		return errors.Join(err, tx.PutDevice(Device{Name: "pin-1"}), tx.MarkEvent(e, "done"), tx.SetCursor("journal", 1),
			tx.PutMeta("member", 1), tx.Refuse(memory.Refusal{Event: e}), tx.PutSegment("one", 1, nil),
			tx.Quarantine(Quarantined{Topic: "locket/v1/pin-1/text"}),
			tx.PutUtterance(&memory.Utterance{ID: testID(2), Event: e, At: noon, Text: "Ghent"}))
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	raw(t, s.opt.Dir, func(txn *badger.Txn) error {
		for k := range kinds {
			for _, key := range keysUnder(txn, k) {
				n++
				for _, word := range []string{"hent", "pin", "user", "home", "semantic", "journal", "member", "one", "done", "locket"} {
					if bytes.Contains(bytes.ToLower(key), []byte(word)) {
						t.Errorf("%s: %q in %q", kinds[k].name, word, key)
					}
				}
				if name, text := describe(key); name == "unknown" || len(key) > maxKey || strings.Contains(text, "�") {
					t.Errorf("key %x: %s %s", key, name, text)
				}
			}
		}
		return nil
	})
	if n < 40 {
		t.Errorf("%d keys looked at", n)
	}
}

func TestEventMarks(t *testing.T) {
	s := open(t, t.TempDir())
	r := rand.New(rand.NewPCG(1, 2))
	want := map[memory.EventID]string{}
	for range 10 {
		update(t, s, func(tx *Tx) error {
			for range 150 {
				e := memory.EventID{Device: []string{"a", "b"}[r.IntN(2)], Boot: uint64(r.IntN(2)), Seq: 900 + uint64(r.IntN(400))}
				want[e] = []string{"done", "refused", "waiting"}[r.IntN(3)]
				if err := tx.MarkEvent(e, want[e]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	view(t, s, func(tx *Tx) error {
		for seq := uint64(880); seq < 1400; seq++ {
			for _, d := range []string{"a", "b", "c"} {
				e := memory.EventID{Device: d, Boot: 1, Seq: seq}
				got, ok, err := tx.EventMark(e)
				if w, marked := want[e]; err != nil || ok != marked || got != w {
					t.Errorf("%s: %q, want %q: %v", e, got, w, err)
				}
			}
		}
		return nil
	})
	for i := range uint64(20) {
		update(t, s, func(tx *Tx) error {
			for seq := range uint64(100) {
				if err := tx.MarkEvent(memory.EventID{Device: "long", Seq: 100*i + seq}, "done"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	view(t, s, func(tx *Tx) error {
		page, _, err := load[[]markRange](tx, tx.markKey(memory.EventID{Device: "long", Seq: markPage - 1}))
		if err != nil || len(page) != 1 || page[0].Hi != markPage-1 {
			t.Errorf("in order and alike, yet %d ranges: %v", len(page), err)
		}
		return nil
	})
	if err := s.Update(t.Context(), func(tx *Tx) error { return tx.MarkEvent(memory.EventID{}, "done") }); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("no device: %v", err)
	}
	sound(t, s)
}

func TestRefusalsAreBounded(t *testing.T) {
	s := open(t, t.TempDir())
	refuse := func(n uint64) error {
		return s.Update(t.Context(), func(tx *Tx) error {
			return tx.Refuse(memory.Refusal{Event: memory.EventID{Device: "pin", Seq: n}, At: noon, Kind: "filler", Reason: fmt.Sprint(n)})
		})
	}
	if err := errors.Join(refuse(1), refuse(2), refuse(2)); err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx *Tx) error { tx.state.head.Seq.Refusal = MaxRefusals; return nil }) // as if that many had come
	if err := refuse(3); err != nil {
		t.Fatal(err)
	}
	view(t, s, func(tx *Tx) error {
		if all := collect(t, tx.Refusals()); len(all) != 3 || all[0].Reason != "3" || all[2].Reason != "2" {
			t.Errorf("refusals: %+v", all)
		}
		if r, err := tx.RefusalsOf(memory.EventID{Device: "pin", Seq: 2}); err != nil || len(r) != 2 {
			t.Errorf("of 2: %+v, %v", r, err)
		}
		if r, err := tx.RefusalsOf(memory.EventID{Device: "pin", Seq: 1}); err != nil || len(r) != 0 {
			t.Errorf("of 1: %+v, %v", r, err)
		}
		return nil
	})
	sound(t, s)
}

// TestQuarantineKeepsRetryableEntries: an entry that can be tried again stays, with its blob, however much
// comes after it; any other entry is removed with its blob.
func TestQuarantineKeepsRetryableEntries(t *testing.T) {
	s := open(t, t.TempDir())
	var blobs []Blob
	for _, again := range [][]byte{[]byte("{}"), nil} {
		b, err := s.WriteBlob(t.Context(), strings.NewReader("the whole of it"))
		if err != nil {
			t.Fatal(err)
		}
		blobs = append(blobs, b)
		update(t, s, func(tx *Tx) error {
			return errors.Join(tx.KeepBlob(b, testID(len(blobs))), tx.Quarantine(Quarantined{Topic: "aside", Data: []byte("the"), Blob: b.ID, Again: again}))
		})
	}
	flood := func() {
		update(t, s, func(tx *Tx) error {
			for range MaxQuarantined {
				if err := tx.Quarantine(Quarantined{Topic: "aside"}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	flood()
	view(t, s, func(tx *Tx) error {
		all := collect(t, tx.Quarantined())
		if len(all) != MaxQuarantined+1 || all[0].Topic != "aside" {
			t.Errorf("%d kept, the first %q", len(all), all[0].Topic)
		}
		if r, err := tx.OpenBlob(blobs[0].ID); err != nil {
			t.Errorf("its blob: %v", err)
		} else if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := tx.OpenBlob(blobs[1].ID); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("the blob of what can't be tried again: %v", err)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { return tx.DropQuarantined(1) })
	flood()
	view(t, s, func(tx *Tx) error {
		if _, err := tx.OpenBlob(blobs[0].ID); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("its blob, once it was dropped: %v", err)
		}
		if n := len(collect(t, tx.Quarantined())); n != MaxQuarantined {
			t.Errorf("%d kept", n)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { return tx.ClearQuarantined() })
	view(t, s, func(tx *Tx) error {
		if all := collect(t, tx.Quarantined()); len(all) > 0 {
			t.Errorf("%d after clearing", len(all))
		}
		return nil
	})
	sound(t, s)
}

// The entries of one device only push out its own, also in a store of an earlier version.
func TestQuarantineLimitPerDevice(t *testing.T) {
	s := open(t, t.TempDir())
	topics := func(from, n int, topic string) {
		update(t, s, func(tx *Tx) error {
			for i := range n {
				if err := tx.Quarantine(Quarantined{Topic: topic, Reason: fmt.Sprint(from + i)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	topics(0, 3, "pin/text")
	topics(0, 2, "journal")
	update(t, s, func(tx *Tx) error { return tx.DeleteMeta(quarantineMeta) }) // as an earlier version leaves it
	topics(0, MaxQuarantined, "glasses/text")
	topics(MaxQuarantined, 100, "glasses/photo")
	topics(3, 1, "pin/photo")
	update(t, s, func(tx *Tx) error { return tx.DropQuarantined(2) })
	topics(4, 1, "pin/photo")
	view(t, s, func(tx *Tx) error {
		of := map[string][]string{}
		all := collect(t, tx.Quarantined())
		for _, m := range all {
			of[m.source()] = append(of[m.source()], m.Reason)
		}
		if g := of["glasses"]; !slices.Equal(of["pin"], []string{"0", "2", "3", "4"}) || len(of["journal"]) != 2 || g[len(g)-1] != fmt.Sprint(MaxQuarantined+99) ||
			len(all) < MaxQuarantined-1 || len(all) > MaxQuarantined {
			t.Errorf("%d kept; of pin %v, of journal %v, of glasses %d", len(all), of["pin"], of["journal"], len(g))
		}
		return nil
	})
	sound(t, s)
}

func TestQuarantineIsBounded(t *testing.T) {
	s := open(t, t.TempDir())
	const n = MaxQuarantined + 30
	for i := 0; i < n; i += 50 {
		update(t, s, func(tx *Tx) error {
			for j := i; j < min(i+50, n); j++ {
				if err := tx.Quarantine(Quarantined{At: noon, Topic: fmt.Sprint(j), Data: make([]byte, MaxQuarantinedData+1)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	view(t, s, func(tx *Tx) error {
		all := collect(t, tx.Quarantined())
		if len(all) != MaxQuarantined || all[len(all)-1].Topic != fmt.Sprint(n-1) || len(all[0].Data) != MaxQuarantinedData || all[0].Size != MaxQuarantinedData+1 {
			t.Errorf("%d kept, the last %q", len(all), all[len(all)-1].Topic)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { return tx.ClearQuarantined() })
	update(t, s, func(tx *Tx) error { return tx.Quarantine(Quarantined{Topic: "after"}) })
	view(t, s, func(tx *Tx) error {
		if all := collect(t, tx.Quarantined()); len(all) != 1 || all[0].Topic != "after" {
			t.Errorf("after clearing: %+v", all)
		}
		return nil
	})
	sound(t, s)
}
