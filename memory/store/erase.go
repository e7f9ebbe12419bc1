package store

import (
	"errors"

	"github.com/locket-dev/locket/memory"
)

// Targets lists what Erase has to forget.
type Targets struct {
	Memories   []memory.ID      `json:"m,omitempty"`
	Utterances []memory.ID      `json:"u,omitempty"`
	Events     []memory.EventID `json:"e,omitempty"` // their refusals are forgotten; their marks stay, so that the events can't come back
}

// erasedRecord takes the place of something that was erased.
type erasedRecord struct {
	Document uint64 `json:"d,omitempty"` // its number in the document log
}

// Erase forgets memories and utterances. Of each, only two things stay: its id,
// so that it can't come back, and the dots of its assertions, so that these are
// not taken for new ones. An erasing assertion stays without its reason, so
// that it can be sent. Changes of other memories lose the words of the erased
// one, and their group is derived again. The erasure itself goes into the
// outbox.
//
// Replaced data stays in Badger's files until [Store.Compact]. The recall index
// learns of the erasure from the document log, and has to rewrite the segments
// with it. A caller that erases a source also has to name the memories that
// quote it.
func (t *Tx) Erase(targets Targets) error {
	if t.state == nil {
		return errReadOnly
	}
	if len(targets.Memories)+len(targets.Utterances)+len(targets.Events) > 0 {
		if _, err := t.post(outboxRecord{Forget: &targets}); err != nil {
			return err
		}
	}
	return t.EraseRemote(targets)
}

// EraseRemote forgets what another member has erased. It is like Erase, but
// puts nothing into the outbox. From then on, it also refuses targets that were never here.
func (t *Tx) EraseRemote(targets Targets) error {
	if t.state == nil {
		return errReadOnly
	}
	if len(targets.Memories)+len(targets.Utterances) > 0 {
		if err := t.dropSummary(); err != nil {
			return err
		}
	}
	for _, id := range targets.Memories {
		if err := t.eraseMemory(id); err != nil {
			return err
		}
	}
	for _, id := range targets.Utterances {
		n, err := t.dropUtterance(id)
		if err != nil {
			return err
		}
		if err := t.markErased(id, n, UtteranceDocument); err != nil {
			return err
		}
	}
	for _, e := range targets.Events {
		for x, err := range t.scan(t.eventPrefix(kindRefusalEvent, e), nil, false) {
			if err != nil {
				return err
			}
			if err := t.dropRefusal(seqOf(x.key)); err != nil {
				return err
			}
		}
	}
	return t.eraseBlobs(targets)
}

