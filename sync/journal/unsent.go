package journal

import (
	"context"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// unsentPage is how many entries one transaction adds to the outbox.
const unsentPage = 200

// unsent collects what was made here and, according to the manifests, is in no
// delta that still exists. It has the steps that put each of them into the
// outbox.
type unsent struct {
	say  []func(*store.Tx) error
	cold []memory.ID // cold memories in lost deltas, whose manifests are kept until these are on the device
}

// RequeueUnsent puts into the outbox again what this member made and nobody has
// received, because the outbox entry or the delta was lost. lost reports
// whether one of our deltas no longer exists anywhere; nil means that none was
// lost. RequeueUnsent returns how many entries it added, and which cold memories
// must be on this device before the rest can be sent. The caller fetches them
// and calls RequeueUnsent again. Sending something twice changes nothing for
// anyone.
//
// If an erasure may be among the lost entries, all erasures are sent again,
// whoever made them.
func (j *Journal) RequeueUnsent(ctx context.Context, lost func(envelope.Position) bool, erasures bool) (n int, cold []memory.ID, err error) {
	var u unsent
	var gone []string
	err = j.Store.View(ctx, func(tx *store.Tx) error {
		if gone, err = j.unsent(tx, &u, lost); err != nil || !erasures {
			return err
		}
		return u.erasures(tx)
	})
	if err != nil {
		return 0, nil, err
	}
	n = len(u.say)
	for _, name := range gone { // last, because until then the manifests say what has to be sent
		u.say = append(u.say, func(tx *store.Tx) error { return tx.DeleteMeta(name) })
	}
	for page := range slices.Chunk(u.say, unsentPage) {
		err := j.Store.Update(ctx, func(tx *store.Tx) error {
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

// erasures adds all erasures.
func (u *unsent) erasures(tx *store.Tx) error {
	ids, err := store.Collect(tx.ErasedIDs())
	if err != nil {
		return err
	}
	for page := range slices.Chunk(ids, unsentPage) {
		// The record does not say whether the id was of a memory or of an
		// utterance.
		u.say = append(u.say, func(tx *store.Tx) error { return tx.ResendErasure(store.Targets{Memories: page, Utterances: page}) })
	}
	return nil
}

// unsent finds what nobody has received. It returns the names of the manifests
// of lost deltas whose whole content is in u.
func (j *Journal) unsent(tx *store.Tx, u *unsent, lost func(envelope.Position) bool) (gone []string, err error) {
	said, heard := map[memory.Dot]bool{}, map[memory.ID]bool{}
	var nowhere []manifest
	for name, err := range tx.MetaNames(j.note("sent") + "/") {
		if err != nil {
			return nil, err
		}
		var m manifest
		if _, err := tx.Meta(name, &m); err != nil {
			return nil, err
		}
		if lost != nil && lost(m.At) {
			away, err := u.addCold(tx, &m)
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
	for i := range nowhere { // this also finds records that once came back from a relay, because they do not say that they were made here
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
			u.say = append(u.say, func(tx *store.Tx) error { return j.resendBlobs(tx, b.Owner) })
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
			sent, err := tx.Meta(j.note("blob", o.Blob.String()), &delta.Blob{})
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

// addCold reports whether a part of a delta is cold, and adds the cold memories to
// u.cold.
func (u *unsent) addCold(tx *store.Tx, m *manifest) (any bool, err error) {
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
