package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// maxNote is the maximum size of a file that is read, in bytes: a resource's content
// with every character escaped, and as much again of a person's own.
const maxNote = 4 * memory.MaxContent

// seen is a file as it was found.
type seen struct {
	id   memory.ID // zero: it is not a note
	size int64
	mod  time.Time
}

// folder is the folder's side of a sync.
type folder struct {
	root  *os.Root
	dry   bool
	State state

	saved            string           // the state as it is in its file
	found            map[string]*seen // by path
	byID             map[memory.ID][]string
	taken            map[string]bool // paths in lower case, because some file systems ignore case
	written, removed int
}

// scan checks every file of the folder. Earlier results are forgotten.
func (f *folder) scan() error {
	f.found, f.byID, f.taken = map[string]*seen{}, map[memory.ID][]string{}, map[string]bool{}
	was := map[string]memory.ID{}
	for id, e := range f.State.Notes {
		was[e.Path] = id
	}
	return eachNote(f.root, func(name string, info fs.FileInfo) error {
		s := &seen{size: info.Size(), mod: info.ModTime()}
		f.found[name], f.taken[strings.ToLower(name)] = s, true
		if id, ok := was[name]; ok && f.unchanged(name, f.State.Notes[id]) {
			s.id = id
		} else if s.size <= maxNote {
			b, err := f.root.ReadFile(name)
			if errors.Is(err, fs.ErrNotExist) {
				delete(f.found, name) // it was removed meanwhile
				return nil
			}
			if err != nil {
				return err
			}
			front, _, _, err := split(b)
			if err == nil {
				s.id = idOf(front)
			} else if ok {
				s.id = id // its properties can't be read now, which is reported where it is taken
			}
		}
		if !s.id.IsZero() {
			f.byID[s.id] = append(f.byID[s.id], name)
		}
		return nil
	})
}

// eachNote walks through the Markdown files of a folder, but not through folders
// whose names begin with a dot.
func eachNote(root *os.Root, do func(name string, info fs.FileInfo) error) error {
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || !strings.EqualFold(path.Ext(name), ".md"):
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was removed meanwhile
		}
		if err != nil {
			return err
		}
		return do(name, info)
	})
}

// Look returns a digest of names, sizes and times of the notes in a folder, which
// changes with any edit.
func Look(root *os.Root) (string, error) {
	var all strings.Builder
	err := eachNote(root, func(name string, info fs.FileInfo) error {
		fmt.Fprintf(&all, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return digest([]byte(all.String())), err
}

// pathOf returns where the note of a memory is: where it was written, or where a
// person has moved it to; empty: nowhere.
func (f *folder) pathOf(id memory.ID, e *entry) string {
	if e != nil {
		if s := f.found[e.Path]; s != nil && s.id == id {
			return e.Path
		}
	}
	for _, name := range f.byID[id] {
		return name
	}
	return ""
}

// unchanged reports whether a file is as it was when its entry was written.
func (f *folder) unchanged(name string, e *entry) bool {
	s := f.found[name]
	return s != nil && s.size == e.Size && s.mod.Equal(e.Mod)
}

// note reads a note or a page.
func (f *folder) note(name string) (*note, error) {
	if s := f.found[name]; s != nil && s.size > maxNote {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", memory.ErrInvalid, s.size, maxNote)
	}
	b, err := f.root.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return parse(b)
}