// EraseSome removes a part of a memory that is going to be erased and that may
// be too large for one transaction: at most limit of its assertions and
// changes. It returns how many it removed, or 0 if only the rest for Erase is
// left, which is what decides the memory's group. A caller that begins with
// EraseSome must go on until the memory is erased, also after a crash, because
// until then the memory is incomplete.
func (t *Tx) EraseSome(id memory.ID, limit int) (n int, err error) {
	if t.state == nil {
		return 0, errReadOnly
	}
	for e, err := range t.scan(keyOf(kindChangeOf, id[:]), nil, false) {
		if err != nil || n == limit {
			return n, err
		}
		if err := t.eraseChange(id, seqOf(e.key)); err != nil {
			return n, err
		}
		n++
	}
	as, err := t.assertionsOf(id)
	if err != nil {
		return n, err
	}
	first := firstProposal(as)
	for i := range as {
		if n == limit {
			return n, nil
		}
		if &as[i] == first || as[i].Act == memory.ActErase {
			continue
		}
		if err := t.eraseAssertion(&as[i]); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// InBatches calls do, which erases memories, in as many transactions of update as needed. It first
// tries all memories in one, and then fewer in each. If a single memory is too large, it first
// erases parts of it.
func InBatches(ids []memory.ID, update func(func(*Tx) error) error, do func(*Tx, []memory.ID) error) error {
	err := update(func(t *Tx) error { return do(t, ids) })
	if !errors.Is(err, ErrTooLarge) || len(ids) == 0 {
		return err
	}
	if half := len(ids) / 2; half > 0 {
		if err := InBatches(ids[:half], update, do); err != nil {
			return err
		}
		return InBatches(ids[half:], update, do)
	}
	if err := EraseInParts(ids[0], update); err != nil {
		return err
	}
	return update(func(t *Tx) error { return do(t, ids) })
}

// EraseInParts removes, by update, what [Tx.EraseSome] can remove of a memory that is
// erased next.
func EraseInParts(id memory.ID, update func(func(*Tx) error) error) error {
	for some := 1; some > 0; {
		if err := update(func(t *Tx) (err error) { some, err = t.EraseSome(id, SomePage); return err }); err != nil {
			return err
		}
	}
	return nil
}

// SomePage is the limit for one call of [Tx.EraseSome]. It always fits into a
// transaction.
const SomePage = 100

// Erased reports whether a memory or an utterance was erased. Only its id is
// left, so that it can't come back.
func (t *Tx) Erased(id memory.ID) (bool, error) {
	_, erased, err := t.get(keyOf(kindErased, id[:]))
	return erased, err
}

func (t *Tx) eraseMemory(id memory.ID) error {
	if err := t.eraseCold(id); err != nil {
		return err
	}
	as, err := t.assertionsOf(id)
	if err != nil {
		return err
	}
	group := groupOf(as)
	cause := &memory.Assertion{Memory: id, Act: memory.ActErase}
	for i := range as {
		if as[i].Act == memory.ActErase {
			cause = &as[i]
		}
		if err := t.eraseAssertion(&as[i]); err != nil {
			return err
		}
	}
	if err := t.eraseHistory(id); err != nil {
		return err
	}
	document, err := t.removeMemory(id)
	if err != nil {
		return err
	}
	if group != "" {
		cause.Reason = ""
		if err := t.forgetInGroup(group, cause); err != nil {
			return err
		}
	}
	return t.markErased(id, document, MemoryDocument)
}

// eraseAssertion removes an assertion. An erasing assertion only loses its
// words.
func (t *Tx) eraseAssertion(a *memory.Assertion) error {
	key := assertionKey(a.Memory, a.Dot)
	r, ok, err := load[assertionRecord](t, key)
	if err != nil || !ok {
		return err
	}
	if a.Act == memory.ActErase {
		r.Assertion = memory.Assertion{
			Dot: a.Dot, Clock: a.Clock, Rank: a.Rank, Space: a.Space, Memory: a.Memory, Act: a.Act,
			Source: memory.Source{Plugin: a.Source.Plugin, Version: a.Source.Version},
		}
		return t.save(key, r)
	}
	if err := t.unpost(r.Outbox); err != nil {
		return err
	}
	return t.del(key)
}

// eraseHistory removes the changes of a memory, and its words from the changes
// of others.
func (t *Tx) eraseHistory(id memory.ID) error {
	for e, err := range t.scan(keyOf(kindChangeOf, id[:]), nil, false) {
		if err != nil {
			return err
		}
		if err := t.eraseChange(id, seqOf(e.key)); err != nil {
			return err
		}
	}
	return nil
}

// eraseChange removes a change from the history of a memory.
func (t *Tx) eraseChange(id memory.ID, seq uint64) error {
	if err := t.del(keyOf(kindChangeOf, id[:], u64(seq))); err != nil {
		return err
	}
	c, ok, err := load[memory.Change](t, changeKey(seq))
	if err != nil || !ok {
		return err
	}
	if c.Memory != id {
		return t.save(changeKey(seq), withoutWords(&c))
	}
	if !c.Other.IsZero() {
		if err := t.del(keyOf(kindChangeOf, c.Other[:], u64(seq))); err != nil {
			return err
		}
	}
	return t.del(changeKey(seq))
}

// removeMemory removes a derived record and returns its number in the document
// log.
func (t *Tx) removeMemory(id memory.ID) (document uint64, err error) {
	key := memoryKey(id)
	r, ok, err := load[memoryRecord](t, key)
	if err != nil || !ok {
		return 0, err
	}
	m, err := r.decode(key)
	if err != nil {
		return 0, err
	}
	if err := t.del(memoryTimeKey(m)); err != nil {
		return 0, err
	}
	return r.Document, t.del(key)
}

// forgetInGroup derives a group without a memory that was removed.
func (t *Tx) forgetInGroup(name string, cause *memory.Assertion) error {
	id := cause.Memory
	if err := t.del(append(t.groupPrefix(name), id[:]...)); err != nil {
		return err
	}
	delete(t.groups, name) // so that it is read again, without the memory
	g, err := t.group(name)
	if err != nil {
		return err
	}
	if len(g.assertions) == 0 || t.store.opt.Derive == nil || t.store.opt.Diff == nil {
		return nil
	}
	_, err = t.derive(name, g, cause)
	return err
}

// markErased stores the id as erased and tells the index.
func (t *Tx) markErased(id memory.ID, document uint64, k DocumentKind) error {
	key := keyOf(kindErased, id[:])
	if _, already, err := t.get(key); err != nil || already {
		return err
	}
	n, err := t.logDocument(document, Document{Kind: k, ID: id, Gone: true})
	if err != nil {
		return err
	}
	return t.save(key, erasedRecord{n})
}

// eraseBlobs removes the blobs that belong to the targets.
func (t *Tx) eraseBlobs(targets Targets) error {
	owners := map[memory.ID]bool{}
	for _, ids := range [][]memory.ID{targets.Memories, targets.Utterances} {
		for _, id := range ids {
			owners[id] = true
		}
	}
	for e, err := range t.scan(keyOf(kindBlob), nil, false) {
		if err != nil {
			return err
		}
		r, err := decode[blobRecord](e.key, e.plain)
		if err != nil {
			return err
		}
		if owners[r.Owner] && !r.Owner.IsZero() {
			if err := t.DeleteBlob(memory.ID(e.key[1:])); err != nil {
				return err
			}
		}
	}
	return nil
}
