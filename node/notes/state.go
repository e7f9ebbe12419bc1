package notes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/locket-dev/locket/memory"
)

// StateFile is the file in which a folder's state is stored.
const StateFile = ".locket-notes.json"

// state is what was written to a folder.
type state struct {
	Version int                  `json:"version"` // 1
	Space   string               `json:"space"`
	Seq     uint64               `json:"seq"` // of the last change that was seen
	Notes   map[memory.ID]*entry `json:"notes"`
	Pages   map[string]*entry    `json:"pages"` // by kind and entity or date
	Files   map[memory.ID]string `json:"files"` // paths
}

// valid reports whether a state that was read has everything that the program relies
// on.
func (s *state) valid() bool {
	for _, e := range s.Notes {
		if e == nil {
			return false
		}
	}
	for _, e := range s.Pages {
		if e == nil {
			return false
		}
	}
	return s.Version == 1
}

// entry is one file that was written.
type entry struct {
	Path     string    `json:"path"`
	Rendered string    `json:"rendered"` // digest of what was made of the memory, without a person's own words
	Base     string    `json:"base"`     // digest of what the note said about its memory; for a page, of its block
	Size     int64     `json:"size"`     // of the file as it was last seen
	Mod      time.Time `json:"mod"`      // the same

	held bool // not to be written in this round
}

// openFolder reads the state, and checks every Markdown file that isn't as it was.
func openFolder(root *os.Root, dry bool) (*folder, error) {
	f := &folder{root: root, dry: dry}
	switch b, err := root.ReadFile(StateFile); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(b, &f.State); err != nil || !f.State.valid() {
			return nil, fmt.Errorf("%w: %s was not written by this program; delete it, and all notes are compared with memories again", memory.ErrInvalid, StateFile)
		}
		f.saved = string(b)
	}
	f.State.Version = 1
	if f.State.Notes == nil {
		f.State.Notes = map[memory.ID]*entry{}
	}
	if f.State.Pages == nil {
		f.State.Pages = map[string]*entry{}
	}
	if f.State.Files == nil {
		f.State.Files = map[memory.ID]string{}
	}
	return f, f.scan()
}

// save writes the state, if it has changed.
func (f *folder) save() error {
	b, err := json.MarshalIndent(&f.State, "", " ")
	if err != nil || f.dry || string(b) == f.saved {
		return err
	}
	part := StateFile + ".part"
	if err := f.root.WriteFile(part, b, 0o600); err != nil {
		return err
	}
	return f.root.Rename(part, StateFile)
}
