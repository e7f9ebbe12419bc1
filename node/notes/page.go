package notes

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/memory/names"
)

// naming says which names belong to one person or place, and collects the content of the
// pages in a round.
type naming struct {
	ids   map[string]string // by folded name: the entity's id
	pages map[string]*page  // by key
}

// page is about a person, a place or a day.
type page struct {
	kind  string // person, place or day
	title string // for a person or place: the first name that a visible memory has
	names []string
	path  string
	lines []string
}

// dirs are the folders for the kinds of pages.
var dirs = map[string]string{"person": "People", "place": "Places", "day": "Days"}

func (n *naming) nameAll(v *atlas.View) {
	n.ids, n.pages = map[string]string{}, map[string]*page{}
	for i := range v.Entities {
		e := &v.Entities[i]
		for _, name := range append([]string{e.Name}, e.Aliases...) {
			n.ids[names.Fold(name)] = e.ID
		}
	}
}

// page returns the page about somebody or something, and its path in the folder.
func (r *round) page(kind, name string) *page {
	key := names.Fold(name)
	key = kind + "/" + cmp.Or(r.names.ids[key], key)
	p := r.names.pages[key]
	if p == nil {
		p = &page{kind: kind, title: name}
		e := r.dir.State.Pages[key]
		if e == nil {
			e = &entry{Path: r.dir.free(dirs[kind], name, memory.ID{})}
			r.dir.State.Pages[key] = e
		}
		p.path = e.Path
		r.names.pages[key] = p
	}
	if !slices.Contains(p.names, name) {
		p.names = append(p.names, name)
	}
	return p
}

// linksOf returns the links of a memory's note, and adds a line about it to their pages.
func (r *round) linksOf(m *memory.Memory, path string) links {
	var l links
	date := when(m, r.o.Zone).In(r.o.Zone).Format(time.DateOnly)
	day := r.page("day", date)
	on := []*page{day}
	add := func(kind, name string) {
		if name = strings.TrimSpace(name); names.Fold(name) == "" {
			return
		}
		p := r.page(kind, name)
		if slices.Contains(on, p) {
			return
		}
		on = append(on, p)
		if kind == "person" {
			l.people = append(l.people, link(p.path, name))
		} else {
			l.places = append(l.places, link(p.path, name))
		}
	}
	for _, e := range m.Entities {
		if e.Kind == "person" || e.Kind == "place" {
			add(e.Kind, e.Name)
		}
	}
	if f := m.Fields.Episodic; f != nil {
		add("place", f.Place)
	}
	l.day = link(day.path, date)
	line := link(path, linkText(r.titleOf(m)))
	if l.file = r.fileOf(m); l.file != "" {
		day.lines = append(day.lines, "- "+line, "  ![["+l.file+"]]")
	} else {
		day.lines = append(day.lines, "- "+line)
	}
	for _, p := range on[1:] {
		p.lines = append(p.lines, "- "+l.day+" "+line)
	}
	return l
}

func (r *round) titleOf(m *memory.Memory) string {
	if f := m.Fields.Resource; f != nil && strings.TrimSpace(f.Title) != "" {
		return f.Title
	}
	return m.Text
}

// link returns a wikilink that shows a text.
func link(path, text string) string {
	return "[[" + strings.TrimSuffix(path, ".md") + "|" + linkText(text) + "]]"
}

// linkText returns a text in a form that can't end the link in which it is.
func linkText(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = strings.Join(strings.Fields(strings.Map(func(c rune) rune {
		if strings.ContainsRune("[]|\\`<%#", c) {
			return ' '
		}
		return c
	}, s)), " ")
	if r := []rune(s); len(r) > 120 {
		s = string(r[:120]) + "…"
	}
	return cmp.Or(s, "…")
}

// media are the media types of files that notes show, with their file extensions.
var media = map[string]string{"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "image/gif": ".gif", "audio/wav": ".wav", "audio/ogg": ".ogg", "audio/mpeg": ".mp3"}

// fileOf makes sure that the folder has the photo or recording of a memory, and returns its
// path; empty: there is none, or it can't be fetched now.
func (r *round) fileOf(m *memory.Memory) string {
	f := m.Fields.Resource
	if f == nil || f.Blob == "" || media[f.MediaType] == "" {
		return ""
	}
	name := "Files/" + m.ID.String() + media[f.MediaType]
	if err := r.dir.fetch(m.ID, name, func(w io.Writer) error {
		_, _, err := r.node.Media(r.ctx, m.ID.String(), w)
		return err
	}); err != nil {
		r.rep.Failed = append(r.rep.Failed, fmt.Sprintf("%s: %v", name, err))
		return ""
	}
	return name
}

// writePages writes the pages that have changed, and removes those that nothing refers to.
func (r *round) writePages() error {
	for _, key := range slices.Sorted(maps.Keys(r.dir.State.Pages)) {
		e, p := r.dir.State.Pages[key], r.names.pages[key]
		if p == nil {
			if s := r.dir.found[e.Path]; s != nil {
				kept, err := r.dir.retire(e.Path, e.Base)
				if busy(err) {
					continue // a person is editing it, so the next round removes it
				}
				if err != nil {
					return err
				}
				if kept {
					r.rep.Conflicts = append(r.rep.Conflicts, e.Path)
				}
			}
			delete(r.dir.State.Pages, key)
			continue
		}
		d := &made{head: []string{"locket: " + p.kind}}
		if p.kind == "day" {
			d.head = append(d.head, "date: "+p.title)
		} else {
			d.head = append(d.head, property("aliases", p.names[1:])...)
		}
		d.block = strings.Join(p.lines, "\n") + "\n"
		if s := r.dir.found[e.Path]; s != nil && e.Rendered != digest(d.with(nil)) && !r.dir.unchanged(e.Path, e) {
			n, err := r.dir.note(e.Path)
			if err != nil {
				r.fail(e, err)
				continue
			}
			if n.block != "" && digest([]byte(n.block)) != e.Base {
				name, err := r.dir.copyConflict(e.Path, e)
				if busy(err) {
					continue
				}
				if err != nil {
					return err
				}
				r.rep.Conflicts = append(r.rep.Conflicts, name)
			}
		}
		if err := r.dir.writePage(e, d, digest([]byte(d.block))); err != nil {
			return err
		}
	}
	return nil
}
