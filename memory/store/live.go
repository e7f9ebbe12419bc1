package store

import (
	"bytes"
	"iter"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// AllAssertions returns every stored assertion, by memory, member and number.
func (t *Tx) AllAssertions() iter.Seq2[*memory.Assertion, error] {
	return each(t, keyOf(kindAssertion), nil, false, func(e entry) (*memory.Assertion, error) {
		r, err := decode[assertionRecord](e.key, e.plain)
		return &r.Assertion, err
	})
}

// UtterancesByID returns every stored utterance, ascending by id.
func (t *Tx) UtterancesByID() iter.Seq2[*memory.Utterance, error] {
	loose := t.looseUtterances(keyOf(kindUtterance), nil, func([]byte) bool { return true })
	if !t.store.lines.any() {
		return t.foundUtterances(loose)
	}
	return t.foundUtterances(eitherOf(loose, t.packedByID(), func(a, b found) int { return bytes.Compare(a.id[:], b.id[:]) }))
}

// ErasedIDs returns the ids of erased memories and utterances, ascending.
func (t *Tx) ErasedIDs() iter.Seq2[memory.ID, error] {
	return each(t, keyOf(kindErased), nil, false, func(e entry) (memory.ID, error) { return memory.ID(e.key[1:]), nil })
}

// LastDots returns the last number of each member with known dots, ascending by
// member. The dots of cold assertions do not count.
func (t *Tx) LastDots() (out []memory.Dot, err error) {
	prefix := keyOf(kindDot)
	start := prefix
	for {
		page, err := t.page(prefix, start, nil, false, 1)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			return t.withCold(out)
		}
		var m memory.MemberID
		copy(m[:], page[0].key[1:])
		of := keyOf(kindDot, m[:])
		last, err := t.page(of, nil, nil, true, 1)
		if err != nil {
			return nil, err
		}
		if len(last) > 0 {
			out = append(out, memory.Dot{Member: m, Seq: seqOf(last[0].key)})
		}
		start = append(of, bytes.Repeat([]byte{0xff}, 9)...) // after every dot of the member
	}
}

// withCold raises dots to those of assertions that are or were cold and have no
// record of their own.
func (t *Tx) withCold(out []memory.Dot) ([]memory.Dot, error) {
	for e, err := range t.scan(keyOf(kindColdDots), nil, false) {
		var d dots
		if err == nil {
			d, err = decode[dots](e.key, e.plain)
		}
		if err != nil {
			return nil, err
		}
		m := memory.MemberID(e.key[1:])
		if i := slices.IndexFunc(out, func(o memory.Dot) bool { return o.Member == m }); i >= 0 {
			out[i].Seq = max(out[i].Seq, d.last())
		} else {
			out = append(out, memory.Dot{Member: m, Seq: d.last()})
		}
	}
	sorting.Sort(out, func(a, b memory.Dot) int { return a.Compare(b) })
	return out, nil
}

// MarkDotUsed records that a member's numbers up to the given one are in use, even
// if their assertions are not stored.
func (t *Tx) MarkDotUsed(d memory.Dot) error {
	if t.state == nil {
		return errReadOnly
	}
	last, err := t.page(keyOf(kindDot, d.Member[:]), nil, nil, true, 1)
	if err != nil || len(last) > 0 && seqOf(last[0].key) >= d.Seq {
		return err
	}
	var nothing memory.ID
	return t.put(keyOf(kindDot, dotKey(d)), nothing[:])
}
