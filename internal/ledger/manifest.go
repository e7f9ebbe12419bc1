package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// manifest is what one of our deltas carried.
type manifest struct {
	Assertions []saying          `json:"a,omitempty"`
	Utterances []memory.ID       `json:"u,omitempty"`
	Blobs      []blobAt          `json:"b,omitempty"`
	Erasures   []saying          `json:"e,omitempty"` // assertions that erase
	Forgot     []store.Targets   `json:"f,omitempty"`
	At         envelope.Position `json:"p"`
}

type saying struct {
	Memory memory.ID  `json:"m"`
	Dot    memory.Dot `json:"d"`
}

type blobAt struct {
	Owner  memory.ID     `json:"o"`
	Sealed envelope.Hash `json:"s"`
}

// going is a delta whose body is to go from the relay, once the outbox has
// been sent up to a number: then what of it still holds is in a later one.
type going struct {
	At    envelope.Position `json:"p"`
	After uint64            `json:"a"`
}

// leaving is the list of what is to go.
type leaving struct {
	Bodies []going       `json:"b,omitempty"`
	Others []replica.Ref `json:"o,omitempty"` // of other members, on the shelf
	Waits  []emptying    `json:"w,omitempty"`
	// Blobs an earlier build was about to delete: they are doubted.
	Blobs []envelope.Hash `json:"s,omitempty"`
}

// emptying is a delta whose body is to go, and that carries cold memories: they
// are sent once more before it goes, and so have to be here.
type emptying struct {
	At     envelope.Position `json:"p"`
	Erased []memory.ID       `json:"e"`
}

// Notes names the small values by which a memory is found at the relay: they
// stay here when it turns cold.
func (l *Ledger) Notes(id memory.ID) []string { return []string{l.note("in", id.String())} }

// Back goes on with the deltas that waited for cold memories which are here now.
func (l *Ledger) Back(ctx context.Context) error {
	var now leaving
	err := l.view(ctx, func(tx *store.Tx) error { _, err := tx.Meta(l.note("leaving"), &now); return err })
	if err != nil || len(now.Waits) == 0 {
		return err
	}
	return l.Store.Update(ctx, func(tx *store.Tx) error {
		var out leaving
		if ok, err := tx.Meta(l.note("leaving"), &out); err != nil || !ok || len(out.Waits) == 0 {
			return err
		}
		waits := out.Waits
		out.Waits = nil
		for _, w := range waits {
			if err := l.empty(tx, w.At, w.Erased, &out); err != nil {
				return err
			}
		}
		return tx.PutMeta(l.note("leaving"), out)
	})
}

// cold reports whether a delta carries what is cold, and has it wanted back.
func cold(tx *store.Tx, m *manifest, erased []memory.ID) (any bool, err error) {
	for _, s := range m.Assertions {
		if slices.Contains(erased, s.Memory) {
			continue
		}
		_, is, err := tx.Cold(s.Memory)
		if err == nil && is {
			any = true
			err = tx.Want(s.Memory)
		}
		if err != nil {
			return any, err
		}
	}
	return any, nil
}

func (l *Ledger) manifestNote(p envelope.Position) string {
	return l.note("sent", fmt.Sprintf("%016x", p.Incarnation), number(p.Seq))
}

// sent notes what a delta carried, and by each id where it is. An erasure that
// went takes what it names from earlier deltas.
func (l *Ledger) sent(tx *store.Tx, at envelope.Position, ops []delta.Op) error {
	m := manifest{At: at}
	var ids, erasedMemories, erasedUtterances []memory.ID
	for _, op := range ops {
		switch {
		case op.Assertion != nil && op.Assertion.Act != memory.ActErase:
			m.Assertions = append(m.Assertions, saying{op.Assertion.Memory, op.Assertion.Dot})
			ids = append(ids, op.Assertion.Memory)
		case op.Utterance != nil:
			m.Utterances = append(m.Utterances, op.Utterance.ID)
			ids = append(ids, op.Utterance.ID)
		case op.Blob != nil:
			m.Blobs = append(m.Blobs, blobAt{op.Blob.Memory, op.Blob.Sealed})
			if err := l.noteBlob(tx, op.Blob); err != nil {
				return err
			}
			ids = append(ids, op.Blob.Memory)
		case op.Assertion != nil:
			m.Erasures = append(m.Erasures, saying{op.Assertion.Memory, op.Assertion.Dot})
		case op.Forget != nil:
			m.Forgot = append(m.Forgot, store.Targets{Memories: op.Forget.Memories, Utterances: op.Forget.Utterances, Events: op.Forget.Events})
			erasedMemories = append(erasedMemories, op.Forget.Memories...)
			erasedUtterances = append(erasedUtterances, op.Forget.Utterances...)
		}
	}
	if len(ids) > 0 {
		if err := tx.PutMeta(l.manifestNote(at), m); err != nil {
			return err
		}
	}
	slices.SortFunc(ids, func(a, b memory.ID) int { return slices.Compare(a[:], b[:]) })
	for _, id := range slices.Compact(ids) {
		if err := l.locate(tx, id, at); err != nil {
			return err
		}
		erased, err := tx.Erased(id)
		if err != nil {
			return err
		}
		if erased { // after this was sealed, and before it was sent
			erasedMemories = append(erasedMemories, id)
		}
	}
	if err := l.dropBlobs(tx, erasedMemories); err != nil {
		return err
	}
	if err := l.dropOthers(tx, append(slices.Clone(erasedMemories), erasedUtterances...)); err != nil {
		return err
	}
	return l.recall(tx, erasedMemories, erasedUtterances)
}

