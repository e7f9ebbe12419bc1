package store

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// madeAnew lists the kinds of records that follow from others. A salvage makes
// them again, so they need not be restored.
var madeAnew = map[string]bool{
	kinds[kindGroup].name: true, kinds[kindMemoryTime].name: true, kinds[kindDocument].name: true,
	kinds[kindUtteranceTime].name: true, kinds[kindUtteranceEvent].name: true, kinds[kindRefusalEvent].name: true,
	kinds[kindGuard].name: true,
}

// count sets the new store's counters to where the old ones ended: from the old
// head or, if that is lost or outdated, from the numbered records.
func (s *salvage) count() error {
	seq := s.head.Seq
	seq.Cold = 0   // counted again while cold memories are restored
	seq.Packed = 0 // nothing is packed any more
	version := s.head.Version
	for key, c := range s.newest {
		version = max(version, c.version)
		if n := map[kind]*uint64{kindChange: &seq.Change, kindOutbox: &seq.Outbox, kindRefusal: &seq.Refusal, kindQuarantined: &seq.Quarantined,
			kindDocument: &seq.Document, kindCold: &seq.Pack}[kind(key[0])]; n != nil && len(key) == 1+seqSize {
			*n = max(*n, seqOf([]byte(key)))
		}
	}
	return s.to.update(func(t *Tx) error {
		t.force = true
		t.state.head.Seq = seq
		t.state.head.Version = max(t.state.head.Version, version)
		t.state.head.Generation = max(t.state.head.Generation, s.head.Generation)
		return nil
	})
}

// repairGroups derives every group again, removes records that refer to nothing, and
// counts.
func (s *salvage) repairGroups(ctx context.Context) error {
	var groups map[string][]memory.ID
	var idle [][]byte
	err := s.to.View(ctx, func(t *Tx) error {
		var said map[memory.ID]bool
		var err error
		if groups, said, err = t.grouped(); err != nil {
			return err
		}
		if idle, err = t.idleDots(); err != nil {
			return err
		}
		for e, err := range t.scan(keyOf(kindMemory), nil, false) {
			if err != nil {
				return err
			}
			if id := memory.ID(e.key[1:]); !said[id] {
				s.out.Orphans = append(s.out.Orphans, id)
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

// grouped reads all assertions. groups has the memories of each group by the group's name, and said every memory
// that has an assertion.
func (t *Tx) grouped() (groups map[string][]memory.ID, said map[memory.ID]bool, err error) {
	groups, said = map[string][]memory.ID{}, map[memory.ID]bool{}
	var last memory.ID
	var as []memory.Assertion // about last
	endMemory := func() {
		if name := groupOf(as); name != "" {
			groups[name] = append(groups[name], last)
		}
		as = nil
	}
	for a, err := range t.AllAssertions() {
		if err != nil {
			return nil, nil, err
		}
		if a.Memory != last {
			endMemory()
		}
		last = a.Memory
		said[last] = true
		as = append(as, *a)
	}
	endMemory()
	return groups, said, nil
}

// notCold removes lost assertions that were hot from the record of cold dots,
// whose ranges may include them.
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

// idleDots returns the keys of the dots that are idle.
func (t *Tx) idleDots() (keys [][]byte, err error) {
	for e, err := range t.scan(keyOf(kindDot), nil, false) {
		if err != nil {
			return nil, err
		}
		if idle, err := t.idleDot(e); err != nil {
			return nil, err
		} else if idle {
			keys = append(keys, e.key)
		}
	}
	return keys, nil
}

// idleDot reports whether a dot is stored while its assertion is neither stored
// nor erased. Such a dot would prevent the assertion from being taken when it
// comes again.
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

// SkipDots makes [Tx.NextDot] leave out some of a member's numbers. The member
// may have used them for assertions that were lost here and that others have.
func (t *Tx) SkipDots(member memory.MemberID, count uint64) error {
	last, err := t.NextDot(member)
	if err != nil {
		return err
	}
	last.Seq += count
	t.dots[member] = last.Seq
	return t.put(keyOf(kindDot, dotKey(last)), make([]byte, idSize))
}

// Recovered reports whether the lost record of a damage exists again. A damage of
// the head or of a bucket stands for unknown records, and these two always
// exist.
func (t *Tx) Recovered(d *Damage) (bool, error) {
	if d.record == nil || kind(d.record[0]) == kindHead {
		return false, nil
	}
	_, ok, err := t.get(d.record)
	return ok, err
}

// OfLines reports whether a damage is about a page of packed utterances. The
// store does not know which utterances were on it. Those that come again get
// records of their own.
func (d *Damage) OfLines() bool { return len(d.record) > 0 && kind(d.record[0]) == kindLines }

// Unindex removes utterances without a record from the index.
func (t *Tx) Unindex(ids []memory.ID) error {
	for _, id := range ids {
		if _, err := t.logDocument(0, Document{Kind: UtteranceDocument, ID: id, Gone: true}); err != nil {
			return err
		}
	}
	return nil
}

// unindex removes lost records from the index, whose segments are restored.
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

// regroup derives each group again. The history gets no change, because nobody
// said anything.
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
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		page = append(page, name)
		if size += len(groups[name]); size >= members {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// regroup writes the members of a group and what follows from it. A memory
// without assertions stays as it is.
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

// prune removes records that refer to something that does not exist, because
// they would block the records after them. more is true if it removed the maximum
// of one call.
func (t *Tx) prune(most int) (more bool, err error) {
	for _, of := range []struct {
		kind   kind
		broken func(entry) (bool, error)
	}{
		{kindOutbox, func(e entry) (bool, error) {
			_, err := t.outgoing(e)
			if errors.Is(err, memory.ErrDamaged) {
				return true, nil
			}
			return false, err
		}},
		{kindTask, func(e entry) (bool, error) { return t.lacks(utteranceKey(memory.ID(e.key[1+timeSize:]))) }},
		{kindSegment, func(e entry) (bool, error) {
			g, err := decode[Segment](e.key, e.plain)
			if err != nil {
				return false, err
			}
			return t.lacks(blobKey(g.Blob))
		}},
		{kindWanted, func(e entry) (bool, error) { // its page is lost, so what comes again is not cold
			_, _, i, err := t.unitOfGroup(e.key[1:])
			return i < 0, err
		}},
	} {
		for e, err := range t.scan(keyOf(of.kind), nil, false) {
			if err != nil || most == 0 {
				return err == nil, err
			}
			if broken, err := of.broken(e); err != nil {
				return false, err
			} else if broken {
				most--
				if err := t.del(e.key); err != nil {
					return false, err
				}
			}
		}
	}
	return false, nil
}

// lacks reports whether no record has this key.
func (t *Tx) lacks(key []byte) (bool, error) {
	_, ok, err := t.get(key)
	return !ok, err
}

// WithoutAssertions returns the memories without assertions, which a salvage can leave. When
// somebody sends their assertions again, they are derived normally.
func (t *Tx) WithoutAssertions() ([]memory.Memory, error) {
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
