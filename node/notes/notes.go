// Package notes keeps a folder of Markdown files in sync with a node, for Obsidian and other
// note-taking programs. The folder follows the node, and what a person changes in it is sent back
// to the node.
//
// A note is a file for one memory: properties, the text, and a block of links that is rewritten
// whenever it changes. A page is a file about a person, a place or a day, which links to notes.
// What a person writes above or below the block of a page, below that of a note, or into properties
// with other names, is kept.
//
//	Memories/Ann likes green tea.md
//	People/Ann.md
//	Places/Lindau.md
//	Days/2026-03-01.md
//	Files/3f7k….jpg              photos and recordings
//	.locket-notes.json           what was written, so that an edit is noticed
//
// No note is made of the vault, of memories that are more sensitive than requested, or of memories
// that are no longer true.
package notes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/node/serve"
)

// ErrOther: the folder follows another space, so its notes would all be removed.
var ErrOther = errors.New("the folder follows another memory")

// Answer says what to do with a memory whose note was deleted.
type Answer int

const (
	Later  Answer = iota // ask again the next time
	Forget               // erase the memory for good, if its note is still missing at a second look
	Again                // write the note again
)

// Options say what the folder contains. The zero value includes public memories of every type, and
// asks nobody.
type Options struct {
	Types       []memory.Type      // empty: all but the vault
	Sensitivity memory.Sensitivity // at most
	Zone        *time.Location     // zone of days; nil: UTC
	Dry         bool               // change nothing, neither here nor in the node
	// Ask is called for each note that a person has deleted. nil: Later.
	Ask func(path string, m *memory.Memory) Answer
	// Many is called before memories are forgotten while many notes are missing at once, and
	// returns whether that was intended. nil: it was not.
	Many func(missing, notes int) bool
}

// Report is the result of one round.
type Report struct {
	Seq       uint64   `json:"seq"`                 // number of the last change of the node that was seen
	Notes     int      `json:"notes"`               // memories that have a note now
	LeftOut   int      `json:"left_out"`            // memories that have none, because they are more sensitive than requested
	Written   int      `json:"written"`             // notes, pages and files
	Removed   int      `json:"removed"`             // notes, pages and files
	Corrected int      `json:"corrected"`           // memories that were corrected because their notes were edited
	Forgotten int      `json:"forgotten"`           // memories whose notes were deleted
	Waiting   []string `json:"waiting,omitempty"`   // deleted notes whose memories stay for now
	Conflicts []string `json:"conflicts,omitempty"` // copies of notes that were edited while their memories changed
	Failed    []string `json:"failed,omitempty"`    // notes that could not be processed, with reasons
}

// Changed reports whether the round wrote anything, here or in the node.
func (r *Report) Changed() bool { return r.Written+r.Removed+r.Corrected+r.Forgotten > 0 }

// round is one comparison of both sides.
type round struct {
	ctx    context.Context // of the call that runs the round
	node   *serve.Client
	dir    *folder
	o      Options
	rep    Report
	known  map[memory.ID]*memory.Memory // memories that are to have notes
	order  []memory.ID                  // their ids, by time, then id
	moved  map[memory.ID]bool           // memories that have changed since the last round
	forget []memory.ID                  // memories whose notes were deleted, to be forgotten
	pause  time.Duration                // until the second look, before memories are forgotten
	cold   bool                         // some memories are not on this device, so a list lacks them
	names  naming
}

// Sync makes the folder and the node agree, once. After an error, what was done is kept, and the
// next call continues. Only one Sync may use a folder at a time.
func Sync(ctx context.Context, root *os.Root, node *serve.Client, o Options) (Report, error) {
	o.Zone = cmp.Or(o.Zone, time.UTC)
	r := &round{ctx: ctx, node: node, o: o, known: map[memory.ID]*memory.Memory{}, moved: map[memory.ID]bool{}, pause: secondLook}
	var err error
	if r.dir, err = openFolder(root, o.Dry); err != nil {
		return r.rep, err
	}
	if err := r.read(); err != nil {
		return r.rep, err
	}
	err = r.apply()
	r.rep.Written, r.rep.Removed = r.dir.written, r.dir.removed
	return r.rep, errors.Join(err, r.dir.save())
}

