package ledger

import (
	"errors"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
)

// known is what a worker's op is held against: delta.Lookup within a
// transaction. err is the store's trouble, where there was any.
type known struct {
	l   *Ledger
	tx  *store.Tx
	err error
}

func (k *known) fail(err error) bool {
	if err != nil && !errors.Is(err, memory.ErrNotFound) && k.err == nil {
		k.err = err
	}
	return err == nil
}

// Memory implements delta.Lookup.
func (k *known) Memory(id memory.ID) (*memory.Memory, bool) {
	m, err := k.tx.Memory(id)
	return m, k.fail(err)
}

// Utterance implements delta.Lookup.
func (k *known) Utterance(id memory.ID) (*memory.Utterance, bool) {
	u, err := k.tx.Utterance(id)
	return u, k.fail(err)
}

// Source implements delta.Lookup: a recording or a photo is the resource that
// quotes its event.
func (k *known) Source(id memory.EventID) bool {
	for m, err := range k.tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}}) {
		if !k.fail(err) {
			return false
		}
		if m.State != memory.Erased && slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { return e.Event == id }) {
			return true
		}
	}
	return false
}

// Cited implements delta.Lookup.
func (k *known) Cited(author memory.MemberID, e memory.Evidence, before uint64) int {
	var seqs []uint64
	_, err := k.tx.Meta(k.l.note("cited", author.String(), evidenceName(e)), &seqs)
	k.fail(err)
	// In the order in which they came, which an author's chain fixes for all
	// replicas: the numbers are the author's own to choose.
	if i := slices.Index(seqs, before); i >= 0 {
		return i
	}
	return len(seqs)
}

func evidenceName(e memory.Evidence) string {
	if !e.Utterance.IsZero() {
		return e.Utterance.String()
	}
	return short(e.Event.String())
}

// maxCited is how many citations of one piece of evidence are counted: more
// than any grant may allow.
const maxCited = 256

// cite counts what an assertion cites, whatever becomes of it.
func (l *Ledger) cite(tx *store.Tx, op *delta.Op) error {
	a := op.Assertion
	if a == nil {
		return nil
	}
	es := a.Evidence
	if a.Candidate != nil {
		es = append(slices.Clone(es), a.Candidate.Evidence...)
	}
	for _, e := range es[:min(len(es), memory.MaxEvidence)] {
		name := l.note("cited", a.Dot.Member.String(), evidenceName(e))
		var seqs []uint64
		if _, err := tx.Meta(name, &seqs); err != nil {
			return err
		}
		if len(seqs) >= maxCited || slices.Contains(seqs, a.Dot.Seq) {
			continue
		}
		if err := tx.PutMeta(name, append(seqs, a.Dot.Seq)); err != nil {
			return err
		}
	}
	return nil
}
