package journal

import (
	"context"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// unsentPage is how many things one transaction puts into the outbox.
const unsentPage = 200

// unsent is what was made here and no delta that is anywhere carries, as far as
// the manifests tell: what puts each into the outbox.
type unsent struct {
	say  []func(*store.Tx) error
	cold []memory.ID // in a delta that is nowhere: its manifest stays until they are here
}

// SayUnsent puts into the outbox once more what this member made and nobody
// has got: the outbox's entry was lost, or the delta that carried it. lost, of
// which nil means never, reports whether one of ours is nowhere any more. It
// returns how many things it were, and which cold memories have to be here before
// the rest can be said: it is called once more then. What is sent a second time
// changes nothing with anyone.
//
// erasures: what was erased is said once more as well, by whomever it was,
// since entries of the outbox that are lost may have said so.
func (l *Ledger) SayUnsent(ctx context.Context, lost func(envelope.Position) bool, erasures bool) (n int, cold []memory.ID, err error) {
	var u unsent
	var gone []string
	err = l.view(ctx, func(tx *store.Tx) error {
		if gone, err = l.unsent(tx, &u, lost); err != nil || !erasures {
			return err
		}
		return u.erasures(tx)
	})
	if err != nil {
		return 0, nil, err
	}
	n = len(u.say)
	for _, name := range gone { // last: until then they tell what is to be said
		u.say = append(u.say, func(tx *store.Tx) error { return tx.DeleteMeta(name) })
	}
	for page := range slices.Chunk(u.say, unsentPage) {
		err := l.Store.Update(ctx, func(tx *store.Tx) error {
			for _, say := range page {
				if err := say(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return 0, nil, err
		}
	}
	return n, u.cold, nil
}

// erasures adds what was erased.
func (u *unsent) erasures(tx *store.Tx) error {
	var ids []memory.ID
	for id, err := range tx.ErasedIDs() {
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	for page := range slices.Chunk(ids, unsentPage) {
		// Which of the two each was, nobody knows any more.
		u.say = append(u.say, func(tx *store.Tx) error { return tx.ResendErasure(store.Targets{Memories: page, Utterances: page}) })
	}
	return nil
}

// unsent looks for what nobody has got, and gives the names of the manifests of
// deltas that are nowhere, of which all is in u.
func (l *Ledger) unsent(tx *store.Tx, u *unsent, lost func(envelope.Position) bool) (gone []string, err error) {
	said, heard := map[memory.Dot]bool{}, map[memory.ID]bool{}
	var nowhere []manifest
	for name, err := range tx.MetaNames(l.note("sent") + "/") {
		if err != nil {
			return nil, err
		}
		var m manifest
		if _, err := tx.Meta(name, &m); err != nil {
			return nil, err
		}
		if lost != nil && lost(m.At) {
			away, err := u.away(tx, &m)
			if err != nil {
				return nil, err
			}
			if !away {
				gone, nowhere = append(gone, name), append(nowhere, m)
			}
			continue
		}
		for _, s := range slices.Concat(m.Assertions, m.Erasures) {
			said[s.Dot] = true
		}
		for _, id := range m.Utterances {
			heard[id] = true
		}
	}
	for i := range nowhere { // also of what came back from a relay once: its record does not say that it was made here
		m := &nowhere[i]
		for _, s := range slices.Concat(m.Assertions, m.Erasures) {
			u.assertion(s, said)
		}
		for _, id := range m.Utterances {
			u.utterance(id, heard)
		}
		for _, t := range m.Forgot {
			u.say = append(u.say, func(tx *store.Tx) error { return tx.ResendErasure(t) })
		}
		for _, b := range m.Blobs {
			u.say = append(u.say, func(tx *store.Tx) error { return l.resendBlobs(tx, b.Owner) })
		}
	}
	for o, err := range tx.Unposted() {
		if err != nil {
			return nil, err
		}
		switch {
		case o.Assertion != nil:
			u.assertion(saying{o.Assertion.Memory, o.Assertion.Dot}, said)
		case o.Utterance != nil:
			u.utterance(o.Utterance.ID, heard)
		case !o.Blob.IsZero():
			sent, err := tx.Meta(l.note("blob", o.Blob.String()), &delta.Blob{})
			if err != nil {
				return nil, err
			}
			if !sent {
				u.say = append(u.say, func(tx *store.Tx) error { return tx.ResendBlobs(o.Owner) })
			}
		}
	}
	return gone, nil
}

// away reports whether some of a delta is cold, and notes what.
func (u *unsent) away(tx *store.Tx, m *manifest) (any bool, err error) {
	for _, s := range m.Assertions {
		_, is, err := tx.Cold(s.Memory)
		if err != nil {
			return false, err
		}
		if is && !slices.Contains(u.cold, s.Memory) {
			u.cold = append(u.cold, s.Memory)
		}
		any = any || is
	}
	return any, nil
}

func (u *unsent) assertion(s saying, said map[memory.Dot]bool) {
	if !said[s.Dot] {
		said[s.Dot] = true
		u.say = append(u.say, func(tx *store.Tx) error { _, err := tx.Resend(s.Memory, s.Dot); return err })
	}
}

func (u *unsent) utterance(id memory.ID, heard map[memory.ID]bool) {
	if !heard[id] {
		heard[id] = true
		u.say = append(u.say, func(tx *store.Tx) error { _, err := tx.ResendUtterance(id); return err })
	}
}
