package notes

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// homeFolder is a folder on disk, which look opens again as the next round does.
type homeFolder struct {
	*testing.T
	root *os.Root
}

func newFolder(t *testing.T) *homeFolder {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return &homeFolder{t, root}
}

func (h *homeFolder) look() *folder {
	h.Helper()
	f, err := openFolder(h.root, false)
	if err != nil {
		h.Fatal(err)
	}
	return f
}

func (h *homeFolder) read(name string) string {
	h.Helper()
	b, err := h.root.ReadFile(name)
	if err != nil {
		h.Fatal(err)
	}
	return string(b)
}

// edit writes a file as an editor does, with a time that differs from the one seen
// before.
func (h *homeFolder) edit(name, text string) {
	h.Helper()
	if err := h.root.WriteFile(name, []byte(text), 0o600); err != nil {
		h.Fatal(err)
	}
	later := time.Now().Add(time.Minute)
	if err := h.root.Chtimes(name, later, later); err != nil {
		h.Fatal(err)
	}
}

// put writes the note of a memory, and saves the state.
func (h *homeFolder) put(m *memory.Memory, l links) *entry {
	h.Helper()
	f := h.look()
	e := f.State.Notes[m.ID]
	if e == nil {
		e = &entry{Path: "Memories/a.md"}
		f.State.Notes[m.ID] = e
	}
	is := parsed(m)
	if err := f.writeNote(e, render(m, l, time.UTC), is.sum()); err != nil {
		h.Fatal(err)
	}
	if err := f.save(); err != nil {
		h.Fatal(err)
	}
	return e
}

func tea() *memory.Memory {
	m := &memory.Memory{ID: memory.ID{1}, Learnt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	m.Type, m.Text = memory.Semantic, "Ann likes green tea"
	return m
}

// A note that is written again states its memory once: after edits by a person, after
// changes of the memory, and after a new tag, link or photo.
func TestNoteIsRewrittenOnce(t *testing.T) {
	h, m := newFolder(t), tea()
	m.Type, m.Fields.Procedural = memory.Procedural, &memory.ProceduralFields{EntryType: "guide", Steps: []string{"boil", "pour"}}
	l := links{day: "[[Days/2026-03-01|2026-03-01]]"}
	check := func(what string) {
		t.Helper()
		h.put(m, l)
		text := h.read("Memories/a.md")
		n, err := parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if is := parsed(m); n.Text != m.Text || n.sum() != is.sum() {
			t.Fatalf("after %s the memory is %q, and its note\n%s", what, m.Text, text)
		}
	}
	check("the first note")
	for _, to := range []string{"black tea", "coffee"} {
		is := parsed(m)
		text := h.read("Memories/a.md")
		at := strings.LastIndex(m.Text, "likes ") + len("likes ")
		h.edit("Memories/a.md", strings.Replace(text, m.Text, m.Text[:at]+to, 1)+"\nMy own words.\n")
		has, err := h.look().note("Memories/a.md")
		if err != nil {
			t.Fatal(err)
		}
		r, err := is.edit(has, m, "Memories/a.md")
		if err != nil || r.Text == nil || *r.Text != "Ann likes "+to || r.Fields != nil {
			t.Fatalf("the edit is %+v, %v", r, err)
		}
		m.Text = *r.Text
		check("an edit")
	}
	m.Tags = []string{"drink"}
	check("a new tag")
	l.people = []string{"[[People/Ann|Ann]]"}
	check("a new link")
	l.file = "Files/a.jpg"
	check("a new photo")
	m.Text = "Ann likes water"
	check("a change of the memory")
	if text := h.read("Memories/a.md"); strings.Count(text, "My own words.") != 2 {
		t.Fatalf("the person's words:\n%s", text)
	}
}

// A rule about the memory has no note, and no edit creates or removes a rule.
func TestThreatNoteEditsRules(t *testing.T) {
	m := tea()
	r := &round{o: Options{Sensitivity: memory.Secret}}
	m.State = memory.Active
	if !r.wanted(m) {
		t.Fatal("an ordinary memory has no note")
	}
	for _, tag := range []string{memory.RulesTag, memory.WaitingTag} {
		rule := *m
		rule.Tags = []string{"sharing", tag}
		if r.wanted(&rule) {
			t.Errorf("a memory with the tag %s has a note", tag)
		}
	}
	for _, tag := range []string{"locket:rules", "Locket:Rules", "locket:other", "waiting"} {
		is, has := parsed(m), parsed(m)
		has.Tags = []string{tag}
		if change, err := is.edit(&has, m, "a.md"); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%s: %+v, %v", tag, change, err)
		}
	}
	m.Tags = []string{"locket:other", "drink"}
	is, has := parsed(m), parsed(m)
	has.Tags = nil
	if change, err := is.edit(&has, m, "a.md"); err != nil || len(change.Untag) != 1 || change.Untag[0] != "drink" {
		t.Errorf("%+v, %v", change, err)
	}
}