// read reads from the node what is to have notes.
func (r *round) read() error {
	seq := r.dir.State.Seq
	for c, err := range r.node.Changes(r.ctx, seq, false) {
		if err != nil {
			return err
		}
		seq, r.moved[c.Memory], r.moved[c.Other] = c.Seq, true, true
	}
	view, err := r.node.Graph(r.ctx, atlas.Query{Limit: atlas.MaxLimit})
	if err != nil {
		return err
	}
	r.names.nameAll(&view)
	listed := 0
	for q := (serve.ListQuery{Limit: serve.MaxPage}); ; {
		page, err := r.node.List(r.ctx, q)
		if err != nil {
			return err
		}
		r.cold = r.cold || page.Cold > 0
		listed += len(page.Memories)
		for i := range page.Memories {
			m := &page.Memories[i]
			if space := m.Space.String(); r.dir.State.Space == "" {
				r.dir.State.Space = space
			} else if r.dir.State.Space != space {
				return fmt.Errorf("%w: want a folder of its own for each", ErrOther)
			}
			switch {
			case !r.wanted(m):
			case m.Sensitivity > r.o.Sensitivity:
				r.rep.LeftOut++
			default:
				r.known[m.ID] = m
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if listed == 0 && !r.cold && len(r.dir.State.Notes) > 1 && !r.anyMoved() {
		return fmt.Errorf("%w: none of its %d notes is of a memory here", ErrOther, len(r.dir.State.Notes))
	}
	r.dir.State.Seq, r.rep.Seq = seq, seq
	r.order = slices.Collect(maps.Keys(r.known))
	sorting.Sort(r.order, func(a, b memory.ID) int {
		return cmp.Or(when(r.known[a], r.o.Zone).Compare(when(r.known[b], r.o.Zone)), slices.Compare(a[:], b[:]))
	})
	return nil
}

func (r *round) anyMoved() bool {
	for id := range r.dir.State.Notes {
		if r.moved[id] {
			return true
		}
	}
	return false
}

// wanted reports whether a memory is to have a note if it is not too sensitive. The wearer's
// statements about their memories themselves have none, because an edit would change who may see
// what.
func (r *round) wanted(m *memory.Memory) bool {
	return !slices.Contains(m.Tags, memory.RulesTag) && !slices.Contains(m.Tags, memory.WaitingTag) &&
		m.State == memory.Active && m.Type != memory.Vault && !m.Negates && strings.TrimSpace(m.Text) != "" &&
		(len(r.o.Types) == 0 || slices.Contains(r.o.Types, m.Type))
}

// when returns the time under which a memory is listed.
func when(m *memory.Memory, zone *time.Location) time.Time {
	return m.StartTime(zone, m.When())
}

// apply sends edits to the node, and then writes what has changed.
func (r *round) apply() error {
	if err := r.removeStale(); err != nil {
		return err
	}
	for _, id := range slices.Clone(r.order) {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.takeNote(id); err != nil {
			return err
		}
	}
	if err := r.forgetDeleted(); err != nil {
		return err
	}
	r.order = slices.DeleteFunc(r.order, func(id memory.ID) bool { return r.known[id] == nil })
	r.rep.Notes = len(r.order)
	// Links need the paths of notes, so notes are written when all have a path.
	for _, id := range r.order {
		if e := r.dir.State.Notes[id]; e.Path == "" {
			e.Path = r.dir.free("Memories", r.titleOf(r.known[id]), id)
		}
	}
	for _, id := range r.order {
		if err := r.write(id); err != nil {
			return err
		}
	}
	return r.writePages()
}

// removeStale removes notes whose memories were forgotten, ended or hidden.
func (r *round) removeStale() error {
	for _, id := range sorting.Sorted(maps.Keys(r.dir.State.Notes), func(a, b memory.ID) int { return slices.Compare(a[:], b[:]) }) {
		if r.known[id] != nil {
			continue
		}
		if r.cold && !r.moved[id] {
			continue // it is not on this device, and nobody has changed it
		}
		if r.cold {
			m, err := r.node.Get(r.ctx, id.String())
			if err == nil && r.wanted(&m) {
				continue
			}
			if errors.Is(err, serve.ErrCold) {
				continue
			}
			if err != nil && !errors.Is(err, memory.ErrNotFound) {
				return err
			}
		}
		e := r.dir.State.Notes[id]
		if path := r.dir.pathOf(id, e); path != "" {
			kept, err := r.dir.retire(path, e.Base)
			if busy(err) {
				continue // a person is editing it, so the next round removes it
			}
			if err != nil {
				return err
			}
			if kept {
				r.rep.Conflicts = append(r.rep.Conflicts, path)
			}
		}
		if err := r.dir.removeFile(id); err != nil {
			return err
		}
		delete(r.dir.State.Notes, id)
	}
	return nil
}

// takeNote sends to the node what a person did with the note of a memory.
func (r *round) takeNote(id memory.ID) error {
	m, e := r.known[id], r.dir.State.Notes[id]
	path := r.dir.pathOf(id, e)
	if path == "" {
		if e == nil || e.Path == "" {
			r.dir.State.Notes[id] = &entry{}
			return nil
		}
		return r.deleted(m, e)
	}
	if e == nil {
		e = &entry{}
		r.dir.State.Notes[id] = e
	}
	if e.Path = path; r.dir.unchanged(path, e) {
		return nil
	}
	has, err := r.dir.note(path)
	if err != nil {
		r.fail(e, err)
		return nil
	}
	if has.bad != nil {
		r.fail(e, has.bad)
		return nil
	}
	is := parsed(m)
	switch now, was := has.sum(), is.sum(); {
	case now == was || now == e.Base:
		return nil
	case was == e.Base:
		return r.correct(e, m, &is, has)
	default:
		name, err := r.dir.copyConflict(path, e)
		if busy(err) {
			e.held = true
			return nil
		}
		if err != nil {
			return err
		}
		r.rep.Conflicts = append(r.rep.Conflicts, name)
		return nil
	}
}

// correct sends to the node what a person has changed in a note.
func (r *round) correct(e *entry, m *memory.Memory, is, has *note) error {
	if has.Text == "" {
		r.fail(e, fmt.Errorf("%w: the text is empty; delete the note to have its memory forgotten", memory.ErrInvalid))
		return nil
	}
	change, err := is.edit(has, m, e.Path)
	if err != nil {
		r.fail(e, err)
		return nil
	}
	if r.o.Dry {
		r.rep.Corrected++
		return nil
	}
	after, err := r.node.Update(r.ctx, m.ID.String(), change)
	if err != nil {
		r.fail(e, err)
		return nil
	}
	r.rep.Corrected++
	r.known[m.ID] = &after
	if !r.wanted(&after) {
		delete(r.known, m.ID)
	}
	return nil
}

// fail reports a note that can't be processed. What the person wrote stays as it is until it can.
func (r *round) fail(e *entry, err error) {
	r.rep.Failed = append(r.rep.Failed, fmt.Sprintf("%s: %v", e.Path, err))
	e.held = true
}

// write writes the note of a memory, unless it is up to date.
func (r *round) write(id memory.ID) error {
	m, e := r.known[id], r.dir.State.Notes[id]
	links := r.linksOf(m, e.Path)
	if e.held {
		return nil
	}
	base := parsed(m)
	return r.dir.writeNote(e, render(m, links, r.o.Zone), base.sum())
}
