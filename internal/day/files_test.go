package day

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/media"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

var replay = Replay{Device: "pin", Boot: 9, End: time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC), Zone: "Europe/Berlin"}

func TestReplayLooseFiles(t *testing.T) {
	text := write(t, "talk.txt", "\ufeffAna: Good morning.\n\n小雨:你好\nno speaker here\nnote: call Ana\nat 10:30 we go\nMrs. Okafor: Hello, dear\nhttp://example.org/x\nAna:\r\n")
	es, err := replay.ReadFiles(text, recording, filepath.Join(folder, "cat.jpg"), filepath.Join(folder, "note.png"))
	if err != nil {
		t.Fatal(err)
	}
	want := [][2]string{
		{"Ana", "Good morning."}, {"小雨", "你好"}, {"", "no speaker here"}, {"", "note: call Ana"},
		{"", "at 10:30 we go"}, {"Mrs. Okafor", "Hello, dear"}, {"", "http://example.org/x"}, {"", "Ana:"},
	}
	for i, w := range want {
		if e := es[i]; e.Kind != memory.KindText || e.Speaker != w[0] || e.Text != w[1] {
			t.Errorf("text %d: %q %q, want %q", i, e.Speaker, e.Text, w)
		}
	}
	rest := es[len(want):]
	if len(rest) != 13 || rest[0].Kind != memory.KindAudio || !rest[10].Last || rest[11].Codec != "jpeg" || rest[12].Codec != "png" {
		t.Fatalf("%d events after the text", len(rest))
	}
	for i, e := range es {
		if e.ID != (memory.EventID{Device: "pin", Boot: 9, Seq: uint64(i + 1)}) || e.Zone != "Europe/Berlin" {
			t.Errorf("event %d is %v", i, e.ID)
		}
		if i > 0 && e.At.Before(es[i-1].At) {
			t.Errorf("event %d is before the one above", i)
		}
	}
	// The pictures come last; two seconds before them ends the sound, which takes 11.
	if last := es[len(es)-1].At; !last.Equal(replay.End) || !rest[0].At.Equal(replay.End.Add(-15*time.Second)) {
		t.Errorf("the last is of %v, the sound of %v; all is to end at %v", last, rest[0].At, replay.End)
	}
	if es[1].Line != 3 {
		t.Errorf("line %d, want 3", es[1].Line)
	}
}

func TestReplayADay(t *testing.T) {
	es, err := replay.ReadFiles(filepath.Join(folder, LinesFile))
	if err != nil {
		t.Fatal(err)
	}
	want := collect(mustFixed(t))
	if len(es) != len(want) {
		t.Fatalf("%d events, want %d", len(es), len(want))
	}
	for i, e := range es {
		w := want[i]
		if e.ID.Device != w.ID.Device || e.ID.Seq != w.ID.Seq || e.ID.Boot != 9 || e.Zone != w.Zone || e.Text != w.Text || e.Line != w.Line {
			t.Fatalf("event %d: %v line %d, want %v line %d", i, e.ID, e.Line, w.ID, w.Line)
		}
	}
}

// Text is recognised by its name, or in a file whose name says nothing, such as a pipe.
func TestReplayText(t *testing.T) {
	for _, name := range []string{"talk.txt", "TALK.TXT", "talk.md", "talk", "talk.text"} {
		es, err := replay.ReadFiles(write(t, name, "[music] and {laughter}\nAna: {sings}\n"))
		if err != nil || len(es) != 2 || es[0].Text != "[music] and {laughter}" || es[1].Text != "{sings}" {
			t.Errorf("%s: %d events, %v", name, len(es), err)
		}
	}
}

// An Ogg Opus file becomes messages of a second, which hold the file's packets in order, in the form
// that a node accepts.
func TestReplayOpus(t *testing.T) {
	es, err := replay.ReadFiles(filepath.Join(folder, "jfk.opus"))
	if err != nil || len(es) != 12 { // the encoder adds the 6.5 ms that it looks ahead
		t.Fatalf("%d events, %v", len(es), err)
	}
	file, err := os.ReadFile(filepath.Join(folder, "jfk.opus"))
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := media.ReadOpus(file)
	if err != nil {
		t.Fatal(err)
	}
	at := es[0].At
	for i, e := range es {
		if e.Codec != "opus" || !e.At.Equal(at) || e.Last != (i == len(es)-1) {
			t.Errorf("part %d: %s at %v, last: %v", i, e.Codec, e.At, e.Last)
		}
		got, err := wire.Packets(e.Data)
		if err != nil || len(got) == 0 || len(got) > len(want) {
			t.Fatalf("part %d: %d packets of %d, %v", i, len(got), len(want), err)
		}
		for _, p := range got {
			if !bytes.Equal(p, want[0].Data) {
				t.Fatalf("part %d has a packet of %d bytes, want %d", i, len(p), len(want[0].Data))
			}
			at = at.Add(want[0].Duration)
			want = want[1:]
		}
	}
	if len(want) > 0 || !at.Equal(replay.End) {
		t.Errorf("%d packets are missing; the sound ends at %v", len(want), at)
	}
}

// A recording of three hours is cut into parts of a second, like a short one, and none is lost.
func TestReplayThreeHours(t *testing.T) {
	const seconds, rate = 3 * 60 * 60, 8000
	wav, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	header := append(wav[:36:36], "data    "...)
	for at, v := range map[int]uint32{4: 36 + 2*rate*seconds, 24: rate, 28: 2 * rate, 40: 2 * rate * seconds} {
		binary.LittleEndian.PutUint32(header[at:], v)
	}
	path := write(t, "long.wav", string(header))
	if err := os.Truncate(path, 44+2*rate*seconds); err != nil { // silence
		t.Fatal(err)
	}
	es, err := replay.ReadFiles(path)
	if err != nil || len(es) != seconds {
		t.Fatalf("%d events, want %d; %v", len(es), seconds, err)
	}
	for i, e := range es {
		begins := replay.End.Add(time.Duration(i-seconds) * time.Second)
		if !e.At.Equal(begins) || len(e.Data) != 2*rate || e.Last != (i == seconds-1) || e.ID.Seq != uint64(i+1) {
			t.Fatalf("part %d of %d bytes begins at %v and is the last: %v; want %v", i, len(e.Data), e.At, e.Last, begins)
		}
	}
}

