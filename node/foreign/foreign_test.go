package foreign

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/locket-dev/locket/memory"
)

func read(t *testing.T, f Format, text string) Result {
	t.Helper()
	r, err := Read(t.Context(), f, "file", strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMem0(t *testing.T) {
	r := read(t, Mem0, `{"count": 3, "results": [
		{"id": "892d", "memory": "Vegetarian", "user_id": "dev", "agent_id": "chef", "run_id": null, "metadata": {"type": "diet", "n": 2},
		 "categories": ["food", "health"], "created_at": "2024-07-26T10:29:36.630547-07:00", "updated_at": null, "hash": "x", "score": 0.4},
		{"id": 7, "data": {"memory": "Likes tea"}},
		{"id": 8, "memory": "  "}, 5]}`)
	if len(r.Adds) != 2 || len(r.Skipped) != 2 {
		t.Fatalf("%+v", r)
	}
	a := r.Adds[0]
	if a.Text != "Vegetarian" || *a.Infer || a.Agent != "chef" || a.Metadata["type"] != "diet" || a.Metadata["n"] != "2" || a.Metadata["mem0_id"] != "892d" ||
		a.Metadata["mem0_user"] != "dev" || !slices.Equal(a.Tags, []string{"mem0", "food", "health"}) || !a.At.Equal(time.Date(2024, 7, 26, 17, 29, 36, 630547000, time.UTC)) {
		t.Errorf("%+v", a)
	}
	if r.Adds[1].Text != "Likes tea" || r.Adds[1].Key == a.Key {
		t.Errorf("%+v", r.Adds[1])
	}
	again := read(t, Mem0, `[{"id": "892d", "memory": "Vegetarian"}]`)
	if again.Adds[0].Key != a.Key {
		t.Error("the same memory has two keys")
	}
}

func TestChatGPT(t *testing.T) {
	r := read(t, ChatGPT, "# Saved memories\n\n- [2025-02-03] - Has two cats.\n2. Works as a nurse\n\nPrefers short answers\n")
	var texts []string
	for _, a := range r.Adds {
		texts = append(texts, a.Text)
	}
	if !slices.Equal(texts, []string{"Has two cats.", "Works as a nurse", "Prefers short answers"}) || r.Adds[0].At.Year() != 2025 || !r.Adds[1].At.IsZero() {
		t.Errorf("%q %v", texts, r.Adds[0].At)
	}
	r = read(t, ChatGPT, `{"memories": [{"id": "m1", "content": "Has two cats", "created_at": 1738540800.5}, "Lives in Ghent", 4]}`)
	if len(r.Adds) != 2 || r.Adds[0].At.Unix() != 1738540800 || len(r.Skipped) != 1 {
		t.Errorf("%+v", r)
	}
	// For an edited message, the branch that was shown last is used.
	r = read(t, ChatGPT, `[{"title": "Trip", "create_time": 1700000000, "current_node": "d", "mapping": {
		"a": {"id": "a", "message": null, "parent": null, "children": ["b", "x"]},
		"b": {"message": {"id": "b", "author": {"role": "user"}, "create_time": 1700000001, "content": {"content_type": "text", "parts": ["I moved to Lyon", ""]}}, "parent": "a"},
		"x": {"message": {"id": "x", "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["I moved to Lille"]}}, "parent": "a"},
		"c": {"message": {"id": "c", "author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["Nice"]}}, "parent": "b"},
		"d": {"message": {"id": "d", "author": {"role": "user"}, "content": {"content_type": "multimodal_text", "parts": [{"asset": 1}, "Look at this"]}}, "parent": "c"},
		"e": {"message": {"id": "e", "author": {"role": "user"}, "metadata": {"is_visually_hidden_from_conversation": true}, "content": {"content_type": "text", "parts": ["hidden"]}}, "parent": "d"}}},
		{"current_node": "a", "mapping": {"a": {"parent": "b"}, "b": {"parent": "a"}}}]`)
	if len(r.Adds) != 2 || r.Adds[0].Text != "I moved to Lyon" || !*r.Adds[0].Infer || r.Adds[1].Text != "Look at this" || r.Adds[1].At.Unix() != 1700000000 ||
		r.Adds[0].Metadata["chatgpt_conversation"] != "Trip" || len(r.Adds[0].Tags) > 0 {
		t.Errorf("%+v", r)
	}
}

func TestNotes(t *testing.T) {
	long := strings.Repeat(strings.Repeat("word ", 200)+"\n\n", 120) // 120 kB
	r, err := ReadFolder(t.Context(), Notes, fstest.MapFS{
		"garden.md":        {Data: []byte("---\ntags: [plants, 'home']\ndate: 2024-05-01\n---\n# The garden\n\nTomatoes want #water daily. Not C#1.\n")},
		"sub/plain.md":     {Data: []byte("no heading here\nand more")},
		"rule.md":          {Data: []byte("---\nnot: [yaml\n---\ntext")},
		"long.md":          {Data: []byte("# Long\n\n" + long)},
		"empty.md":         {Data: []byte("  \n")},
		"binary.md":        {Data: []byte("\xff\xfe")},
		".obsidian/app.md": {Data: []byte("hidden")},
		"photo.png":        {Data: []byte("x")},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]int{}
	for _, a := range r.Adds {
		f := a.Fields.Resource
		by[f.Title]++
		if a.Type != memory.Resource || len(a.Text) > memory.MaxText || len(f.Content) > memory.MaxText {
			t.Errorf("%s: %d bytes", f.Title, len(f.Content))
		}
		if f.Title == "The garden" && (!slices.Equal(a.Tags, []string{"home", "notes", "plants", "water"}) || a.At.Month() != time.May || a.Metadata["path"] != "garden.md") {
			t.Errorf("%+v", a)
		}
	}
	if by["The garden"] != 1 || by["plain"] != 1 || by["rule"] != 1 || by["Long (1 of 2)"] != 1 || by["Long (2 of 2)"] != 1 || len(r.Adds) != 5 || len(r.Skipped) != 2 {
		t.Errorf("%v, skipped %v", by, r.Skipped)
	}
	if _, err := ReadFolder(t.Context(), Notes, fstest.MapFS{"a.txt": {}}, Options{}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("no notes: %v", err)
	}
}

func TestSplitText(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want []string
	}{
		{"", 5, nil}, {"short", 5, []string{"short"}}, {"ab cd ef", 5, []string{"ab", "cd ef"}}, {"aa\n\nbb cc", 7, []string{"aa", "bb cc"}},
		{"我们在家里", 7, []string{"我们", "在家", "里"}}, {"abcdefgh", 3, []string{"abc", "def", "gh"}},
	} {
		if got := inPieces(c.text, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%q by %d: %q", c.text, c.n, got)
		}
	}
}

func TestWrongFiles(t *testing.T) {
	for _, c := range []struct {
		f    Format
		text string
	}{{Mem0, "{}"}, {Mem0, "[1"}, {Mem0, "[] []"}, {Mem0, `{"results": 3}`}, {ChatGPT, "{}"}, {ChatGPT, ""}, {ChatGPT, "[{]"}, {Notes, "\xff"}, {"other", "x"},
		{Claude, "{}"}, {Claude, `[{"chat_messages": 3}]`}, {WhatsApp, ""}, {WhatsApp, "words"}, {WhatsApp, "31/31/2026, 08:12 - Ana: x"}, {WhatsApp, "03/04/2026, 08:12 - Ana: x"},
		{Telegram, "{}"}, {Telegram, `{"messages": {}}`}, {Mbox, ""}, {Mbox, "Subject: x"}, {Locations, "{}"}, {Locations, `{"locations": []}`}, {Locations, "3"}} {
		if _, err := Read(t.Context(), c.f, "file", strings.NewReader(c.text), Options{}); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%s %q: %v", c.f, c.text, err)
		}
	}
	for start, want := range map[string]Format{`[{"memory": "x"}]`: Mem0, `[{"title":"x","mapping":{}}]`: ChatGPT, `{"kind":"header"}`: "", "words": "",
		"From ana@example.org Mon Sep 14 08:00:00 2026": Mbox, "[14.09.26, 08:12:33] Ana: x": WhatsApp, "14/09/2026, 08:12 - Ana: x": WhatsApp, `[{"uuid":"1","chat_messages":[]}]`: Claude,
		`{"semanticSegments":[]}`: Locations, `{"name":"Ben","messages":[{"date_unixtime":"1"}]}`: Telegram} {
		if got := Guess("x.json", []byte(start)); got != want {
			t.Errorf("%s is guessed to be %q", start, got)
		}
	}
}

// A file without a word is reported as empty, whatever the format; in a folder an empty note
// is silently skipped.
func TestEmpty(t *testing.T) {
	for _, f := range Formats {
		for _, text := range []string{"", "\xef\xbb\xbf \n\n"} {
			if _, err := Read(t.Context(), f, "file.md", strings.NewReader(text), Options{}); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "file.md: it is empty") {
				t.Errorf("%s %q: %v", f, text, err)
			}
		}
	}
	for _, f := range []Format{Notes, BasicMemory} {
		r, err := ReadFolder(t.Context(), f, fstest.MapFS{"a.md": {}, "b.md": {Data: []byte("# B\n\nwords\n")}}, Options{})
		if err != nil || len(r.Adds) != 1 {
			t.Errorf("%s: %+v, %v", f, r.Adds, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("mem0", `{"results":[{"memory":"x","metadata":{"a":1}}]}`)
	f.Add("chatgpt", `[{"current_node":"a","mapping":{"a":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["x"]}}}}}]`)
	f.Add("notes", "---\ntags: [a]\n---\n# T\n\nx #y")
	f.Add("whatsapp", "[14.09.26, 08:12:33] Ben: words")
	f.Add("mbox", "From x\nSubject: =?utf-8?Q?a?=\n\nb\n")
	f.Add("locations", `{"timelineObjects":[{"placeVisit":{"location":{"name":"x"}}}]}`)
	f.Fuzz(func(t *testing.T, format, text string) {
		r, err := Read(t.Context(), Format(format), "file", strings.NewReader(text), Options{})
		if err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Fatal(err)
		}
		for _, a := range r.Adds {
			if a.Text == "" || len(a.Text) > memory.MaxText || a.Key == "" || a.Metadata.Validate() != nil {
				t.Fatalf("%+v", a)
			}
		}
	})
}
