package engines

import (
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
)

// Marks on photos: an engine has looked for print, or has described the photo.
const (
	TagRead      = "read"
	TagCaptioned = "captioned"
)

// DoneTag returns the tag of a source on which a kind of work is done. It is empty if the
// work removes a tag instead.
func DoneTag(k result.Kind) string {
	switch k {
	case result.Read:
		return TagRead
	case result.Caption, result.Sequence:
		return TagCaptioned
	}
	return ""
}

// Waits reports whether a memory waits for a kind of work. A photo waits for a series in
// the same way as for a caption.
func Waits(m *memory.Memory, k result.Kind) bool {
	if k == result.Sequence {
		k = result.Caption
	}
	return slices.Contains(result.WorkOn(m), k) && (DoneTag(k) == "" || !slices.Contains(m.Tags, DoneTag(k)))
}

// Waiting returns the sources that wait for a kind of work, including parked ones, in no
// particular order.
func Waiting(tx *store.Tx, k result.Kind) (ids []memory.ID, err error) {
	for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}, States: []memory.State{memory.Active}}) {
		if err != nil {
			return nil, err
		}
		if Waits(m, k) {
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}

// unheardRest is how long a source rests that waits for ears.
const unheardRest = 20 * time.Second

// HasPendingAudio reports whether local ears still have to hear a recording from the time around a
// photo. A secret may be in it, and then the photo stays here. A recording on which they
// failed is not waited for.
func HasPendingAudio(tx *store.Tx, photo *memory.Memory) (bool, error) {
	if slices.Contains(result.WorkOn(photo), result.Transcribe) {
		return false, nil // it is a recording itself
	}
	specs, err := Load(tx)
	if err != nil || !slices.ContainsFunc(specs, func(s Spec) bool { return s.Kind == Ears && s.Local() }) {
		return false, err
	}
	parked, err := parkedOf(tx, result.Transcribe)
	if err != nil {
		return false, err
	}
	waiting, err := Waiting(tx, result.Transcribe)
	if err != nil {
		return false, err
	}
	from, to := extract.Around(photo)
	waiting = slices.DeleteFunc(waiting, func(id memory.ID) bool { _, given := parked[id.String()]; return given })
	for m, err := range tx.MemoriesOf(waiting) {
		if err != nil {
			return false, err
		}
		begin := result.StartOf(m)
		end := begin
		if m.TrueTo.After(end) {
			end = m.TrueTo
		}
		if !end.Before(from) && !begin.After(to) {
			return true, nil
		}
	}
	return false, nil
}
