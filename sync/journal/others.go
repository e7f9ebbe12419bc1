package journal

import (
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/replica"
)

// otherDeltas lists the deltas of other members whose bodies have to be removed
// from the envelope store.
func (j *Journal) otherDeltas() pages[replica.Ref] { return pages[replica.Ref]{j, "others"} }

// locateOthers records that a delta contains something of the memory or
// utterance of an op. If that record was erased before the delta came, the
// delta's body is marked for removal.
func (j *Journal) locateOthers(tx *store.Tx, in *replica.Incoming, i int) error {
	ref := replica.Ref{Member: in.Author.ID, Position: in.Header.Position()}
	var id memory.ID
	switch op := &in.Ops[i]; {
	case op.Assertion != nil && op.Assertion.Act != memory.ActErase:
		id = op.Assertion.Memory
	case op.Utterance != nil:
		id = op.Utterance.ID
	default:
		return nil
	}
	if gone, err := tx.Erased(id); err != nil || gone {
		if err != nil {
			return err
		}
		return j.otherDeltas().add(tx, ref)
	}
	name := j.note("from", id.String())
	var refs []replica.Ref
	if _, err := tx.Meta(name, &refs); err != nil || slices.Contains(refs, ref) {
		return err
	}
	if len(refs) < pageItems {
		return tx.PutMeta(name, append(refs, ref))
	}
	n := 0 // anybody may send any number of ops about one memory, so a full list continues in another
	for ; ; n++ {
		var full []replica.Ref
		if ok, err := tx.Meta(j.note("from", id.String(), number(uint64(n))), &full); err != nil {
			return err
		} else if !ok {
			break
		}
	}
	for part := range slices.Chunk(refs, pageItems) {
		if err := tx.PutMeta(j.note("from", id.String(), number(uint64(n))), part); err != nil {
			return err
		}
		n++
	}
	return tx.PutMeta(name, []replica.Ref{ref})
}

// takeLocations returns other members' deltas that contain something of what was
// erased, and removes the notes about it. A delta may be returned twice.
func (j *Journal) takeLocations(tx *store.Tx, id memory.ID) (all []replica.Ref, err error) {
	name := j.note("from", id.String())
	for n := uint64(0); ; n++ {
		var refs []replica.Ref
		if ok, err := tx.Meta(name, &refs); err != nil || !ok {
			return all, err
		}
		all = append(all, refs...)
		if err := tx.DeleteMeta(name); err != nil {
			return all, err
		}
		name = j.note("from", id.String(), number(n))
	}
}

// markOtherDeltas marks the bodies of other members' deltas that contain something
// of what was erased, for removal from the envelope store. Their authors send
// the rest of the content again.
func (j *Journal) markOtherDeltas(tx *store.Tx, erased []memory.ID) error {
	if !j.Envelopes {
		return nil
	}
	var all []replica.Ref
	for _, id := range erased {
		refs, err := j.takeLocations(tx, id)
		if err != nil {
			return err
		}
		all = append(all, refs...)
	}
	if len(all) == 0 {
		return nil
	}
	return j.otherDeltas().add(tx, all...)
}
