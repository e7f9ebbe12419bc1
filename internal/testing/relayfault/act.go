package relayfault

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/envelope"
)

// said is something that was acknowledged: an assertion or an utterance.
type said struct {
	by      *device
	dot     memory.Dot // for an assertion
	id      memory.ID
	word    string // a word that is in it, and nowhere else
	excused bool   // it was lost with a device's disk before it was sent, or its author was removed before
	utter   bool
}

// play lets the world run for some steps, with a lying relay.
func (w *world) play() error {
	for range 14 + w.rng.IntN(22) {
		w.report.Steps++
		if err := w.step(); err != nil {
			return fmt.Errorf("step %d: %w", w.report.Steps, err)
		}
	}
	return nil
}

func (w *world) step() error {
	living := w.living()
	d := living[w.rng.IntN(len(living))]
	switch n := w.rng.IntN(100); {
	case n < 40:
		return w.round(d)
	case n < 65:
		return w.change(d)
	case n < 70:
		return w.utter(d)
	case n < 77:
		return w.picture(d)
	case n < 80:
		return w.cool(d)
	case n < 84:
		d.skew = time.Duration(w.rng.IntN(2*45*24)-45*24) * time.Hour
		w.tell("%s: clock off by %s", d.name, d.skew)
		return nil
	case n < 88:
		w.report.Crashes++
		w.tell("%s: out and in again", d.name)
		return d.die(w.rng.IntN(4) == 0)
	case n < 90:
		w.tell("%s: backup", d.name)
		return d.copyAway()
	case n < 92:
		return w.restore(d)
	case n < 95:
		if len(w.devices) >= 4 || d.role != envelope.Owner {
			return w.change(d)
		}
		return w.add(d)
	case n < 97:
		return w.remove(d)
	default:
		return w.fetch(d)
	}
}

func (w *world) living() []*device {
	return slices.DeleteFunc(slices.Clone(w.devices), func(d *device) bool { return d.removed })
}

// round is a round of syncing, which may end in a crash.
func (w *world) round(d *device) error {
	if w.rng.IntN(4) == 0 {
		d.journal.left, d.journal.after = w.rng.IntN(8), w.rng.IntN(2) == 0
	}
	err := d.sync()
	w.tell("%s: sync: %v", d.name, err)
	if d.journal.out {
		w.report.Crashes++
		return d.die(w.rng.IntN(4) == 0)
	}
	d.journal.left = -1
	return errors.Join(w.named(d, err), w.pack(d))
}

// pack compacts the store, on every other device: it must make no difference.
func (w *world) pack(d *device) error {
	if slices.Index(w.devices, d)%2 != 0 {
		return nil
	}
	return d.store.Update(w.ctx, func(tx *store.Tx) error {
		_, _, err := tx.PackUtterances(time.Time{}, start.AddDate(1, 0, 0), math.MaxUint64)
		return err
	})
}

// word makes a word that occurs nowhere else.
func word() string {
	b := make([]byte, 8)
	rand.Read(b)
	return "w" + hex.EncodeToString(b)
}

var start = time.Date(2026, 9, 14, 7, 0, 0, 0, time.UTC)

// change says something about a memory.
func (w *world) change(d *device) error {
	id := memory.ID{byte(1 + w.rng.IntN(6))}
	var known []memory.Assertion
	err := d.store.View(w.ctx, func(tx *store.Tx) (err error) {
		known, err = tx.Assertions(id)
		return err
	})
	if err != nil {
		return err
	}
	if len(known) == 0 || w.rng.IntN(3) == 0 {
		return w.propose(d, id[0], fmt.Sprint("slot ", w.rng.IntN(3)))
	}
	a := memory.Assertion{Memory: id, Rank: memory.Rank(2 + w.rng.IntN(2))}
	a.Act = []memory.Act{memory.ActReinforce, memory.ActCorrect, memory.ActClose, memory.ActPin, memory.ActUnpin, memory.ActArchive, memory.ActRestore,
		memory.ActTag, memory.ActUntag, memory.ActErase}[w.rng.IntN(10)]
	at, unique := start.Add(time.Duration(w.rng.IntN(10_000))*time.Minute), word()
	switch a.Act {
	case memory.ActReinforce:
		a.Evidence = []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(w.rng.IntN(1000))}, At: at, Excerpt: unique}}
	case memory.ActCorrect:
		text := "corrected to " + unique
		a.Patch = &memory.Patch{Text: &text}
	case memory.ActClose:
		a.Patch = &memory.Patch{Validity: &memory.Validity{To: at}}
	case memory.ActTag, memory.ActUntag:
		a.Tags = []string{[]string{"red", "blue"}[w.rng.IntN(2)]}
	case memory.ActErase:
		return w.erase(d, id)
	}
	a.Seen = reconcile.Overrules(known, &a)
	return w.assert(d, a, unique)
}

func (w *world) propose(d *device, id byte, slot string) error {
	unique := word()
	return w.assert(d, memory.Assertion{Memory: memory.ID{id}, Act: memory.ActPropose, Rank: memory.RankDevice, Candidate: &memory.Candidate{Type: memory.Semantic,
		Sensitivity: memory.Personal, Text: "Mei said " + unique + ".", Owner: memory.Owner{User: "wearer"}, Confidence: 1,
		Slot: &memory.Slot{Subject: "user", Attribute: slot, Value: fmt.Sprint("value ", w.rng.IntN(3))}}}, unique)
}

