package community

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/replica"
)

// Limits of what one member may say in the life of a membership. What was withdrawn
// counts, too, so that the limits don't depend on when a home fetches.
const (
	MaxSaid = 2000 // items and notes that a home accepts
	spare   = 100  // of these, reserved for removals with their reasons, and for leaving
)

// wall is the journal of a space whose members don't trust each other. From a member it
// accepts proposals and erasures under ids that belong to that member, and quarantines
// the rest.
type wall struct {
	*journal.Journal
	said map[memory.MemberID]int // number of items and notes of each member, including erased ones; nil: not counted yet
}

// count counts what each member said so far.
func (w *wall) count(ctx context.Context) error {
	if w.said != nil {
		return nil
	}
	said := map[memory.MemberID]int{}
	err := w.Store.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{States: []memory.State{memory.Active}}) {
			if err != nil {
				return err
			}
			said[authorOf(m.ID)]++
		}
		for id, err := range tx.ErasedIDs() {
			if err != nil {
				return err
			}
			said[authorOf(id)]++
		}
		return nil
	})
	if err == nil {
		w.said = said
	}
	return err
}

// room returns why a member may say no more; empty: more is accepted.
func (w *wall) room(ctx context.Context, by memory.MemberID, more, most int) (string, error) {
	if err := w.count(ctx); err != nil {
		return "", err
	}
	if more > 0 && w.said[by]+more > most {
		return fmt.Sprintf("one member may add at most %d items, questions and the like to a community, including those taken back", MaxSaid), nil
	}
	w.said[by] += more
	return "", nil
}

// fresh counts the ids of an op that are new here, neither stored nor erased.
func (w *wall) fresh(ctx context.Context, op *delta.Op) (n int, err error) {
	var ids []memory.ID
	switch {
	case op.Assertion != nil:
		ids = []memory.ID{op.Assertion.Memory}
	case op.Forget != nil:
		ids = op.Forget.Memories
	}
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			_, err := tx.Memory(id)
			if errors.Is(err, memory.ErrNotFound) {
				n, err = n+1, nil
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if op.Assertion != nil && op.Assertion.Act == memory.ActPropose {
		n = 1 // even if it repeats an id
	}
	return n, err
}

// Apply implements replica.Journal.
func (w *wall) Apply(ctx context.Context, in replica.Incoming, s replica.State) error {
	var ops []delta.Op
	for i := range in.Ops {
		why := refused(&in.Ops[i], &in.Author)
		if why == "" && in.Author.ID != w.Member { // what this home said was counted when it was said
			more, err := w.fresh(ctx, &in.Ops[i])
			if err == nil {
				why, err = w.room(ctx, in.Author.ID, more, MaxSaid)
			}
			if err != nil {
				return err
			}
		}
		if why == "" {
			ops = append(ops, in.Ops[i])
			continue
		}
		place := in.Header.Position()
		if err := w.Quarantine(ctx, replica.Problem{At: in.At, Cursor: in.Cursor, Member: in.Author.ID, Place: &place, Op: i + 1, Reason: why}); err != nil {
			return err
		}
	}
	in.Ops, in.Grant = ops, nil
	return w.Journal.Apply(ctx, in, s)
}

// refused returns why an op does not count; empty: it does. All members refuse the same
// ops.
func refused(op *delta.Op, by *envelope.Member) string {
	a := op.Assertion
	switch {
	case op.RemovedBodies != nil:
		return ""
	case op.Forget != nil:
		f := op.Forget
		if len(f.Utterances)+len(f.Events)+len(f.Blobs) > 0 || slices.ContainsFunc(f.Memories, func(id memory.ID) bool { return !by.ID.OwnsLine(id) }) {
			return "it erases something that its author did not add"
		}
		return ""
	case a == nil:
		return "members of a community may only add assertions"
	case by.Role != envelope.Owner && by.Role != envelope.Writer:
		return "its author may not add anything here"
	case !a.Dot.Member.OwnsLine(a.Memory):
		return "it changes something that another member added"
	case a.Act != memory.ActPropose && a.Act != memory.ActErase:
		return "members of a community may only propose and erase"
	case a.Candidate != nil && (a.Candidate.Type == memory.Vault || a.Candidate.Fields.Vault != nil):
		return "a vault memory may not go into a community"
	}
	return ""
}

// deriveEach derives each memory only from what was said about itself, so that no member can
// change what another said.
func deriveEach(group []memory.Assertion) (out []memory.Memory) {
	by := map[memory.ID][]memory.Assertion{}
	for _, a := range group {
		by[a.Memory] = append(by[a.Memory], a)
	}
	for _, id := range sorting.Sorted(maps.Keys(by), func(a, b memory.ID) int { return bytes.Compare(a[:], b[:]) }) {
		out = append(out, reconcile.Derive(by[id])...)
	}
	return out
}
