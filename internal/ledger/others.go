package ledger

import (
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/replica"
)

// others are the deltas of other members whose bodies are to go from the shelf.
func (l *Ledger) others() pages[replica.Ref] { return pages[replica.Ref]{l, "others"} }

// locateOthers notes, of the memory or utterance that an op is about, that its
// delta carries something of it. Where that was erased before the delta came, the
// delta goes.
func (l *Ledger) locateOthers(tx *store.Tx, in *replica.Incoming, i int) error {
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
		return l.others().add(tx, ref)
	}
	name := l.note("from", id.String())
	var refs []replica.Ref
	if _, err := tx.Meta(name, &refs); err != nil || slices.Contains(refs, ref) {
		return err
	}
	return tx.PutMeta(name, append(refs, ref))
}

// dropOthers has what others sent go from the shelf that carries something of
// what was erased. What else is in it, its author sends once more.
func (l *Ledger) dropOthers(tx *store.Tx, erased []memory.ID) error {
	if !l.Shelf {
		return nil
	}
	var all []replica.Ref
	for _, id := range erased {
		name := l.note("from", id.String())
		var refs []replica.Ref
		if ok, err := tx.Meta(name, &refs); err != nil {
			return err
		} else if !ok {
			continue
		}
		all = append(all, refs...)
		if err := tx.DeleteMeta(name); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	return l.others().add(tx, all...)
}
