package journal

import (
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// manifest lists what one of our deltas contained.
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

// Notes returns the names of the notes that say in which deltas a memory is.
// They stay on this device when the memory turns cold.
func (j *Journal) Notes(id memory.ID) []string { return []string{j.note("in", id.String())} }

func (j *Journal) manifestNote(p envelope.Position) string {
	return j.note("sent", fmt.Sprintf("%016x", p.Incarnation), number(p.Seq))
}

// sentSteps record what a delta contained, and, for each id in it, that this
// delta contains it. If the delta contains an erasure, they also mark the
// earlier deltas that contain what it erases.
func (j *Journal) sentSteps(at envelope.Position, ops []delta.Op) (steps []step) {
	m := manifest{At: at}
	for i := range ops {
		op := &ops[i]
		var id memory.ID
		switch {
		case op.Assertion != nil && op.Assertion.Act != memory.ActErase:
			id = op.Assertion.Memory
			m.Assertions = append(m.Assertions, saying{id, op.Assertion.Dot})
		case op.Utterance != nil:
			id = op.Utterance.ID
			m.Utterances = append(m.Utterances, id)
		case op.Blob != nil:
			id = op.Blob.Memory
			m.Blobs = append(m.Blobs, blobAt{id, op.Blob.Sealed})
			steps = append(steps, singleStep(func(tx *store.Tx) error { return j.noteBlob(tx, op.Blob) }))
		case op.Assertion != nil:
			m.Erasures = append(m.Erasures, saying{op.Assertion.Memory, op.Assertion.Dot})
			continue
		case op.Forget != nil:
			t := targetsOf(op.Forget)
			m.Forgot = append(m.Forgot, t)
			for _, part := range divide(t, forgetPage) {
				steps = append(steps, j.forgetErasedStep(part))
			}
			continue
		default:
			continue
		}
		steps = append(steps, singleStep(func(tx *store.Tx) error {
			if err := j.locate(tx, id, at); err != nil {
				return err
			}
			erased, err := tx.Erased(id)
			if err != nil || !erased { // it was erased after the delta was sealed and before it was sent
				return err
			}
			return j.forgetErased(tx, store.Targets{Memories: []memory.ID{id}})
		}))
	}
	if len(m.Assertions)+len(m.Utterances)+len(m.Blobs) == 0 {
		return steps
	}
	return append([]step{singleStep(func(tx *store.Tx) error { return tx.PutMeta(j.manifestNote(at), m) })}, steps...)
}

// locate records that a delta contains something of an id.
func (j *Journal) locate(tx *store.Tx, id memory.ID, at envelope.Position) error {
	var places []envelope.Position
	if _, err := tx.Meta(j.note("in", id.String()), &places); err != nil || slices.Contains(places, at) {
		return err
	}
	return tx.PutMeta(j.note("in", id.String()), append(places, at))
}