// assert makes a device assert something. Once acknowledged, it must not get lost.
func (w *world) assert(d *device, a memory.Assertion, unique string) error {
	err := d.store.Update(w.ctx, func(tx *store.Tx) (err error) {
		if a.Dot, err = tx.NextDot(d.id); err != nil {
			return err
		}
		a.Clock, a.Space = d.tick.Tick(), d.space.id
		_, err = tx.Assert(a)
		return err
	})
	w.tell("%s: %s %d as %d: %v", d.name, a.Act, a.Memory[0], a.Dot.Seq, err)
	if err == nil {
		w.said = append(w.said, &said{by: d, dot: a.Dot, id: a.Memory, word: unique})
	}
	return err
}

// erase forgets a memory, like a node.
func (w *world) erase(d *device, id memory.ID) error {
	err := d.store.Update(w.ctx, func(tx *store.Tx) error {
		dot, err := tx.NextDot(d.id)
		if err != nil {
			return err
		}
		_, err = tx.Assert(memory.Assertion{Dot: dot, Clock: d.tick.Tick(), Space: d.space.id, Memory: id, Act: memory.ActErase, Rank: memory.RankPerson})
		if err != nil {
			return err
		}
		return tx.Erase(store.Targets{Memories: []memory.ID{id}})
	})
	w.tell("%s: erase %d: %v", d.name, id[0], err)
	if err == nil {
		w.erased = append(w.erased, &said{by: d, id: id})
	}
	return err
}

// utter adds an utterance, or forgets one.
func (w *world) utter(d *device) error {
	var mine []*said
	for _, s := range w.said {
		if s.utter {
			mine = append(mine, s)
		}
	}
	if len(mine) > 0 && w.rng.IntN(3) == 0 {
		s := mine[w.rng.IntN(len(mine))]
		err := d.store.Update(w.ctx, func(tx *store.Tx) error { return tx.Erase(store.Targets{Utterances: []memory.ID{s.id}}) })
		w.tell("%s: forget what was said: %v", d.name, err)
		if err == nil {
			w.erased = append(w.erased, &said{by: d, id: s.id, utter: true})
		}
		return err
	}
	s := &said{by: d, word: word(), utter: true}
	rand.Read(s.id[:])
	u := memory.Utterance{ID: s.id, Space: d.space.id, Event: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(len(w.said) + 1)}, At: start,
		Text: "I heard " + s.word + "."}
	err := d.store.Update(w.ctx, func(tx *store.Tx) error { return tx.PutUtterance(&u) })
	w.tell("%s: utterance: %v", d.name, err)
	if err == nil {
		w.said = append(w.said, s)
	}
	return err
}

// add lets another device in, if the relay allows it.
func (w *world) add(by *device) error {
	w.n++
	d, err := w.newDevice(by.space, string(rune('a'+w.n)), []envelope.Role{envelope.Owner, envelope.Writer}[w.rng.IntN(2)])
	if err != nil {
		return err
	}
	err = by.rep.AddMember(w.ctx, d.member(), "device "+d.name)
	w.tell("%s: add %s: %v", by.name, d.name, err)
	if err != nil { // it may have succeeded all the same: then nobody uses that name
		return w.named(by, err)
	}
	d.keys[1] = by.keys[1]
	if err := d.open(false); err != nil {
		return err
	}
	w.devices = append(w.devices, d)
	return nil
}

// remove removes a device, if the relay allows it. The root signs, which may do so.
func (w *world) remove(by *device) error {
	living := w.living()
	d := living[w.rng.IntN(len(living))]
	if d == by || len(living) < 3 || by.role != envelope.Owner || !w.ownerBeside(d) {
		return nil
	}
	err := by.rep.RemoveMember(w.ctx, d.id, envelope.KeySigner(by.space.root))
	w.tell("%s: remove %s: %v", by.name, d.name, err)
	log, lerr := by.log()
	if lerr != nil {
		return lerr
	}
	if _, _, out := log.Past(d.id); !out {
		return w.named(by, err)
	}
	d.removed = true
	return errors.Join(w.countOf(by, d), w.named(by, err))
}

func (w *world) ownerBeside(d *device) bool {
	return slices.ContainsFunc(w.living(), func(o *device) bool { return o != d && o.role == envelope.Owner })
}

// countOf excuses what a removed device said and its remover had not received: it need not reach
// anybody, but may.
func (w *world) countOf(by, gone *device) error {
	return by.store.View(context.Background(), func(tx *store.Tx) error {
		for _, s := range w.said {
			if s.by != gone || s.excused {
				continue
			}
			has, err := holds(tx, s)
			if err != nil {
				return err
			}
			s.excused = !has
		}
		for _, s := range w.erased {
			s.excused = s.excused || s.by == gone
		}
		for _, b := range w.blobs {
			b.excused = b.excused || b.by == gone
		}
		return nil
	})
}