// A state that this program did not write is refused, and nothing panics.
func TestInvalidStateIsRefused(t *testing.T) {
	for _, in := range []string{"{", "null", "[]", `{"version":2}`, `{"version":1,"pages":{"day/x":null}}`, `{"version":1,"notes":{"` + tea().ID.String() + `":null}}`} {
		h := newFolder(t)
		h.edit(StateFile, in)
		if _, err := openFolder(h.root, false); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// A note that a person changes or removes while it is being retired or set aside stays
// as that person left it, and so does what is known of it.
func TestNoteEditedDuringSync(t *testing.T) {
	for name, change := range map[string]func(h *homeFolder){
		"edited":  func(h *homeFolder) { h.edit("Memories/a.md", "mine") },
		"removed": func(h *homeFolder) { _ = h.root.Remove("Memories/a.md") },
	} {
		h := newFolder(t)
		h.put(tea(), links{})
		f := h.look()
		e := f.State.Notes[tea().ID]
		r := &round{dir: f, known: map[memory.ID]*memory.Memory{}}
		change(h)
		was := *e
		if err := r.removeStale(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if b, err := h.root.ReadFile("Memories/a.md"); name == "edited" && string(b) != "mine" || name == "removed" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the note is %q, %v", name, b, err)
		}
		if name == "removed" {
			if _, err := f.copyConflict("Memories/a.md", e); !busy(err) || *e != was {
				t.Errorf("%s: set aside: %v, %+v", name, err, e)
			}
		}
	}
	// Somebody removes the note between the check and the removal.
	h := newFolder(t)
	e := h.put(tea(), links{})
	f := h.look()
	h.edit("Memories/a.md", h.read("Memories/a.md"))
	if _, err := f.retire("Memories/a.md", e.Base); !busy(err) {
		t.Errorf("a note that was saved in this moment was retired: %v", err)
	}
	h.read("Memories/a.md")
}

// forgets runs the part of a round that forgets, for a person who has agreed to forget
// the memory of each deleted note, and returns the report and the requests that the
// node got.
func (h *homeFolder) forgets(known []*memory.Memory, o Options, meanwhile func()) (rep Report, requests []string) {
	h.Helper()
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		requests = append(requests, q.Method+" "+q.URL.Path)
		fmt.Fprint(w, "{}")
	}))
	defer node.Close()
	r := &round{ctx: h.Context(), node: serve.Dial("tcp", node.Listener.Addr().String(), ""), dir: h.look(), o: o, known: map[memory.ID]*memory.Memory{}}
	r.o.Ask = func(string, *memory.Memory) Answer { return Forget }
	for _, m := range known {
		r.known[m.ID] = m
	}
	for _, m := range known {
		if err := r.takeNote(m.ID); err != nil {
			h.Fatal(err)
		}
	}
	if meanwhile != nil {
		meanwhile()
	}
	if err := r.forgetDeleted(); err != nil {
		h.Fatal(err)
	}
	return r.rep, requests
}

