package foreign

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/locket-dev/locket/memory"
)

var within = Options{Bounded: true}

// over expects the error of a limit, which names the command.
func over(t *testing.T, name string, r Result, err error, want string) {
	t.Helper()
	if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "locket import") || len(r.Adds) > MaxAdds {
		t.Errorf("%s: %d texts, %v; want %q", name, len(r.Adds), err, want)
	}
}

// A file of little but brackets takes a hundred times its size once it is parsed. With limits
// it is refused before that.
func TestDeeplyNestedJSON(t *testing.T) {
	b := []byte("[{}" + strings.Repeat(",{}", MaxHeld/400) + "]")
	for f, known := range readers {
		if !strings.Contains(known.want, "JSON") && f != Claude && f != Letta {
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := Read(t.Context(), f, "x.json", bytes.NewReader(b), within)
		runtime.ReadMemStats(&after)
		over(t, string(f), r, err, "bytes of memory")
		if n := after.TotalAlloc - before.TotalAlloc; n > 16*uint64(len(b)) { // io.ReadAll grows its buffer, too
			t.Errorf("%s: %d bytes allocated for %d", f, n, len(b))
		}
	}
	if _, err := Read(t.Context(), Mem0, "x.json", strings.NewReader(`[{"memory": "a, \"[[ b"}]`), within); err != nil {
		t.Error(err)
	}
}

// Skipped items are listed up to a limit, and counted.
func TestManySkipped(t *testing.T) {
	r := read(t, Mem0, "[{}"+strings.Repeat(",{}", 9_999)+"]")
	if len(r.Skipped) != MaxSkipped || r.More != 10_000-MaxSkipped {
		t.Errorf("%d named, %d more", len(r.Skipped), r.More)
	}
}

func TestManyAdds(t *testing.T) {
	many := func(line string, n int) string { return strings.Repeat(line, n) }
	for name, c := range map[string]struct {
		f    Format
		text string
		want string
	}{
		"lines":        {ChatGPT, many("- tea\n", MaxAdds), "100000 texts"},
		"observations": {BasicMemory, many("- [ab] c\n", MaxAdds), "100000 texts"},
		"pictures":     {WhatsApp, many("14/09/2026, 08:12 - Ana: null\n", 2*MaxAdds+2), "200000 messages"},
		"events":       {Calendar, "BEGIN:VCALENDAR\n" + many("BEGIN:VEVENT\nSUMMARY:a\nEND:VEVENT\n", MaxAdds+1), "100000 events"},
		"metadata": {Letta, `{"blocks": [{"label": "` + many("l", memory.MaxMetadataValue) + `", "value": "` + many(`a\n`, MaxHeld/memory.MaxMetadataValue) + `"}]}`,
			"268435456 bytes"},
	} {
		r, err := Read(t.Context(), c.f, "x.md", strings.NewReader(c.text), within)
		over(t, name, r, err, c.want)
	}
	if r := read(t, ChatGPT, many("- tea\n", MaxAdds)); len(r.Adds) != MaxAdds {
		t.Errorf("%d without bounds", len(r.Adds))
	}
}

// A folder has its own limit, however small its files are.
func TestLargeFolder(t *testing.T) {
	half := &fstest.MapFile{Data: []byte("# A\n" + strings.Repeat("\n", MaxFolder/2))}
	r, err := ReadFolder(t.Context(), Notes, fstest.MapFS{"a.md": half, "b.md": half}, within)
	over(t, "folder", r, err, "b.md: the files up to it")
}

// Each piece of a note has its tags, and a title leaves room for the text.
func TestLargeNote(t *testing.T) {
	var tags strings.Builder
	for i := range 500 {
		tags.WriteString(" #t" + strings.Repeat("x", i))
	}
	r := read(t, Notes, "# "+strings.Repeat("long ", memory.MaxText)+"\n"+tags.String())
	if len(r.Adds) < 2 || len(r.Adds[0].Tags) != maxTags || len(r.Skipped) != 1 {
		t.Errorf("%d pieces, %d tags, %v", len(r.Adds), len(r.Adds[0].Tags), r.Skipped)
	}
}

// A pipe in a folder is skipped and reported, because opening it would wait for a writer.
func TestPipeIsSkipped(t *testing.T) {
	r, err := ReadFolder(t.Context(), Notes, fstest.MapFS{"a.md": {Data: []byte("# A\nb")}, "p.md": {Mode: fs.ModeNamedPipe | 0o600, Data: []byte("no")}}, Options{})
	if err != nil || len(r.Adds) != 1 || len(r.Skipped) != 1 || r.Skipped[0].Where != "p.md" {
		t.Errorf("%+v, %v", r, err)
	}
}

// ending is a file whose context ends in the middle.
type ending struct {
	end  func()
	left int
}

func (e *ending) Read(p []byte) (int, error) {
	if e.left--; e.left == 0 {
		e.end()
	}
	return copy(p, "- tea\n"), nil
}

// Reading ends with its context: in the directory walk, during a file, and among its texts.
func TestReadingIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Read(ctx, ChatGPT, "x", &ending{cancel, 3}, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := ReadFolder(ctx, Notes, fstest.MapFS{"a.md": {Data: []byte("# A\nb")}}, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for f, text := range map[Format]string{ChatGPT: "- tea\n", Mem0: `[{"memory": "tea"}]`, Notes: "# A\nb", Mbox: "From a\nSubject: b\n\nc\n"} {
		r := Result{ctx: ctx}
		if _ = readers[f].read(&r, "x", []byte(text), Options{}); r.err == nil || len(r.Adds) > 0 {
			t.Errorf("%s: %d texts, %v", f, len(r.Adds), r.err)
		}
	}
}

// The cost of a chat message with many lines is linear in its length, and not quadratic.
func TestLongMessage(t *testing.T) {
	text := "14/09/2026, 08:12 - Ana: a" + strings.Repeat("\n", 40_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read(t.Context(), WhatsApp, "x", strings.NewReader(text), Options{Dates: "dmy"})
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > 64<<20 {
		t.Errorf("%d bytes allocated for %d, %v", n, len(text), err)
	}
}
