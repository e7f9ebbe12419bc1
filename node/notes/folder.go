package notes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/locket-dev/locket/memory"
)

// StateFile is the file in which a folder's state is kept.
const StateFile = ".locket-notes.json"

// maxNote is the greatest file that is looked at, in bytes: a resource's content with
// every character escaped, and as much again of a person's own.
const maxNote = 4 * memory.MaxContent

// state is what was written to a folder.
type state struct {
	Version int                  `json:"version"` // 1
	Space   string               `json:"space"`
	Seq     uint64               `json:"seq"` // of the last change that was seen
	Notes   map[memory.ID]*entry `json:"notes"`
	Pages   map[string]*entry    `json:"pages"` // by kind and entity or date
	Files   map[memory.ID]string `json:"files"` // paths
}

// valid reports whether a state that was read has all that the program relies on.
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
	Base     string    `json:"base"`     // digest of what the note said of its memory; of a page, of its block
	Size     int64     `json:"size"`     // of the file as it was last seen
	Mod      time.Time `json:"mod"`      // the same

	held bool // not to be written in this round
}

// errBusy: a person has changed the file since it was looked at.
var errBusy = errors.New("it has changed in this moment: try again")

// busy reports whether an error means that a person is at work on the file, which then
// waits for the next round.
func busy(err error) bool { return errors.Is(err, errBusy) || errors.Is(err, fs.ErrNotExist) }

// seen is a file as it is.
type seen struct {
	id   memory.ID // zero: no note
	size int64
	mod  time.Time
}

// folder is the folder's side.
type folder struct {
	root  *os.Root
	dry   bool
	State state

	saved            string           // the state as it is in its file
	found            map[string]*seen // by path
	byID             map[memory.ID][]string
	taken            map[string]bool // paths in lower case: some file systems know no other
	written, removed int
}

// openFolder reads the state, and looks at every Markdown file that isn't as it was.
func openFolder(root *os.Root, dry bool) (*folder, error) {
	f := &folder{root: root, dry: dry}
	switch b, err := root.ReadFile(StateFile); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(b, &f.State); err != nil || !f.State.valid() {
			return nil, fmt.Errorf("%w: %s is not what this program wrote; without it, notes are compared with memories anew", memory.ErrInvalid, StateFile)
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

// scan looks at every file of the folder. What was seen before is forgotten.
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
				delete(f.found, name) // it went while we looked
				return nil
			}
			if err != nil {
				return err
			}
			front, _, _, err := split(b)
			if err == nil {
				s.id = idOf(front)
			} else if ok {
				s.id = id // its properties can't be read now, which is said where it is taken
			}
		}
		if !s.id.IsZero() {
			f.byID[s.id] = append(f.byID[s.id], name)
		}
		return nil
	})
}

// eachNote goes through the Markdown files of a folder, but not through folders whose
// names begin with a dot.
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
			return nil // it went while we looked
		}
		if err != nil {
			return err
		}
		return do(name, info)
	})
}