// A memory is forgotten when its note is gone, and not when the file is only broken,
// unreadable on the disk, or away for a moment.
func TestDeletedNoteForgetsItsMemory(t *testing.T) {
	const name = "Memories/a.md"
	whole := func(h *homeFolder) string { return h.read(name) }
	for what, c := range map[string]struct {
		do   func(h *homeFolder)
		says string // part of the reason why the note is held; empty: it is forgotten
	}{
		"deleted":        {func(h *homeFolder) { _ = h.root.Remove(name) }, ""},
		"too large":      {func(h *homeFolder) { h.edit(name, whole(h)+string(bytes.Repeat([]byte("x"), maxNote))) }, "bytes, at most"},
		"empty":          {func(h *homeFolder) { h.edit(name, "") }, "empty"},
		"cut":            {func(h *homeFolder) { h.edit(name, whole(h)[:20]) }, "no property locket"},
		"no properties":  {func(h *homeFolder) { h.edit(name, "Ann likes green tea") }, "no property locket"},
		"another's note": {func(h *homeFolder) { h.edit(name, "---\nlocket: "+memory.ID{9}.String()+"\n---\nx") }, "another memory"},
		"a folder":       {func(h *homeFolder) { _ = h.root.Remove(name); _ = h.root.Mkdir(name, 0o700) }, "exists, but can't be read"},
		"in iCloud":      {func(h *homeFolder) { _ = h.root.Rename(name, "Memories/.a.md.icloud") }, ".a.md.icloud exists"},
	} {
		h := newFolder(t)
		h.put(tea(), links{})
		c.do(h)
		rep, requests := h.forgets([]*memory.Memory{tea()}, Options{}, nil)
		if c.says == "" {
			if rep.Forgotten != 1 || len(requests) != 1 || !strings.HasPrefix(requests[0], "DELETE ") || !strings.Contains(requests[0], tea().ID.String()) {
				t.Errorf("%s: %+v, %q", what, rep, requests)
			}
		} else if len(requests) > 0 || rep.Forgotten > 0 || len(rep.Failed) != 1 || !strings.HasPrefix(rep.Failed[0], name) || !strings.Contains(rep.Failed[0], c.says) {
			t.Errorf("%s: %+v, %q", what, rep, requests)
		}
	}
	// An editor puts the note back before the second look, or the whole folder
	// disappears.
	for what, then := range map[string]func(h *homeFolder){
		"put back":      func(h *homeFolder) { _ = h.root.Rename("away", name) },
		"state removed": func(h *homeFolder) { _ = h.root.Remove(StateFile) },
	} {
		h := newFolder(t)
		h.put(tea(), links{})
		_ = h.root.Rename(name, "away")
		if rep, requests := h.forgets([]*memory.Memory{tea()}, Options{}, func() { then(h) }); len(requests) > 0 || rep.Forgotten > 0 {
			t.Errorf("%s: %+v, %q", what, rep, requests)
		}
	}
}

// Where many notes are missing at once, none of their memories is forgotten unless a
// person says that this was meant.
func TestForgettingManyNeedsConsent(t *testing.T) {
	for _, c := range []struct{ notes, deleted, forgotten int }{{12, 11, 0}, {11, 10, 10}, {60, 12, 12}, {59, 12, 0}} {
		for _, meant := range []bool{false, true} {
			h := newFolder(t)
			f := h.look()
			var known []*memory.Memory
			for i := range c.notes {
				m := tea()
				m.ID = memory.ID{byte(i + 1)}
				known = append(known, m)
				e, is := &entry{Path: fmt.Sprintf("Memories/%d.md", i)}, parsed(m)
				f.State.Notes[m.ID] = e
				if err := f.writeNote(e, render(m, links{}, time.UTC), is.sum()); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.save(); err != nil {
				t.Fatal(err)
			}
			for i := range c.deleted {
				_ = h.root.Remove(fmt.Sprintf("Memories/%d.md", i))
			}
			want := c.forgotten
			if meant {
				want = c.deleted
			}
			rep, requests := h.forgets(known, Options{Many: func(int, int) bool { return meant }}, nil)
			if rep.Forgotten != want || len(requests) != want || (want == 0) != (len(rep.Failed) == 1) {
				t.Errorf("%+v, meant %v: %+v, %d requests", c, meant, rep, len(requests))
			}
		}
	}
}
