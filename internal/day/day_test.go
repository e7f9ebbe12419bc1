package day

import (
	"bytes"
	"errors"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/locket-dev/locket/memory"
)

const (
	folder    = "../../testdata/day"
	recording = "../../wasm/plugins/speech/testdata/audio/jfk.wav"
)

func mustFixed(t testing.TB) *Day {
	t.Helper()
	d, err := Fixed()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// File returns the bytes of one of the day's files. They must not be changed.
func (d *Day) File(name string) ([]byte, bool) {
	b, ok := d.files[name]
	return b, ok
}

func chinese(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

func TestFixedDayIsComplete(t *testing.T) {
	d := mustFixed(t)
	talk, zh, speakers, kinds := 0, 0, map[string]bool{}, map[memory.Kind]int{}
	for _, l := range d.Lines {
		kinds[l.Kind]++
		if l.Kind != memory.KindText {
			continue
		}
		talk++
		speakers[l.Speaker] = true
		if chinese(l.Text) != (l.Lang == "zh") {
			t.Errorf("line %d: lang %q", l.Number, l.Lang)
		}
		if l.Lang == "zh" {
			zh++
		}
	}
	if talk < 90 || zh < 12 || len(speakers) < 5 || !speakers[d.Wearer] {
		t.Errorf("%d lines of talk, %d of them Chinese, %d speakers", talk, zh, len(speakers))
	}
	for _, k := range []memory.Kind{memory.KindPhoto, memory.KindAudio, memory.KindLocation, memory.KindSensor, memory.KindButton, memory.KindGap} {
		if kinds[k] == 0 {
			t.Errorf("no line of kind %s", k)
		}
	}
	checkExpect(t, d)
}

// checkExpect is for every day, fixed or generated.
func checkExpect(t *testing.T, d *Day) {
	t.Helper()
	e := d.Expect
	langs, changes, split := map[string]int{}, 0, 0
	for _, q := range e.Questions {
		langs[q.Lang]++
		if len(q.Current) > 0 {
			changes++
		}
		if len(q.Answer) > 0 && !holdsAny(said(d, q.Lines), q.Answer) {
			t.Errorf("question %q: no line of %v holds any of %q", q.Question, q.Lines, q.Answer)
		}
		if len(q.Current) > 0 && (!holdsAny(said(d, q.Lines), q.Current) || !holdsAny(said(d, q.FormerLines), q.Former)) {
			t.Errorf("question %q: the lines hold neither value", q.Question)
		}
	}
	for _, s := range e.Secrets {
		if len(s.Lines) > 1 {
			split++
		}
		for _, l := range d.Lines {
			if l.Kind != memory.KindText && holdsAny(l.Name+" "+l.Reason, s.Forms) {
				t.Errorf("secret %q stands in line %d, which nobody said", s.Name, l.Number)
			}
		}
		for _, q := range e.Questions {
			if holdsAny(q.Question+" "+strings.Join(q.Answer, " "), s.Forms) {
				t.Errorf("secret %q stands in a question", s.Name)
			}
		}
		if holdsAny(strings.Join(s.Label, " "), s.Forms) {
			t.Errorf("secret %q stands in its label", s.Name)
		}
	}
	if len(e.Questions) < 25 || langs["en"] == 0 || langs["zh"] == 0 || changes < 2 || len(e.Secrets) < 2 || split == 0 {
		t.Errorf("%d questions (%v), %d of a change, %d secrets, %d of them split", len(e.Questions), langs, changes, len(e.Secrets), split)
	}
	kinds := map[string]int{}
	for _, r := range e.Refused {
		for _, k := range r.Kinds {
			kinds[k]++
		}
	}
	for _, k := range []string{"filler", "greeting", "question", "command"} {
		if kinds[k] == 0 {
			t.Errorf("nothing to be refused as a %s", k)
		}
	}
	if len(e.Procedures) == 0 || e.Procedures[0].Steps < 4 || len(e.Photos.Alike) == 0 || len(e.Notes) == 0 || len(e.Gaps) == 0 {
		t.Errorf("procedures %v, photos %v, notes %v, gaps %v", e.Procedures, e.Photos, e.Notes, e.Gaps)
	}
}

func said(d *Day, lines []int) string {
	var b strings.Builder
	for _, n := range lines {
		l, _ := d.Line(n)
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

func TestEmbeddedIsTheFolder(t *testing.T) {
	d, err := load(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	f := mustFixed(t)
	for _, n := range f.FileNames() {
		a, _ := d.File(n)
		b, _ := f.File(n)
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs", n)
		}
	}
}

func TestLicencesNameEveryFile(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(folder, "LICENSES.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|[^|]+\\|[^|]+\\|$").FindAllSubmatch(b, -1) {
		named[string(m[1])] = true
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, e := range entries {
		if !named[e.Name()] {
			t.Errorf("%s has no licence", e.Name())
		}
		delete(named, e.Name())
		i, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += i.Size()
	}
	if len(named) > 0 {
		t.Errorf("licences of files that are not there: %v", named)
	}
	if total > 1<<20 {
		t.Errorf("%d bytes go into every binary, at most 1 MiB", total)
	}
}

func TestNotePicturesAreCurrent(t *testing.T) {
	d := mustFixed(t)
	for _, n := range d.Expect.Notes {
		have, _ := d.File(n.File)
		want, err := RenderNote(n.Text)
		if err != nil {
			t.Fatal(err)
		}
		a, _, err1 := image.Decode(bytes.NewReader(have))
		b, _, err2 := image.Decode(bytes.NewReader(want))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if !bytes.Equal(a.(*image.Gray).Pix, b.(*image.Gray).Pix) {
			t.Errorf("%s is not what RenderNote draws", n.File)
		}
	}
}

func TestWriteAndLoadAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "day")
	d := mustFixed(t)
	if err := d.Write(dir); err != nil {
		t.Fatal(err)
	}
	again, err := load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Lines) != len(d.Lines) || len(again.FileNames()) != len(d.FileNames()) {
		t.Errorf("%d lines, %v", len(again.Lines), again.FileNames())
	}
}

const tinyHeader = `{"kind":"day","date":"2026-09-14","zone":"Asia/Shanghai","wearer":"Mei"}` + "\n"

func TestLoadNamesTheLine(t *testing.T) {
	hello := `{"at":"2026-09-14T08:00:00+08:00","kind":"text","device":"pin","text":"hello"}` + "\n"
	for name, c := range map[string]struct{ lines, expect, want string }{
		"no header":         {hello, `{}`, "day.jsonl:1:"},
		"bad zone":          {strings.Replace(tinyHeader, "Shanghai", "Atlantis", 1), `{}`, "day.jsonl:1:"},
		"bad date":          {strings.Replace(tinyHeader, "09-14", "9-14", 1), `{}`, "day.jsonl:1: date"},
		"not JSON":          {tinyHeader + hello + "{\n", `{}`, "day.jsonl:3:"},
		"empty line":        {tinyHeader + "\n" + hello, `{}`, "day.jsonl:2:"},
		"two values":        {tinyHeader + strings.TrimSpace(hello) + hello, `{}`, "day.jsonl:2: byte"},
		"unknown field":     {tinyHeader + strings.Replace(hello, "text\":\"h", "tekst\":\"h", 1), `{}`, "tekst"},
		"unknown kind":      {tinyHeader + strings.Replace(hello, `"kind":"text"`, `"kind":"smell"`, 1), `{}`, "day.jsonl:2: kind"},
		"field of another":  {tinyHeader + strings.Replace(hello, `"text":"hello"`, `"text":"hello","lat":1`, 1), `{}`, "belongs to another kind"},
		"blank text":        {tinyHeader + strings.Replace(hello, "hello", " ", 1), `{}`, "text: empty"},
		"back in time":      {tinyHeader + hello + strings.Replace(hello, "T08", "T07", 1), `{}`, "day.jsonl:3: at:"},
		"another day":       {tinyHeader + strings.Replace(hello, "14T", "15T", 1), `{}`, "not on the day"},
		"wrong offset":      {tinyHeader + strings.Replace(hello, "+08:00", "+09:00", 1), `{}`, "offset"},
		"file outside":      {tinyHeader + strings.Replace(hello, `"kind":"text","device":"pin","text":"hello"`, `"kind":"photo","device":"pin","file":"../x.png"`, 1), `{}`, "day.jsonl:2: file"},
		"file missing":      {tinyHeader + strings.Replace(hello, `"kind":"text","device":"pin","text":"hello"`, `"kind":"photo","device":"pin","file":"x.png"`, 1), `{}`, "day.jsonl:2:"},
		"no gap":            {tinyHeader + strings.Replace(hello, `"kind":"text","device":"pin","text":"hello"`, `"kind":"gap","device":"pin"`, 1), `{}`, "gap: missing"},
		"off the earth":     {tinyHeader + strings.Replace(hello, `"kind":"text","device":"pin","text":"hello"`, `"kind":"location","device":"pin","lat":91`, 1), `{}`, "nowhere"},
		"expect not JSON":   {tinyHeader + hello, `[`, "expect.json"},
		"cites no line":     {tinyHeader + hello, `{"refused":[{"line":7,"kinds":["filler"]}]}`, "refused[0]: line 7"},
		"secret not said":   {tinyHeader + hello, `{"secrets":[{"name":"a","kind":"pin","label":["a"],"value":"1","forms":["1"],"lines":[2]}]}`, "secrets[0]: line 2"},
		"secret elsewhere":  {tinyHeader + hello + hello, `{"secrets":[{"name":"a","kind":"pin","label":["a"],"value":"hello","forms":["hello"],"lines":[2]}]}`, "line 3 too"},
		"half a change":     {tinyHeader + hello, `{"questions":[{"question":"q","lang":"en","lines":[2],"current":["hello"]}]}`, "go together"},
		"refused evidence":  {tinyHeader + hello, `{"questions":[{"question":"q","lang":"en","lines":[2]}],"refused":[{"line":2,"kinds":["filler"]}]}`, "is the evidence"},
		"no such photo":     {tinyHeader + hello, `{"notes":[{"file":"x.png","text":["a"]}]}`, "x.png"},
		"gap of other size": {tinyHeader + hello, `{"gaps":[{"line":2,"device":"pin","missing":1}]}`, "gaps[0]"},
	} {
		_, err := load(fstest.MapFS{LinesFile: {Data: []byte(c.lines)}, ExpectFile: {Data: []byte(c.expect)}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
		if name != "file missing" && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v is not ErrInvalid", name, err)
		}
	}
	if _, err := load(fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty folder: %v", err)
	}
	if _, err := load(fstest.MapFS{LinesFile: {Data: []byte(tinyHeader + hello)}, ExpectFile: {Data: []byte(`{}`)}}); err != nil {
		t.Errorf("smallest day: %v", err)
	}
}
