package ledger

import (
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/replica"
)

// locateOthers notes, of each memory and utterance that a page of a delta's
// ops is about, that the delta carries something of it. Where one was erased
// before the delta came, the delta goes.
func (l *Ledger) locateOthers(tx *store.Tx, in *replica.Incoming, from, to int) error {
	ref := replica.Ref{Member: in.Author.ID, Position: in.Header.Position()}
	var out leaving
	if _, err := tx.Meta(l.note("leaving"), &out); err != nil {
		return err
	}
	late := false
	for i := from; i < to; i++ {
		var id memory.ID
		switch op := &in.Ops[i]; {
		case op.Assertion != nil && op.Assertion.Act != memory.ActErase:
			id = op.Assertion.Memory
		case op.Utterance != nil:
			id = op.Utterance.ID
		default:
			continue
		}
		switch gone, err := tx.Erased(id); {
		case err != nil:
			return err
		case gone:
			late = true
			if !slices.Contains(out.Others, ref) {
				out.Others = append(out.Others, ref)
			}
			continue
		}
		name := l.note("from", id.String())
		var refs []replica.Ref
		if _, err := tx.Meta(name, &refs); err != nil {
			return err
		}
		if slices.Contains(refs, ref) {
			continue
		}
		if err := tx.PutMeta(name, append(refs, ref)); err != nil {
			return err
		}
	}
	if !late {
		return nil
	}
	return tx.PutMeta(l.note("leaving"), out)
}

// dropOthers has what others sent go from the shelf that carries something of
// what was erased. What else is in it, its author sends once more.
func (l *Ledger) dropOthers(tx *store.Tx, erased []memory.ID) error {
	if !l.Shelf {
		return nil
	}
	var out leaving
	if _, err := tx.Meta(l.note("leaving"), &out); err != nil {
		return err
	}
	changed := false
	for _, id := range erased {
		name := l.note("from", id.String())
		var refs []replica.Ref
		ok, err := tx.Meta(name, &refs)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		for _, r := range refs {
			if !slices.Contains(out.Others, r) {
				out.Others = append(out.Others, r)
			}
		}
		if err := tx.DeleteMeta(name); err != nil {
			return err
		}
		changed = true
	}
	if !changed {
		return nil
	}
	return tx.PutMeta(l.note("leaving"), out)
}
