package store

import (
	"context"
	"errors"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// madeAnew are the kinds of records that follow from others: they are not taken
// over from a damaged store, and not missed.
var madeAnew = map[string]bool{
	kinds[kindGroup].name: true, kinds[kindMemoryTime].name: true, kinds[kindDocument].name: true,
	kinds[kindUtteranceTime].name: true, kinds[kindUtteranceEvent].name: true, kinds[kindRefusalEvent].name: true,
	kinds[kindGuard].name: true,
}

// count begins the new store where the old one's numbers ended: by its head,
// and where that is lost or older, by what is numbered.
func (s *salvage) count() error {
	seq := s.head.Seq
	seq.Cold = 0 // the cold are counted as they are taken
	seq.Malformed, seq.MalformedFirst, seq.MalformedBytes, seq.MalformedHoles = s.head.Seq.Malformed, 0, 0, 0
	seq.MalformedKept = 0 // they count once more, until others come
	seq.Packed = 0        // what was packed is not any more
	version := s.head.Version
	for key, c := range s.newest {
		version = max(version, c.version)
		if n := map[kind]*uint64{kindChange: &seq.Change, kindOutbox: &seq.Outbox, kindRefusal: &seq.Refusal, kindMalformed: &seq.Malformed,
			kindDocument: &seq.Document, kindCold: &seq.Pack}[kind(key[0])]; n != nil && len(key) == 1+seqSize {
			*n = max(*n, seqOf([]byte(key)))
		}
	}
	return s.to.update(func(t *Tx) error {
		t.force = true
		t.state.head.Seq = seq
		t.state.head.Version = max(t.state.head.Version, version)
		t.state.head.Format = max(t.state.head.Format, s.head.Format)
		if seq.Pack > 0 {
			t.state.head.Format = max(t.state.head.Format, coldFormat)
		}
		t.state.head.Generation = max(t.state.head.Generation, s.head.Generation)
		return nil
	})
}

// mend derives every group anew, drops what names nothing, and counts.
func (s *salvage) mend(ctx context.Context) error {
	groups := map[string][]memory.ID{}
	said := map[memory.ID]bool{}
	var last memory.ID
	var as []memory.Assertion
	close := func() {
		if name := groupOf(as); name != "" {
			groups[name] = append(groups[name], last)
		}
		as = nil
	}
	var idle [][]byte // dots
	err := s.to.View(ctx, func(t *Tx) error {
		for e, err := range t.scan(keyOf(kindAssertion), nil, false) {
			if err != nil {
				return err
			}
			r, err := decode[assertionRecord](e.key, e.plain)
			if err != nil {
				return err
			}
			if r.Assertion.Memory != last {
				close()
			}
			last = r.Assertion.Memory
			said[last] = true
			as = append(as, r.Assertion)
		}
		close()
		for e, err := range t.scan(keyOf(kindDot), nil, false) {
			if err != nil {
				return err
			}
			if idled, err := t.idleDot(e); err != nil {
				return err
			} else if idled {
				idle = append(idle, e.key)
			}
		}
		for e, err := range t.scan(keyOf(kindMemory), nil, false) {
			if err != nil {
				return err
			}
			if id := memory.ID(e.key[1:]); !said[id] {
				s.out.Bare = append(s.out.Bare, id)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for page := range slices.Chunk(idle, copyRecords/4) {
		err := s.to.Update(ctx, func(t *Tx) error {
			for _, key := range page {
				if err := t.del(key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := s.regroup(ctx, groups); err != nil {
		return err
	}
	for more := true; more; {
		err := s.to.Update(ctx, func(t *Tx) (err error) {
			more, err = t.prune(copyRecords / 4)
			return err
		})
		if err != nil {
			return err
		}
	}
	for page := range slices.Chunk(s.out.Lost, copyRecords/4) {
		if err := s.to.Update(ctx, func(t *Tx) error { return t.unindex(page) }); err != nil {
			return err
		}
	}
	return s.to.Update(ctx, func(t *Tx) error { return errors.Join(t.notCold(s.out.Lost), t.doubt()) })
}

// notCold takes assertions that are lost, and were hot, out of the record of
// cold dots, where some of those between cold ones stand.
func (t *Tx) notCold(lost []Damage) error {
	for i := range lost {
		key := lost[i].record
		if len(key) != 1+idSize+dotSize || kind(key[0]) != kindAssertion {
			continue
		}
		member := memory.MemberID(key[1+idSize:])
		d, err := t.coldDots(member)
		if err != nil {
			return err
		}
		if n := seqOf(key); d.has(n) {
			if err := t.save(coldDotsKey(member), d.without(n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// idleDot reports whether a dot is there, and its assertion neither there nor
// erased: it would keep the assertion from being taken when it comes again.
func (t *Tx) idleDot(e entry) (bool, error) {
	id := memory.ID(e.plain)
	key := append(keyOf(kindAssertion, id[:]), e.key[1:]...)
	for _, k := range [][]byte{key, keyOf(kindErased, id[:])} {
		if _, ok, err := t.get(k); err != nil || ok {
			return false, err
		}
	}
	return !id.IsZero(), nil
}

// SkipDots has [Tx.NextDot] leave some numbers of a member's out: those that it
// may have given to assertions which were lost, and which others have.
func (t *Tx) SkipDots(member memory.MemberID, count uint64) error {
	last, err := t.NextDot(member)
	if err != nil {
		return err
	}
	last.Seq += count
	t.dots[member] = last.Seq
	return t.put(keyOf(kindDot, dotKey(last)), make([]byte, idSize))
}

// There reports whether what a damage names as lost is there again. The head and
// the buckets, which are always there, stand for records that can't be told.
func (t *Tx) There(d *Damage) (bool, error) {
	if d.record == nil || kind(d.record[0]) == kindHead {
		return false, nil
	}
	_, ok, err := t.get(d.record)
	return ok, err
}

// OfLines reports whether a damage is of a page of packed utterances. Which lay on
// it the store does not know: what comes again has records of its own.
func (d *Damage) OfLines() bool { return len(d.record) > 0 && kind(d.record[0]) == kindLines }

// Unindex has the index be without utterances that are in no record.
func (t *Tx) Unindex(ids []memory.ID) error {
	for _, id := range ids {
		if _, err := t.logDocument(0, Document{Kind: UtteranceDocument, ID: id, Gone: true}); err != nil {
			return err
		}
	}
	return nil
}

// unindex takes what is lost out of the index, whose segments are taken over.
func (t *Tx) unindex(lost []Damage) error {
	for i := range lost {
		key := lost[i].record
		if len(key) != 1+idSize {
			continue
		}
		d := Document{ID: memory.ID(key[1:]), Gone: true, Kind: MemoryDocument}
		switch _, there, err := t.get(key); {
		case err != nil:
			return err
		case there:
			continue
		case kind(key[0]) == kindUtterance:
			d.Kind = UtteranceDocument
		case kind(key[0]) != kindMemory:
			continue
		}
		if _, err := t.logDocument(0, d); err != nil {
			return err
		}
	}
	return nil
}

// regroup derives each group, without a word in the history: nobody said
// anything.
func (s *salvage) regroup(ctx context.Context, groups map[string][]memory.ID) error {
	const members = 50
	var page []string
	size := 0
	flush := func() error {
		if len(page) == 0 {
			return nil
		}
		err := s.to.Update(ctx, func(t *Tx) error {
			for _, name := range page {
				if err := t.regroup(name, groups[name]); err != nil {
					return err
				}
			}
			return nil
		})
		page, size = page[:0], 0
		return err
	}
	names := make([]string, 0, len(groups))
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		page = append(page, name)
		if size += len(groups[name]); size >= members {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// regroup writes who is of a group, and what follows from it. A memory of which
// nothing is said stays as it is.
func (t *Tx) regroup(name string, ids []memory.ID) error {
	if t.store.opt.Derive == nil {
		return errNoDerive
	}
	var all []memory.Assertion
	for _, id := range ids {
		if err := t.put(append(t.groupPrefix(name), id[:]...), nil); err != nil {
			return err
		}
		as, err := t.assertionsOf(id)
		if err != nil {
			return err
		}
		all = append(all, as...)
	}
	for _, m := range t.store.opt.Derive(all) {
		m.Group = name
		if err := t.putMemory(&m); err != nil {
			return err
		}
	}
	return nil
}

// prune takes out what names something that is not there: it would stand in the
// way of everything behind it. It settles the count of the quarantine. more is
// true where it took as many as it was to.
func (t *Tx) prune(most int) (more bool, err error) {
	for e, err := range t.scan(keyOf(kindOutbox), nil, false) {
		if err != nil || most == 0 {
			return err == nil, err
		}
		_, err := t.outgoing(e)
		if errors.Is(err, memory.ErrDamaged) {
			most--
			err = t.del(e.key)
		}
		if err != nil {
			return false, err
		}
	}
	for e, err := range t.scan(keyOf(kindTask), nil, false) {
		if err != nil || most == 0 {
			return err == nil, err
		}
		id := memory.ID(e.key[1+timeSize:])
		if _, ok, err := t.get(utteranceKey(id)); err != nil {
			return false, err
		} else if !ok {
			most--
			if err := t.del(e.key); err != nil {
				return false, err
			}
		}
	}
	for e, err := range t.scan(keyOf(kindSegment), nil, false) {
		if err != nil {
			return false, err
		}
		g, err := decode[Segment](e.key, e.plain)
		if err != nil {
			return false, err
		}
		if _, ok, err := t.get(blobKey(g.Blob)); err != nil {
			return false, err
		} else if !ok {
			if err := t.del(e.key); err != nil {
				return false, err
			}
		}
	}
	for e, err := range t.scan(keyOf(kindWanted), nil, false) {
		if err != nil {
			return false, err
		}
		if _, _, i, err := t.unitOfGroup(e.key[1:]); err != nil {
			return false, err
		} else if i < 0 { // its page is lost: what comes again is no longer cold
			if err := t.del(e.key); err != nil {
				return false, err
			}
		}
	}
	q, n := &t.state.head.Seq, 0
	for _, err := range t.Malformed() {
		if err != nil {
			return false, err
		}
		n++
	}
	if q.MalformedFirst != 0 {
		q.MalformedHoles = int(q.Malformed-q.MalformedFirst+1) - n
	}
	return false, nil
}

// Bare gives the memories of which nothing is said, as a salvage may leave
// them: whoever says them again puts them in order.
func (t *Tx) Bare() ([]memory.Memory, error) {
	var out []memory.Memory
	for e, err := range t.scan(keyOf(kindMemory), nil, false) {
		if err != nil {
			return nil, err
		}
		said, err := t.page(keyOf(kindAssertion, e.key[1:]), nil, nil, false, 1)
		if err != nil {
			return nil, err
		}
		if len(said) > 0 {
			continue
		}
		r, err := decode[memoryRecord](e.key, e.plain)
		if err != nil {
			return nil, err
		}
		m, err := r.decode(e.key)
		if err != nil {
			return nil, err
		}
		out = append(out, *m)
	}
	return out, nil
}