// Look gives a digest of names, sizes and times of the notes in a folder, which is
// another one after any edit.
func Look(root *os.Root) (string, error) {
	var all strings.Builder
	err := eachNote(root, func(name string, info fs.FileInfo) error {
		fmt.Fprintf(&all, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return digest([]byte(all.String())), err
}

// pathOf is where the note of a memory is: where it was written, or where a person
// has moved it to; empty: nowhere.
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

// write makes the file of an entry say what was made, and keeps a person's own words.
func (f *folder) write(e *entry, id memory.ID, d *made, base string) error {
	rendered := digest(d.with(nil))
	s := f.found[e.Path]
	if e.Rendered == rendered && (s != nil || id.IsZero()) {
		if s != nil {
			e.Size, e.Mod = s.size, s.mod
		}
		e.Base = base
		return nil
	}
	var own *note
	if s != nil {
		var err error
		if own, err = f.note(e.Path); err != nil {
			e.held = true
			return nil // named where it is taken; of a page, a person is at work in it
		}
	}
	if f.dry {
		f.written++
		return nil
	}
	b := d.with(own)
	if s != nil {
		is, err := f.root.ReadFile(e.Path)
		if busy(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if string(is) == string(b) {
			e.Rendered, e.Base, e.Size, e.Mod = rendered, base, s.size, s.mod
			return nil
		}
	}
	if err := f.put(e.Path, b); busy(err) {
		return nil
	} else if err != nil {
		return err
	}
	info, err := f.root.Stat(e.Path)
	if busy(err) {
		return nil
	}
	if err != nil {
		return err
	}
	e.Rendered, e.Base, e.Size, e.Mod = rendered, base, info.Size(), info.ModTime()
	return nil
}

// put writes a file whole, or not at all. A file that a person has changed since it
// was looked at stays for the next round.
func (f *folder) put(name string, b []byte) error {
	if err := f.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	part := path.Join(path.Dir(name), ".locket-part")
	if err := f.root.WriteFile(part, b, 0o600); err != nil {
		return errors.Join(err, f.root.Remove(part))
	}
	err := f.still(name)
	if err == nil {
		err = f.root.Rename(part, name)
	}
	if err != nil {
		return errors.Join(err, f.root.Remove(part))
	}
	f.written++
	return nil
}

// still is nil if a file is as it was when the folder was looked at, and else wraps
// errBusy. It is asked just before the file is replaced or removed.
func (f *folder) still(name string) error {
	s := f.found[name]
	switch info, err := f.root.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist) && s == nil:
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil, s == nil, info.Size() != s.size, !info.ModTime().Equal(s.mod):
		return fmt.Errorf("%s: %w", name, errBusy)
	}
	return nil
}

// setAside copies a note that a person edited while its memory changed, as a note of
// that person's own. The note itself is written again. An error for which busy holds
// leaves all as it was.
func (f *folder) setAside(name string, e *entry) (string, error) {
	copied := strings.TrimSuffix(name, ".md") + time.Now().Format(" (Conflicted copy 200601021504).md")
	for i := 2; f.taken[strings.ToLower(copied)]; i++ {
		copied = strings.TrimSuffix(name, ".md") + time.Now().Format(" (Conflicted copy 200601021504") + fmt.Sprintf(" %d).md", i)
	}
	if f.dry {
		return copied, nil
	}
	b, err := f.root.ReadFile(name)
	if err != nil {
		return "", err
	}
	if err := f.put(copied, unnamed(b)); err != nil {
		return "", err
	}
	f.taken[strings.ToLower(copied)], e.Rendered = true, ""
	return copied, nil
}

var mark = regexp.MustCompile(`(?m)^locket: .*\n`)

// unnamed is a file without the property by which it is a note of a memory.
func unnamed(b []byte) []byte {
	at := mark.FindIndex(b)
	if at == nil {
		return b
	}
	return slices.Concat(b[:at[0]], b[at[1]:])
}

// retire takes a note or page away. What a person has written stays: kept says that
// the person had edited what the note said, which then is all there still. An error for
// which busy holds leaves all as it was.
func (f *folder) retire(name, base string) (kept bool, err error) {
	n, err := f.note(name)
	if err != nil {
		return true, nil // it can't be read, so nobody knows whose words they are
	}
	if n.sum() != base && digest([]byte(n.block)) != base {
		if f.dry {
			return true, nil
		}
		b, err := f.root.ReadFile(name)
		if err != nil {
			return true, err
		}
		return true, f.put(name, unnamed(b))
	}
	if digest([]byte(n.block)) != base {
		n.above = "" // the memory's text
	}
	if own := strings.TrimSpace(n.above + "\n\n" + n.tail); own != "" || n.extra != "" {
		if f.dry {
			return false, nil
		}
		return false, f.put(name, []byte("---\n"+n.extra+"---\n"+own+"\n"))
	}
	if f.dry {
		f.removed++
		return false, nil
	}
	if err := f.still(name); err != nil {
		return false, err
	}
	if err := f.root.Remove(name); err != nil {
		return false, err
	}
	f.removed++
	delete(f.found, name)
	return false, nil
}

// removeFile removes the photo or recording of a memory.
func (f *folder) removeFile(id memory.ID) error {
	name, ok := f.State.Files[id]
	if !ok || f.dry {
		return nil
	}
	delete(f.State.Files, id)
	err := f.root.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f.removed++
	return err
}

// fetch writes the photo or recording of a memory, unless it is there.
func (f *folder) fetch(id memory.ID, name string, get func(io.Writer) error) error {
	if _, err := f.root.Stat(name); err == nil && f.State.Files[id] == name || f.dry {
		return nil
	}
	if err := f.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	part := path.Join(path.Dir(name), ".locket-part")
	w, err := f.root.Create(part)
	if err != nil {
		return err
	}
	if err = errors.Join(get(w), w.Close()); err == nil {
		err = f.root.Rename(part, name)
	}
	if err != nil {
		return errors.Join(err, f.root.Remove(part))
	}
	f.State.Files[id] = name
	f.written++
	return nil
}

// devices are names that Windows has for devices.
var devices = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com\d|lpt\d)$`)

// free gives a path for a new file, made of words that a memory has: nothing in them
// leaves the folder, hides the file, or ends a link.
func (f *folder) free(dir, title string, id memory.ID) string {
	title, _, _ = strings.Cut(strings.TrimSpace(title), "\n")
	title = strings.Join(strings.Fields(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || strings.ContainsRune(`\/:*?"<>|#^[]%`, c) || c == unicode.ReplacementChar {
			return ' '
		}
		return c
	}, title)), " ")
	if r := []rune(title); len(r) > 45 {
		title = string(r[:45])
		if i := strings.LastIndexByte(title, ' '); i > 20 {
			title = title[:i]
		}
	}
	title = strings.TrimLeft(strings.TrimRight(title, ". "), ". ")
	if title == "" || devices.MatchString(title) {
		title = strings.TrimSpace("Memory " + title)
	}
	text := id.String()
	for _, end := range []string{"", " " + text[:6], " " + text} {
		if name := dir + "/" + title + end + ".md"; !f.taken[strings.ToLower(name)] {
			f.taken[strings.ToLower(name)] = true
			return name
		}
	}
	return dir + "/" + text + ".md"
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
