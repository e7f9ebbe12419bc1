package wire

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

var update = flag.Bool("update", false, "write testdata/messages.txt anew")

var noon = time.Date(2026, 3, 14, 12, 0, 0, 250e6, time.UTC)

type sample struct {
	name string
	m    Message
}

// samples returns one or more messages of each kind, with each field set in one
// of them.
func samples() []sample {
	h := func(seq uint64) Header { return Header{Seq: seq, Boot: 7, At: noon} }
	return []sample{
		{"hello", &Hello{Header: Header{Seq: 1, Boot: 7, At: noon, Up: 4200 * time.Millisecond, Zone: "Europe/Berlin"},
			Model: "pin-2", Firmware: "1.4.0", Codecs: []string{"pcm16", "opus"}, Battery: new(87), Mic: new(true)}},
		{"hello-least", &Hello{Header: Header{Seq: 0, Boot: 0}, Model: "m", Firmware: "0"}},
		{"hello-empty-battery", &Hello{Header: h(2), Model: "m", Firmware: "0", Battery: new(0), Mic: new(false)}},
		{"audio-pcm16", &Audio{Header: h(3), Codec: "pcm16", Rate: 16000, Data: []byte{0, 0, 0xff, 0x7f}, Last: true, Index: 12}},
		{"audio-pcm8", &Audio{Header: h(4), Codec: "pcm8", Rate: 8000, Data: []byte{0, 0x7f, 0x80}}},
		{"audio-ulaw", &Audio{Header: h(5), Codec: "ulaw", Rate: 8000, Data: []byte{0xff}}},
		{"audio-opus", &Audio{Header: h(6), Codec: "opus", Rate: 16000, Data: []byte{0, 3, 0xb8, 1, 2, 0, 1, 0xb8}}},
		{"audio-ogg", &Audio{Header: h(7), Codec: "opus", Rate: 48000, Data: []byte("OggS\x00\x02")}},
		{"audio-wav", &Audio{Header: h(8), Codec: "wav", Data: []byte("RIFF\x04\x00\x00\x00WAVE")}},
		{"audio-uptime", &Audio{Header: Header{Seq: 9, Boot: math.MaxUint64, Up: time.Hour}, Codec: "pcm8", Rate: 4000, Data: []byte{1}}},
		{"photo", &Photo{Header: h(10), Codec: "jpeg", Data: []byte{0xff, 0xd8, 0xff}, Orientation: 270}},
		{"photo-part", &Photo{Header: h(12), Codec: "png", Data: []byte{0x89, 'P'}, Part: 1, Parts: 3}},
		{"photo-first-part", &Photo{Header: h(11), Codec: "png", Data: []byte{0x89, 'P'}, Parts: 3}},
		{"text", &Words{Header: h(13), Text: "The dentist is on Tuesday — 星期二.", Speaker: "Anna", Lang: "en"}},
		{"text-least", &Words{Header: Header{Seq: 14, Boot: 7}, Text: "<&>"}},
		{"location", &Location{Header: h(15), Place: memory.Place{Lat: 52.52, Lon: -13.405, Accuracy: 12.5, Name: "office"}}},
		{"location-zero", &Location{Header: h(16)}},
		{"sensor", &Sensor{Header: h(17), Name: "accelerometer", Values: []float64{0, -9.81, 1e-3}, Unit: "m/s2"}},
		{"button", &Button{Header: h(18), Name: "top", Gesture: "double"}},
		{"gap", &Gap{Header: h(19), Missing: memory.Range{From: 3, To: 9}, Reason: "storage full"}},
		{"status", &Status{Header: h(20), State: "muted", Reason: "button"}},
		{"status-offline", &Status{Header: Header{Seq: 21, Boot: 7}, State: "offline"}},
	}
}

const goldenFile = "testdata/messages.txt"

