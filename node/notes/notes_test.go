package notes

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
)

// memoryOf draws a memory whose texts have every mark that Markdown and Obsidian know.
func memoryOf(t *rapid.T) *memory.Memory {
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab1. 张é\n\t\\`[]|<>~#%!(){}*_=&$^-:\"'")))
	m := &memory.Memory{ID: memory.ID{1}, Learnt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	m.Text = "x" + text.Draw(t, "text") + "x"
	m.Tags = rapid.SliceOfN(rapid.StringMatching("[a-z][a-z /_-]{0,6}[a-z]"), 0, 3).Draw(t, "tags")
	switch rapid.IntRange(0, 2).Draw(t, "type") {
	case 1:
		m.Type = memory.Procedural
		m.Fields.Procedural = &memory.ProceduralFields{EntryType: "guide"}
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			m.Fields.Procedural.Steps = append(m.Fields.Procedural.Steps, "s"+text.Draw(t, "step")+"s")
		}
	case 2:
		m.Type = memory.Resource
		m.Fields.Resource = &memory.ResourceFields{MediaType: "text/plain", Content: "c" + text.Draw(t, "content") + "c"}
	default:
		m.Type = memory.Semantic
	}
	return m
}

// A note says what its memory says, so nobody's words are mistaken for an edit; and
// nothing in a memory's words becomes a link, a picture, code or the note's own block.
func TestNoteTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := memoryOf(t)
		l := links{day: "[[Days/2026-03-01|2026-03-01]]", people: []string{"[[People/Ann|Ann]]"}}
		b := render(m, l, time.UTC).with(&note{extra: "mine: 1\n", tail: "my own words"})
		n, err := parse(b)
		if err != nil || n.bad != nil {
			t.Fatalf("%v, %v\n%s", err, n, b)
		}
		if n.Text != m.Text {
			t.Fatalf("%q became %q", m.Text, n.Text)
		}
		if f := m.Fields.Resource; f != nil && n.Content != f.Content && f.Content != m.Text {
			t.Fatalf("%q became %q", f.Content, n.Content)
		}
		if f := m.Fields.Procedural; f != nil {
			for i, s := range f.Steps {
				if len(n.Steps) != len(f.Steps) || strings.Join(strings.Fields(n.Steps[i]), " ") != strings.Join(strings.Fields(s), " ") {
					t.Fatalf("%q became %q", f.Steps, n.Steps)
				}
			}
		}
		if is := parsed(m); is.sum() != n.sum() {
			t.Fatalf("it looks edited:\n%s", b)
		}
		if r, err := n.edit(n, m, "x.md"); err != nil || r.Text != nil || r.Fields != nil || len(r.Tag)+len(r.Untag) > 0 {
			t.Fatalf("an edit of nothing: %+v", r)
		}
		if n.extra != "mine: 1\n" || n.tail != "my own words" {
			t.Fatalf("%q, %q", n.extra, n.tail)
		}
		said, _, _ := strings.Cut(string(b), blockBegin)
		_, said, _ = strings.Cut(said, "\n---\n")
		for _, mark := range []string{"[", "<", "`", "%", "~"} {
			if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(said, `\\`, ""), `\`+mark, ""), mark) {
				t.Fatalf("%s acts in\n%s", mark, said)
			}
		}
	})
}

// A day that was said in Tokyo has the same date in the notes of a node in Berlin.
func TestNoteOfADayElsewhere(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	m := &memory.Memory{ID: memory.ID{1}}
	m.Type, m.Text, m.Slot = memory.Episodic, "a stay", &memory.Slot{Subject: "user", Attribute: "plan: stay", Value: "2026-11-10"}
	m.Fields.Episodic = &memory.EpisodicFields{Started: time.Date(2026, 11, 9, 15, 0, 0, 0, time.UTC)}
	if b := string(render(m, links{}, berlin).with(&note{})); !strings.Contains(b, "\ndate: 2026-11-10\n") {
		t.Fatal(b)
	}
}

// A person's wikilinks count as their words.
func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"[[People/Ann|Ann]] likes tea": "Ann likes tea", "[[Ann]] and [[People/Bo]]": "Ann and Bo", "see [[Plan#June]]": "see Plan",
		`a \# b \\ c`: `a # b \ c`, "![[photo.jpg]]": "photo.jpg", "[[": "[[",
	} {
		if got := unescape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A property that is not YAML, or a block without an end, is an error, and no file
// causes a panic.
func TestParseRefuses(t *testing.T) {
	for _, in := range []string{"---\na: [\n---\nx", "---\ntags: {a: 1}\n---\nx", "x\n" + blockBegin + "\nrest"} {
		if n, err := parse([]byte(in)); err == nil {
			t.Errorf("%q: %+v", in, n)
		}
	}
	if n, err := parse([]byte("x\n\n## Steps\n\nno number\n")); err != nil || n.bad == nil {
		t.Errorf("%+v, %v", n, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		_, _ = parse([]byte("---\n" + rapid.String().Draw(t, "head") + "\n---\n" + rapid.String().Draw(t, "body")))
	})
}

// Whatever a memory says, its file stays in its folder and has a name that is valid on
// every system.
func TestThreatNoteNames(t *testing.T) {
	for title, want := range map[string]string{
		"../../etc/passwd": "Memories/etc passwd.md", ".hidden": "Memories/hidden.md", "": "Memories/Memory.md", "CON": "Memories/Memory CON.md",
		"a|b#c^d[[e]]%%": "Memories/a b c d e.md", "x\x00\u202ey": "Memories/x y.md", strings.Repeat("长", 90): "Memories/" + strings.Repeat("长", 45) + ".md", "a.": "Memories/a.md",
	} {
		f := &folder{taken: map[string]bool{}}
		if got := f.free("Memories", title, memory.ID{7}); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
		if got := f.free("Memories", title, memory.ID{8}); strings.EqualFold(got, want) || len(got) > 255 {
			t.Errorf("%q again: %q", title, got)
		}
	}
}
