package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
)

const (
	// secondLook is how long a note has to be missing before its memory is forgotten.
	// Programs that save or sync a file may remove it for a moment.
	secondLook = 2 * time.Second

	// A deletion counts as a mass deletion if more than manyMissing notes are missing
	// at once, and more than one in manyShare of all.
	manyMissing, manyShare = 10, 5
)

// deleted asks what to do with a memory whose note a person has deleted. A note whose
// file still exists, but isn't a note of the memory now, was not deleted.
func (r *round) deleted(m *memory.Memory, e *entry) error {
	if err := r.dir.missing(e.Path); err != nil {
		r.fail(e, err)
		return nil
	}
	answer := Later
	if r.o.Ask != nil && !r.o.Dry {
		answer = r.o.Ask(e.Path, m)
	}
	switch answer {
	case Forget:
		e.held = true
		r.forget = append(r.forget, m.ID)
	case Again:
		*e = entry{}
	default:
		r.rep.Waiting = append(r.rep.Waiting, e.Path)
		e.held = true
	}
	return nil
}

// forgetDeleted erases the memories that are to be forgotten, if their notes are still
// missing a while later.
func (r *round) forgetDeleted() error {
	if len(r.forget) == 0 {
		return nil
	}
	if !wait.For(r.ctx, r.pause) {
		return r.ctx.Err()
	}
	if _, err := r.dir.root.Lstat(StateFile); err != nil {
		r.rep.Failed = append(r.rep.Failed, fmt.Sprintf("nothing was forgotten: %s is missing, too: %v", StateFile, err))
		return nil
	}
	now := &folder{root: r.dir.root, State: r.dir.State}
	if err := now.scan(); err != nil {
		return err
	}
	gone, all := map[memory.ID]bool{}, 0
	for id := range r.known {
		if e := r.dir.State.Notes[id]; e != nil && e.Path != "" {
			all++
			if now.pathOf(id, e) == "" && now.missing(e.Path) == nil {
				gone[id] = true
			}
		}
	}
	if len(gone) > manyMissing && len(gone)*manyShare > all && (r.o.Many == nil || !r.o.Many(len(gone), all)) {
		r.rep.Failed = append(r.rep.Failed, fmt.Sprintf("%d of %d notes are missing at once, so no memory was forgotten: put them back, have them written again, or confirm at a terminal", len(gone), all))
		return nil
	}
	for _, id := range r.forget {
		if !gone[id] {
			continue // the note is back, and the next round reads it
		}
		if _, err := r.node.Delete(r.ctx, id.String()); err != nil {
			r.fail(r.dir.State.Notes[id], err)
			continue
		}
		r.rep.Forgotten++
		delete(r.known, id)
		delete(r.dir.State.Notes, id)
		if err := r.dir.removeFile(id); err != nil {
			return err
		}
	}
	return nil
}

// missing returns nil if there is no file at a path where a note was written. Otherwise
// it returns why the file there isn't that note. iCloud leaves a file .NAME.icloud in
// place of one that it has removed from the disk.
func (f *folder) missing(name string) error {
	s := f.found[name]
	switch {
	case s == nil:
		for _, at := range []string{name, path.Join(path.Dir(name), "."+path.Base(name)+".icloud")} {
			if _, err := f.root.Lstat(at); err == nil {
				return fmt.Errorf("%w: %s exists, but can't be read now", memory.ErrInvalid, at)
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	case s.size == 0:
		return fmt.Errorf("%w: the file is empty; delete it to have its memory forgotten", memory.ErrInvalid)
	case s.size > maxNote:
		return fmt.Errorf("%w: %d bytes, at most %d", memory.ErrInvalid, s.size, maxNote)
	case !s.id.IsZero():
		return fmt.Errorf("%w: it is the note of another memory now; move it, or give its property locket the value that it had", memory.ErrInvalid)
	}
	return fmt.Errorf("%w: it has no property locket with the id of its memory; put that back, or delete the file to have its memory forgotten", memory.ErrInvalid)
}