// The golden file has a line for each message and format: name, kind, payload.
func TestGolden(t *testing.T) {
	var out strings.Builder
	out.WriteString("# Messages as they are sent: name, kind, payload; CBOR in hexadecimal.\n")
	for _, s := range samples() {
		for _, f := range []Format{JSON, CBOR} {
			b, err := Encode(s.m, f)
			if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			if f == CBOR {
				b = []byte(hex.EncodeToString(b))
			}
			fmt.Fprintf(&out, "%s %s %s\n", s.name, s.m.Kind(), b)
		}
	}
	if *update {
		if err := os.WriteFile(goldenFile, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != out.String() {
		t.Error("messages are encoded otherwise than in " + goldenFile)
	}
	byName := map[string]Message{}
	for _, s := range samples() {
		byName[s.name] = s.m
	}
	for _, l := range lines(t, goldenFile, 3) {
		m, head, err := Decode(memory.Kind(l[1]), payload(t, l[2]))
		if err != nil {
			t.Errorf("%s: %v", l[0], err)
			continue
		}
		if !reflect.DeepEqual(m, byName[l[0]]) {
			t.Errorf("%s: %.40s:\n got %+v\nwant %+v", l[0], l[2], m, byName[l[0]])
		}
		if head != m.Head() {
			t.Errorf("%s: header is not the message's", l[0])
		}
	}
}

func lines(t testing.TB, file string, n int) [][]string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for _, l := range strings.Split(string(b), "\n") {
		if l == "" || l[0] == '#' {
			continue
		}
		p := strings.SplitN(l, " ", n)
		if len(p) != n {
			t.Fatalf("%s: %q: want %d columns", file, l, n)
		}
		out = append(out, p)
	}
	return out
}

// payload parses JSON, or hexadecimal.
func payload(t testing.TB, s string) []byte {
	t.Helper()
	if strings.HasPrefix(s, "{") {
		return []byte(s)
	}
	b, err := hex.DecodeString(strings.TrimPrefix(s, "hex:"))
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return b
}

// The file has a line for each: kind, problem, field (- for none), payload.
func TestMalformed(t *testing.T) {
	for _, l := range lines(t, "testdata/malformed.txt", 4) {
		m, _, err := Decode(memory.Kind(l[0]), payload(t, l[3]))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%v: taken as %+v", l, m)
			continue
		}
		if field := strings.TrimPrefix(l[2], "-"); string(e.Problem) != l[1] || e.Field != field {
			t.Errorf("%v: got %q in %q: %v", l, e.Problem, e.Field, err)
		}
		if !errors.Is(err, memory.ErrInvalid) || m != nil {
			t.Errorf("%v: %v, %v", l, m, err)
		}
	}
}

