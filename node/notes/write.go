package notes

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// errBusy: a person has changed the file since it was read.
var errBusy = errors.New("it has just changed: try again")

// busy reports whether an error means that a person is editing the file, which then
// waits for the next round.
func busy(err error) bool { return errors.Is(err, errBusy) || errors.Is(err, fs.ErrNotExist) }

// writeNote writes the content d into the file of an entry, and keeps a person's own
// words. base is the digest for the entry.
func (f *folder) writeNote(e *entry, d *made, base string) error {
	if e.Rendered == digest(d.with(nil)) && f.found[e.Path] != nil {
		f.accept(e, base)
		return nil
	}
	return f.write(e, d, base)
}

// writePage is writeNote for a page: one that a person has deleted is written again only
// when it changes.
func (f *folder) writePage(e *entry, d *made, base string) error {
	if e.Rendered == digest(d.with(nil)) {
		f.accept(e, base)
		return nil
	}
	return f.write(e, d, base)
}

// accept accepts a file as it was found as the state of its entry.
func (f *folder) accept(e *entry, base string) {
	if s := f.found[e.Path]; s != nil {
		e.Size, e.Mod = s.size, s.mod
	}
	e.Base = base
}

func (f *folder) write(e *entry, d *made, base string) error {
	rendered := digest(d.with(nil))
	s := f.found[e.Path]
	var own *note
	if s != nil {
		var err error
		if own, err = f.note(e.Path); err != nil {
			e.held = true
			return nil // it is reported where it is taken; for a page, a person is editing it
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

// put writes a file completely, or not at all. A file that a person has changed since it
// was read stays for the next round.
func (f *folder) put(name string, b []byte) error {
	if err := f.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	part := path.Join(path.Dir(name), ".locket-part")
	if err := f.root.WriteFile(part, b, 0o600); err != nil {
		return errors.Join(err, f.root.Remove(part))
	}
	err := f.checkUnchanged(name)
	if err == nil {
		err = f.root.Rename(part, name)
	}
	if err != nil {
		return errors.Join(err, f.root.Remove(part))
	}
	f.written++
	return nil
}

// checkUnchanged returns nil if a file is as it was when the folder was read, and otherwise an
// error that wraps errBusy. It is called just before the file is replaced or removed.
func (f *folder) checkUnchanged(name string) error {
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

// copyConflict copies a note that a person edited while its memory changed, as a
// separate note of that person. The note itself is written again. With an error for
// which busy is true, nothing has changed.
func (f *folder) copyConflict(name string, e *entry) (string, error) {
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

// unnamed returns a file without the property that makes it the note of a memory.
func unnamed(b []byte) []byte {
	at := mark.FindIndex(b)
	if at == nil {
		return b
	}
	return slices.Concat(b[:at[0]], b[at[1]:])
}

// retire removes a note or page. What a person has written stays: kept says that the
// person had edited what the note said, and then all of it is kept. With an error for
// which busy is true, nothing has changed.
func (f *folder) retire(name, base string) (kept bool, err error) {
	n, err := f.note(name)
	if err != nil {
		return true, nil // it can't be parsed, so it is unknown whose words these are
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
	if err := f.checkUnchanged(name); err != nil {
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
