package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
)

// lookup answers the questions of delta.Lookup within a transaction. err is the
// store's first error, if there was one.
type lookup struct {
	j   *Journal
	tx  *store.Tx
	err error

	override *memory.Utterance   // pretend that this utterance is stored under its id; nil: none
	excluded map[memory.Dot]bool // pretend that these assertions did not come
}

func (k *lookup) fail(err error) bool {
	if err != nil && !errors.Is(err, memory.ErrNotFound) && k.err == nil {
		k.err = err
	}
	return err == nil
}

// Proposed implements delta.Lookup. It also knows the type of a cold memory.
func (k *lookup) Proposed(id memory.ID) (types []memory.Type, gone bool) {
	gone, err := k.tx.Erased(id)
	if !k.fail(err) || gone {
		return nil, gone
	}
	stub, cold, err := k.tx.Cold(id)
	if !k.fail(err) {
		return nil, false
	}
	if cold {
		return []memory.Type{stub.Type}, false
	}
	as, err := k.tx.Assertions(id)
	k.fail(err)
	for i := range as {
		if as[i].Candidate != nil && !k.excluded[as[i].Dot] {
			types = append(types, as[i].Candidate.Type)
		}
	}
	return types, false
}

func (k *lookup) Utterance(id memory.ID) (*memory.Utterance, bool) {
	if k.override != nil && k.override.ID == id {
		return k.override, true
	}
	u, err := k.tx.Utterance(id)
	return u, k.fail(err)
}

// source records where a recording or a photo was found. The record may have
// been removed since.
type source struct {
	event  memory.EventID
	memory memory.ID
}

// sources are the resources that quote each event, in one state of the store. A worker may name any
// number of events that there are not, and the resources are not read for each of them.
type sources struct {
	revision uint64
	of       map[memory.EventID][]memory.ID
}

// sources returns the resources that quote an event, as of the last commit.
func (k *lookup) sources(id memory.EventID) []memory.ID {
	all := k.j.sources.Load()
	if all == nil || all.revision != k.tx.Revision() {
		all = &sources{k.tx.Revision(), map[memory.EventID][]memory.ID{}}
		for m, err := range k.tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}}) {
			if !k.fail(err) {
				return nil
			}
			for _, e := range m.Evidence {
				all.of[e.Event] = append(all.of[e.Event], m.ID)
			}
		}
		k.j.sources.Store(all)
	}
	return all.of[id]
}

// Source implements delta.Lookup. The resource that quotes an event proves
// that its recording or photo is known. The last answer is cached, because
// hundreds of lines of a recording ask for the same event. What was written in
// the same transaction is known in the next one.
func (k *lookup) Source(id memory.EventID) bool {
	if last := k.j.source.Load(); last != nil && last.event == id && k.isSource(last.memory, id) {
		return true
	}
	for _, of := range k.sources(id) {
		if k.isSource(of, id) {
			k.j.source.Store(&source{id, of})
			return true
		}
	}
	return false
}

func (k *lookup) isSource(of memory.ID, id memory.EventID) bool {
	m, err := k.tx.Memory(of)
	return k.fail(err) && isSource(m, id)
}

func isSource(m *memory.Memory, id memory.EventID) bool {
	return m.Type == memory.Resource && m.State != memory.Erased && slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { return e.Event == id })
}

// Made implements delta.Lookup. A time that a member stated for a source stays valid, even if
// another member corrects it.
func (k *lookup) Made(id memory.EventID, at time.Time) bool {
	if last := k.j.source.Load(); last != nil && last.event == id && k.madeOf(last.memory, id, at) {
		return true
	}
	for _, of := range k.sources(id) {
		if k.isSource(of, id) && k.madeOf(of, id, at) {
			return true
		}
	}
	return false
}

func (k *lookup) madeOf(source memory.ID, id memory.EventID, at time.Time) bool {
	as, err := k.tx.Assertions(source)
	if !k.fail(err) {
		return false
	}
	near := func(t time.Time) bool { return !t.IsZero() && at.Sub(t).Abs() <= delta.MaxApart }
	for i := range as {
		a := &as[i]
		es := a.Evidence
		if c := a.Candidate; c != nil {
			es = append(slices.Clone(es), c.Evidence...)
		}
		switch {
		case a.Rank == memory.RankCloud:
		case a.Candidate != nil && near(a.Candidate.TrueFrom), a.Patch != nil && a.Patch.Validity != nil && near(a.Patch.Validity.From),
			slices.ContainsFunc(es, func(e memory.Evidence) bool { return e.Event == id && near(e.At) }):
			return true
		}
	}
	return false
}

func (k *lookup) Lines(author memory.MemberID, u *memory.Utterance) int {
	name, number := countOfLine(u)
	return k.place(author, name, number)
}

func (k *lookup) Cited(author memory.MemberID, e memory.Evidence, before uint64) int {
	return k.place(author, evidenceName(e), before)
}

func (k *lookup) CountChanges(author memory.MemberID, id memory.ID, before uint64) int {
	return k.place(author, id.String(), before)
}

// place returns an assertion's position among those of its author that are
// counted under a name.
func (k *lookup) place(author memory.MemberID, name string, seq uint64) int {
	var seqs []uint64
	_, err := k.tx.Meta(k.j.note("cited", author.String(), name), &seqs)
	k.fail(err)
	// The order in which the assertions came is the same on all replicas,
	// because the author's chain fixes it. The sequence numbers are not used,
	// because the author could choose them.
	if i := slices.Index(seqs, seq); i >= 0 {
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

// countOfLine returns the name under which a worker's line is counted, and its
// number there.
func countOfLine(u *memory.Utterance) (name string, number uint64) {
	return short(fmt.Sprintf("line %d %s", u.ID[15]%delta.LineCounts, u.Event)), binary.BigEndian.Uint64(u.ID[8:])
}

// maxCited is how many assertions are counted under one name: more than any
// grant may allow.
const maxCited = 256

// count records which evidence an assertion of the worker by cites, or which
// memory it changes, or of which event its line is. The op counts even if it is
// refused or waits.
func (j *Journal) count(tx *store.Tx, by memory.MemberID, op *delta.Op) error {
	if u := op.Utterance; u != nil {
		name, number := countOfLine(u)
		return j.countUnder(tx, by, name, number)
	}
	a := op.Assertion
	if a == nil {
		return nil
	}
	var names []string
	switch a.Act {
	case memory.ActCorrect, memory.ActClose, memory.ActArchive:
		names = append(names, a.Memory.String())
	}
	es := a.Evidence
	if a.Candidate != nil {
		es = append(slices.Clone(es), a.Candidate.Evidence...)
	}
	for _, e := range es[:min(len(es), memory.MaxEvidence)] {
		names = append(names, evidenceName(e))
	}
	for _, name := range names {
		if err := j.countUnder(tx, by, name, a.Dot.Seq); err != nil {
			return err
		}
	}
	return tx.MarkDotUsed(a.Dot)
}

func (j *Journal) countUnder(tx *store.Tx, by memory.MemberID, name string, number uint64) error {
	name = j.note("cited", by.String(), name)
	var numbers []uint64
	if _, err := tx.Meta(name, &numbers); err != nil {
		return err
	}
	if len(numbers) >= maxCited || slices.Contains(numbers, number) {
		return nil
	}
	return tx.PutMeta(name, append(numbers, number))
}