// A wrong type in each field of each message, in both formats.
func TestWrongTypes(t *testing.T) {
	wrong := map[string]any{
		"null": nil, "true": true, "number": 5, "negative": -5, "fraction": 1.5, "text": "x",
		"array": []any{"x"}, "map": map[string]any{"x": 1}, "bytes": []byte{0xc0}, "arrays": []any{[]any{1}},
	}
	fits := map[string]string{ // types that are valid after all
		"seq": "number", "boot": "number", "at": "number", "up": "number", "zone": "text", "model": "text",
		"firmware": "text", "codecs": "array", "battery": "number", "mic": "true", "rate": "", "index": "number",
		"last": "true", "orientation": "", "part": "", "parts": "number", "text": "text", "speaker": "text", "lang": "text",
		"lat": "number negative fraction", "lon": "number negative fraction", "acc": "number fraction", "name": "text",
		"values": "", "unit": "text", "from": "number", "to": "number", "reason": "text", "codec": "", "data": "bytes",
		"gesture": "", "state": "",
	}
	tried := 0
	for _, s := range samples() {
		m := map[string]any{}
		s.m.Head().put(m)
		s.m.toFields(m)
		for field := range m {
			ok, listed := fits[field]
			if !listed {
				t.Fatalf("field %s is not in the test's table", field)
			}
			for what, v := range wrong {
				if strings.Contains(" "+ok+" ", " "+what+" ") {
					continue
				}
				for _, f := range []Format{CBOR, JSON} {
					if f == JSON && what == "bytes" {
						continue // is text there
					}
					in := map[string]any{}
					for k, old := range m {
						in[k] = old
					}
					in[field] = v
					b, err := emit(in, f)
					if err != nil {
						t.Fatal(err)
					}
					tried++
					_, _, err = Decode(s.m.Kind(), b)
					var e *Error
					if !errors.As(err, &e) || e.Field != field && field != "codec" && field != "parts" {
						t.Errorf("%s: %s as %s in %s: %v", s.name, field, what, f, err)
					}
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d tried", tried)
	}
}

// A message without one of its fields is refused, or the field is optional.
func TestMissing(t *testing.T) {
	optional := "at up zone codecs battery mic last index orientation part parts speaker lang acc name unit"
	for _, s := range samples() {
		m := map[string]any{}
		s.m.Head().put(m)
		s.m.toFields(m)
		for field := range m {
			in := map[string]any{}
			for k, v := range m {
				if k != field {
					in[k] = v
				}
			}
			b, err := emit(in, CBOR)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = Decode(s.m.Kind(), b)
			may := strings.Contains(" "+optional+" ", " "+field+" ") ||
				s.m.Kind() == memory.KindStatus && field == "reason"
			if field == "name" && s.m.Kind() == memory.KindSensor || field == "parts" && m["part"] != 0 || field == "part" {
				may = false
			}
			if may != (err == nil) {
				t.Errorf("%s without %s: %v", s.name, field, err)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	h := Header{Seq: 100, Boot: 1}
	for _, c := range []struct {
		name string
		m    Message
		want Problem // empty: accepted
	}{
		{"data at the limit", &Photo{Header: h, Codec: "png", Data: make([]byte, MaxData)}, ""},
		{"data over it", &Photo{Header: h, Codec: "png", Data: make([]byte, MaxData+1)}, TooLarge},
		{"payload over it", &Photo{Header: h, Codec: "png", Data: make([]byte, MaxPayload)}, TooLarge},
		{"text at the limit", &Words{Header: h, Text: strings.Repeat("\x01", memory.MaxText)}, ""},
		{"text over it", &Words{Header: h, Text: strings.Repeat("x", memory.MaxText+1)}, TooLarge},
		{"values at the limit", &Sensor{Header: h, Name: "n", Values: make([]float64, MaxValues)}, ""},
		{"values over it", &Sensor{Header: h, Name: "n", Values: make([]float64, MaxValues+1)}, TooLarge},
		{"codecs over it", &Hello{Header: h, Model: "m", Firmware: "f", Codecs: make([]string, MaxCodecs+1)}, TooLarge},
		{"NaN", &Sensor{Header: h, Name: "n", Values: []float64{math.NaN()}}, Limits},
		{"infinite", &Location{Header: h, Place: memory.Place{Lat: 1, Accuracy: math.Inf(1)}}, Limits},
		{"too many parts", &Photo{Header: h, Codec: "png", Data: []byte{1}, Parts: MaxParts + 1}, Limits},
		{"uptime", &Words{Header: Header{Up: maxUp + time.Millisecond}, Text: "x"}, Limits},
		{"not UTF-8", &Words{Header: h, Text: "\xff"}, Text},
	} {
		for _, f := range []Format{CBOR, JSON} {
			if f == JSON && (c.name == "NaN" || c.name == "infinite" || c.name == "not UTF-8") {
				continue // JSON can't express it
			}
			_, err := Encode(c.m, f)
			var e *Error
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &e) || e.Problem != c.want) {
				t.Errorf("%s in %s: %v", c.name, f, err)
			}
		}
	}
}

func TestUnknownFieldsAreCounted(t *testing.T) {
	m, head, err := Decode(memory.KindText, []byte(`{"seq":1,"boot":2,"text":"x","mood":"good","extra":{"a":[1]}}`))
	if err != nil || head.Unknown != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
}

// The identity of a refused message is found, if it has one.
func TestRefusedIsIdentified(t *testing.T) {
	m, head, err := Decode(memory.KindText, []byte(`{"seq":18446744073709551615,"boot":2,"text":5}`))
	if err == nil || m != nil || head == nil || head.Seq != math.MaxUint64 || head.Boot != 2 {
		t.Errorf("%v, %+v, %v", m, head, err)
	}
	if _, head, _ := Decode(memory.KindText, []byte(`{"seq":-1,"boot":2,"text":"x"}`)); head != nil {
		t.Errorf("a negative seq was taken: %+v", head)
	}
	if strings.Contains(err.Error(), "18446744073709551615") {
		t.Error("an error quotes the payload")
	}
}

// The content of a message is never in an error about it.
func TestErrorsQuoteNothing(t *testing.T) {
	const said = "hunter2"
	for _, p := range []string{
		`{"seq":1,"boot":2,"text":"` + said + `","` + said + `":{"` + said + `":{"` + said + `":{"a":{}}}}}`,
		`{"seq":1,"boot":2,"gesture":"` + said + `"}`,
		`{"seq":1,"boot":2,"codec":"` + said + `"}`,
		`{"seq":1,"boot":2,"state":"` + said + `","at":"` + said + `","zone":"` + said + ` x"}`,
		`{"` + said + `":1,"` + said + `":2}`,
		said, "{" + said,
	} {
		for _, k := range Kinds {
			if _, _, err := Decode(k, []byte(p)); err != nil && strings.Contains(err.Error(), said) {
				t.Errorf("%s: %v", p, err)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, l := range lines(f, goldenFile, 3) {
		f.Add(payload(f, l[2]))
	}
	for _, l := range lines(f, "testdata/malformed.txt", 4) {
		f.Add(payload(f, l[3]))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, k := range Kinds {
			m, _, err := Decode(k, in)
			if err != nil {
				if !errors.Is(err, memory.ErrInvalid) {
					t.Fatalf("%v is no ErrInvalid", err)
				}
				continue
			}
			m.Head().Unknown = 0
			for _, form := range []Format{CBOR, JSON} {
				b, err := Encode(m, form)
				if err != nil {
					t.Fatalf("decoded %+v, and can't encode it: %v", m, err)
				}
				again, _, err := Decode(k, b)
				if err != nil || !reflect.DeepEqual(m, again) {
					t.Fatalf("%s: %+v became %+v, %v", form, m, again, err)
				}
			}
			if e := Event("pin", m, noon, &Clocks{}); e.ID.Seq != m.Head().Seq || e.At.IsZero() || e.Clock == "" {
				t.Fatalf("event %+v", e)
			}
		}
	})
}
