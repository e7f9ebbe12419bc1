package archive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// titles are the titles of the pages, by type.
var titles = map[memory.Type]string{
	memory.Core: "Who this is", memory.Semantic: "What is so", memory.Procedural: "How things are done",
	memory.Resource: "Photos, recordings, documents", memory.Vault: "Secrets",
}

// page is a file that is being written.
type page struct{ strings.Builder }

func (p *page) linef(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// comment writes a record into a comment.
func (p *page) comment(kind string, raw json.RawMessage) { p.linef("<!-- locket:%s %s -->", kind, raw) }

// render returns the pages by name. It is a pure function of the records.
func (n *notebook) render() map[string]string {
	n.sort()
	said := map[memory.ID][]json.RawMessage{}
	for i := range n.assertions {
		a := &n.assertions[i]
		said[a.says.Memory] = append(said[a.says.Memory], a.raw)
	}
	files := map[memory.ID]*fileOf{}
	for i := range n.files {
		files[n.files[i].Owner] = &n.files[i]
	}
	pages := map[string]*page{}
	on := func(name, title string) *page {
		if pages[name] == nil {
			pages[name] = &page{}
			pages[name].linef("# %s\n", title)
		}
		return pages[name]
	}
	for i := range n.utterances {
		u := &n.utterances[i].says
		p := on(n.day(u.At))
		who := cmp.Or(u.Speaker, "someone")
		p.linef("- %s **%s**: %s\n", u.At.In(n.zone).Format("15:04"), plain(who), plain(u.Text))
		p.comment(KindUtterance, n.utterances[i].raw)
		p.linef("")
	}
	counts := map[memory.Type]int{}
	for _, m := range n.memories() {
		name, title := string(m.Type)+".md", titles[m.Type]
		if m.Type == memory.Episodic {
			name, title = n.day(when(&m, n.zone))
		}
		p := on(name, title)
		if m.State != memory.Erased {
			n.memory(p, &m, files[m.ID])
			counts[m.Type]++
		}
		for _, raw := range said[m.ID] {
			p.comment(KindAssertion, raw)
		}
		delete(said, m.ID)
		if f := files[m.ID]; f != nil {
			raw, _ := json.Marshal(f) // texts can always be encoded
			p.comment("file", raw)
			delete(files, m.ID)
		}
		p.linef("")
	}
	n.readme(on("README.md", "The memories of "+plain(cmp.Or(n.header.Wearer, "somebody"))), counts)
	last := pages["README.md"]
	for _, id := range sorting.Sorted(maps.Keys(said), compareIDs) { // memories for which there is no proposal here
		for _, raw := range said[id] {
			last.comment(KindAssertion, raw)
		}
	}
	for _, id := range sorting.Sorted(maps.Keys(files), compareIDs) {
		raw, _ := json.Marshal(files[id])
		last.comment("file", raw)
	}
	last.comment(KindHeader, n.headerLine)
	for _, r := range n.tail {
		last.comment(r.Kind, r.Data)
	}
	out := map[string]string{}
	for name, p := range pages {
		out[name] = p.String()
	}
	return out
}

func (n *notebook) readme(p *page, counts map[memory.Type]int) {
	p.linef("Exported on %s: %d lines that were said, and these memories:\n", n.at(n.header.At), len(n.utterances))
	for _, t := range memory.Types {
		switch {
		case counts[t] == 0:
		case t == memory.Episodic:
			p.linef("- %d in [days](days/)", counts[t])
		default:
			p.linef("- %d in [%s.md](%s.md): %s", counts[t], t, t, titles[t])
		}
	}
	p.linef("\nThe comments in these files are the records themselves. `locket import FOLDER` takes them in again; what is changed")
	p.linef("in the words around them is not taken, and named.\n")
}

// memory writes one memory as text.
func (n *notebook) memory(p *page, m *memory.Memory, file *fileOf) {
	p.linef("## %s\n", plain(m.Text))
	var marks []string
	if m.State != memory.Active {
		marks = append(marks, string(m.State))
	}
	if m.Pinned {
		marks = append(marks, "pinned")
	}
	if m.Negates {
		marks = append(marks, "no longer so")
	}
	marks = append(marks, m.Sensitivity.String())
	p.linef("*%s · %s%s · heard %d×*\n", m.Type, strings.Join(marks, " · "), n.span(m), m.Heard)
	n.fields(p, m)
	if file != nil && m.Fields.Resource != nil {
		picture := ""
		if strings.HasPrefix(m.Fields.Resource.MediaType, "image/") {
			picture = "!"
		}
		p.linef("%s[%s](%s)\n", picture, plain(m.Fields.Resource.Title), file.path())
	}
	if len(m.Tags) > 0 {
		p.linef("Tags: %s\n", plain(strings.Join(m.Tags, ", ")))
	}
	for _, e := range m.Evidence {
		if e.Excerpt != "" {
			p.linef("> %s — %s, %s\n", plain(e.Excerpt), plain(cmp.Or(e.Speaker, "someone")), n.at(e.At))
		}
	}
}

func (n *notebook) fields(p *page, m *memory.Memory) {
	if f := m.Fields.Procedural; f != nil {
		for i, s := range f.Steps {
			p.linef("%d. %s", i+1, plain(s))
		}
		p.linef("")
	}
	if f := m.Fields.Resource; f != nil && f.Content != "" {
		p.linef("%s\n", quote(f.Content))
	}
	if f := m.Fields.Episodic; f != nil && f.Place != "" {
		p.linef("Place: %s\n", plain(f.Place))
	}
	if f := m.Fields.Vault; f != nil {
		p.linef("A %s; it is sealed, or stands in the comment where the export was made with secrets.\n", plain(f.EntryType))
	}
}

// span returns the period in which a memory is true, in words.
func (n *notebook) span(m *memory.Memory) string {
	s := ""
	if !m.TrueFrom.IsZero() {
		s = " · from " + m.TrueFrom.In(n.zone).Format(time.DateOnly)
	}
	if !m.TrueTo.IsZero() {
		s += " to " + m.TrueTo.In(n.zone).Format(time.DateOnly)
	}
	return s
}

// when returns the day under which an episodic memory is listed.
func when(m *memory.Memory, zone *time.Location) time.Time {
	said := m.TrueFrom
	if said.IsZero() {
		said = m.Learnt
	}
	return m.StartTime(zone, said)
}

// day returns the page name and the title of a day.
func (n *notebook) day(t time.Time) (name, title string) {
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return "days/undated.md", "Without a date"
	}
	t = t.In(n.zone)
	return "days/" + t.Format(time.DateOnly) + ".md", t.Format("Monday, 2 January 2006")
}

func (n *notebook) at(t time.Time) string { return t.In(n.zone).Format("Mon 2 Jan 2006 15:04") }

var special = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "\r", " ", "\n", " ", "|", `\|`)

// plain returns a text on one line in which nothing is Markdown or HTML.
func plain(s string) string { return special.Replace(s) }

// quote returns a text of several lines in which nothing is Markdown or HTML.
func quote(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight("> "+plain(lines[i]), " ")
	}
	return strings.Join(lines, "\n")
}

func compareIDs(a, b memory.ID) int { return slices.Compare(a[:], b[:]) }