// locate notes that a delta carries something of an id.
func (l *Ledger) locate(tx *store.Tx, id memory.ID, at envelope.Position) error {
	var places []envelope.Position
	if _, err := tx.Meta(l.note("in", id.String()), &places); err != nil {
		return err
	}
	return tx.PutMeta(l.note("in", id.String()), append(places, at))
}

// recall has those of our deltas go that carry something of what was erased.
// What else is in them is sent once more.
func (l *Ledger) recall(tx *store.Tx, memories, utterances []memory.ID) error {
	var out leaving
	if _, err := tx.Meta(l.note("leaving"), &out); err != nil {
		return err
	}
	changed := false
	erased := append(slices.Clone(memories), utterances...)
	for _, id := range erased {
		var places []envelope.Position
		if ok, err := tx.Meta(l.note("in", id.String()), &places); err != nil || !ok {
			if err != nil {
				return err
			}
			continue
		}
		for _, at := range places {
			if err := l.empty(tx, at, erased, &out); err != nil {
				return err
			}
		}
		if err := tx.DeleteMeta(l.note("in", id.String())); err != nil {
			return err
		}
		changed = true
	}
	if !changed {
		return nil
	}
	return tx.PutMeta(l.note("leaving"), out)
}

func (l *Ledger) empty(tx *store.Tx, at envelope.Position, erased []memory.ID, out *leaving) error {
	var m manifest
	ok, err := tx.Meta(l.manifestNote(at), &m)
	if err != nil || !ok {
		return err // it went before
	}
	if any, err := cold(tx, &m, erased); err != nil || any {
		out.Waits = append(out.Waits, emptying{At: at, Erased: erased})
		return err
	}
	for _, b := range m.Blobs {
		if slices.Contains(erased, b.Owner) {
			if err := l.doubt(tx, b.Sealed); err != nil {
				return err
			}
		}
	}
	for _, s := range slices.Concat(m.Assertions, m.Erasures) {
		if _, err := tx.Resend(s.Memory, s.Dot); err != nil {
			return err
		}
	}
	for _, t := range m.Forgot {
		if err := tx.ResendErasure(t); err != nil {
			return err
		}
	}
	for _, id := range m.Utterances {
		if _, err := tx.ResendUtterance(id); err != nil {
			return err
		}
	}
	for _, b := range m.Blobs {
		if !slices.Contains(erased, b.Owner) {
			if err := l.resendBlobs(tx, b.Owner); err != nil {
				return err
			}
		}
	}
	out.Bodies = append(out.Bodies, going{At: at, After: tx.Posted()})
	return tx.DeleteMeta(l.manifestNote(at))
}

// Forgotten implements replica.Journal.
func (l *Ledger) Forgotten(ctx context.Context) (f replica.Forgotten, err error) {
	err = l.view(ctx, func(tx *store.Tx) error {
		var out leaving
		if ok, err := tx.Meta(l.note("leaving"), &out); err != nil || !ok {
			return err
		}
		waits := uint64(1<<64 - 1) // the first number that was not sent
		for o, err := range tx.Outbox(0) {
			if err != nil {
				return err
			}
			waits = o.Seq
			break
		}
		for _, g := range out.Bodies {
			if g.After < waits {
				f.Bodies = append(f.Bodies, replica.Ref{Member: l.Member, Position: g.At})
			}
		}
		f.Bodies = append(f.Bodies, out.Others...)
		return nil
	})
	return f, err
}

// Dropped implements replica.Journal.
func (l *Ledger) Dropped(ctx context.Context, f replica.Forgotten) error {
	return l.Store.Update(ctx, func(tx *store.Tx) error {
		var out leaving
		if _, err := tx.Meta(l.note("leaving"), &out); err != nil {
			return err
		}
		out.Bodies = slices.DeleteFunc(out.Bodies, func(g going) bool {
			return slices.Contains(f.Bodies, replica.Ref{Member: l.Member, Position: g.At})
		})
		out.Others = slices.DeleteFunc(out.Others, func(r replica.Ref) bool { return slices.Contains(f.Bodies, r) })
		return tx.PutMeta(l.note("leaving"), out)
	})
}