func TestReplayNamesFileAndPlace(t *testing.T) {
	wav, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	png, err := os.ReadFile(filepath.Join(folder, "note.png"))
	if err != nil {
		t.Fatal(err)
	}
	header := "{\"kind\":\"day\",\"date\":\"2026-09-14\",\"zone\":\"Mars/Olympus\",\"wearer\":\"Mei\"}\n"
	for name, c := range map[string]struct {
		path, want string
		is         error
	}{
		"not there":    {filepath.Join(t.TempDir(), "none.txt"), "none.txt", os.ErrNotExist},
		"cut WAV":      {write(t, "cut.wav", string(wav[:4000])), "cut.wav: ", media.ErrFormat},
		"half a PNG":   {write(t, "half.png", "\x89PNG\r\n\x1a\n1234"), "half.png: ", media.ErrFormat},
		"no JPEG":      {write(t, "no.jpg", "\xff\xd8\xff\xe0no"), "no.jpg: ", media.ErrFormat},
		"no Ogg":       {write(t, "no.ogg", "OggSno"), "no.ogg: ", media.ErrFormat},
		"HTML":         {write(t, "page.wav", "<html>"), "page.wav: unreadable file: offset 0: no WAV", media.ErrFormat},
		"no bytes":     {write(t, "none.JPG", ""), "none.JPG: unreadable file: offset 0: no JPEG", media.ErrFormat},
		"no text":      {write(t, "none.txt", " \n\n"), "none.txt: ", ErrInvalid},
		"no sound":     {write(t, "silent.wav", string(wav[:44])), "silent.wav: ", media.ErrFormat},
		"channels":     {write(t, "five.wav", string(wav[:22])+"\x05"+string(wav[23:])), "want PCM of 16 bits, 1 or 2 channels", media.ErrFormat},
		"header":       {write(t, "head.wav", string(wav[:30])), "head.wav: unreadable file: wav: offset 12", media.ErrFormat},
		"binary":       {write(t, "x.bin", "ab\xfe"), "x.bin: unreadable file: offset 2", media.ErrFormat},
		"NUL":          {write(t, "x.txt", "a\x00"), "x.txt: unreadable file: offset 1", media.ErrFormat},
		"long line":    {write(t, "long.txt", "ok\n"+strings.Repeat("a", memory.MaxText+1)), "long.txt:2: ", ErrInvalid},
		"bad JSON":     {write(t, "bad.jsonl", "\n{\"at\":\n"), "bad.jsonl:2: ", ErrInvalid},
		"no JSON":      {write(t, "talk.jsonl", "Ana: good morning\n"), `talk.jsonl:1: invalid day: want a JSON object on each line, have "Ana: good morning"`, ErrInvalid},
		"marked JSON":  {write(t, "mark.jsonl", "\ufeff{}"), "mark.jsonl:1: invalid day: at: missing", ErrInvalid},
		"a picture":    {write(t, "photo.jsonl", string(png)), "photo.jsonl:1: invalid day: want a JSON object on each line, have a PNG file", ErrInvalid},
		"other JSON":   {write(t, "day.json", "{\n \"lines\": []\n}\n"), "day.json:1: unreadable file: it has JSON in it", media.ErrFormat},
		"JSON as text": {write(t, "day.txt", "\ufeff\n{\"at\":\"2026-09-14T08:00:00Z\"}\n"), "day.txt:2: unreadable file: it has JSON in it, not what somebody said: a file of events is named .jsonl", media.ErrFormat},
		"a list":       {write(t, "list", "[\n1]"), "list:1: unreadable file: it has JSON in it", media.ErrFormat},
		"a table":      {write(t, "sales.CSV", "\na,b\n"), "sales.CSV: unreadable file: .CSV files can't be replayed: want .jsonl, .wav, .ogg, .opus, .png, .jpg, or text in a file named .txt or .md", media.ErrFormat},
		"a web page":   {write(t, "page.html", "<html>"), "page.html: unreadable file: .html files", media.ErrFormat},
		"a drawing":    {write(t, "logo.svg", "<svg/>"), "logo.svg: unreadable file: .svg files", media.ErrFormat},
		"bad zone":     {write(t, "zone.jsonl", header), "zone.jsonl:1: ", ErrInvalid},
		"no such file": {write(t, "ref.jsonl", `{"at":"2026-09-14T08:00:00Z","kind":"photo","device":"a","file":"gone.png"}`), "ref.jsonl:1: ", os.ErrNotExist},
		"file not a photo": {func() string {
			p := write(t, "ref.jsonl", `{"at":"2026-09-14T08:00:00Z","kind":"photo","device":"a","file":"ref.jsonl"}`)
			return p
		}(), "ref.jsonl:1: ", media.ErrFormat},
	} {
		_, err := replay.ReadFiles(c.path)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := replay.ReadFiles(write(t, "empty.jsonl", "\n")); err == nil || !strings.Contains(err.Error(), "empty.jsonl: no lines") {
		t.Errorf("no lines: %v", err)
	}
	if _, err := (Replay{}).ReadFiles(); !errors.Is(err, ErrInvalid) {
		t.Errorf("no device: %v", err)
	}
}
