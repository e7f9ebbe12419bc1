package abi

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func fullEvent() *Event {
	return &Event{
		ID: "glasses/7/412", Kind: "text", At: 1758706200123, Zone: "Europe/Berlin", Offset: 7200, Lang: "en",
		Speaker: "Ada", Wearer: "Ben", Text: "I moved to Lisbon — 我搬家了", PCM: []byte{1, 2, 3, 4}, Rate: 16000, Last: true,
		Width: 2, Height: 1, Gray: []byte{9, 8}, RGB: []byte{1, 2, 3, 4, 5, 6}, Name: "imu", Values: []float64{1.5, -2, 0},
		Before: []Turn{{ID: "a", At: -5, Speaker: "Cy", Text: "where?"}, {}},
		State:  bytes.Repeat([]byte{7}, 300),
	}
}

func fullOutput() *Output {
	return &Output{
		Candidates: []Candidate{
			{Type: "semantic", Text: "Ben lives in Lisbon", Lang: "en", Kind: "home",
				Slot: &Slot{"user", "home", "Lisbon", true}, Negates: true, Confidence: 0.75, Sensitivity: "personal",
				TrueFrom: 1, TrueTo: 2, Expires: math.MaxInt64, Spans: []Span{{0, 2, 17}, {-1, 0, 3}},
				Entities: []Entity{{"Lisbon", "place"}, {}}, Tags: []string{"a", ""},
				EventType: "visit", Details: "d", Actor: "Ben", Place: "Lisbon", Started: -1, Ended: math.MinInt64,
				Subject: "s", Predicate: "p", Object: "o", EntryType: "guide", Steps: []string{"one", "two"},
				Title: "t", MediaType: "image/png", Label: "wifi", Secret: "hunter2", Block: "human"},
			{Slot: &Slot{}},
			{},
		},
		Redactions:  []Redaction{{Span{0, 1, 2}, "password"}, {}},
		Annotations: []Annotation{{"speech", 10, 20, -0.5, "x"}, {}},
		Derived:     []Derived{{"utterance", 5, -160, 1600, []byte{1, 0}, "hm"}, {}},
		Refusals:    []Refusal{{"smalltalk", "a greeting", Span{0, 0, 5}}, {}},
		State:       []byte("state"),
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: the encoding has changed: that is another version of the contract", name)
	}
}

func TestGolden(t *testing.T) {
	ev, out := fullEvent(), fullOutput()
	eb, ob := AppendEvent(nil, ev), AppendOutput([]byte{}, out)
	golden(t, "event-v1.cbor", eb)
	golden(t, "output-v1.cbor", ob)
	golden(t, "error-v1.cbor", AppendError(nil, CodePlugin, "no"))

	var e Event
	if err := DecodeEvent(eb, &e); err != nil || !reflect.DeepEqual(&e, ev) {
		t.Errorf("event: %v\n%+v\n%+v", err, &e, ev)
	}
	var o Output
	if err := DecodeOutput(ob, Limits{}, &o); err != nil || !reflect.DeepEqual(&o, out) {
		t.Errorf("output: %v\n%+v\n%+v", err, &o, out)
	}
}

func TestTruncatedAndTrailing(t *testing.T) {
	eb, ob := AppendEvent(nil, fullEvent()), AppendOutput(nil, fullOutput())
	for i := range eb {
		if DecodeEvent(eb[:i], new(Event)) == nil {
			t.Fatalf("event cut to %d of %d bytes was taken", i, len(eb))
		}
	}
	for i := range ob {
		if DecodeOutput(ob[:i], Limits{}, new(Output)) == nil {
			t.Fatalf("output cut to %d of %d bytes was taken", i, len(ob))
		}
	}
	wantCode(t, DecodeEvent(append(eb, 0), new(Event)), CodeTrailing, "event")
	wantCode(t, DecodeOutput(append(ob, 0), Limits{}, new(Output)), CodeTrailing, "output")
}

func wantCode(t *testing.T, err error, code Code, place string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("got %v, want %v at %s", err, code, place)
		return
	}
	if e.Code != code || e.Place != place {
		t.Errorf("got %v at %s, want %v at %s", e.Code, e.Place, code, place)
	}
}

// TestRefused has one message for each kind of error.
func TestRefused(t *testing.T) {
	many := func(head []byte, n int, item ...byte) string {
		return string(head) + strings.Repeat(string(item), n)
	}
	for _, c := range []struct {
		name, b string
		code    Code
		place   string
	}{
		{"empty", "", CodeTruncated, "output"},
		{"not a map", "\x80", CodeType, "output"},
		{"no version", "\xa0", CodeVersion, "output"},
		{"version 2", "\xa1\x00\x02", CodeVersion, "output"},
		{"indefinite map", "\xbf\x00\x01\xff", CodeForm, "output"},
		{"indefinite text", "\xa2\x00\x01\x01\x81\xa1\x01\x7f\x61a\xff", CodeForm, "output.candidates[0].type"},
		{"tag", "\xc0\xa1\x00\x01", CodeForm, "output"},
		{"long head", "\xb8\x01\x00\x01", CodeForm, "output"},
		{"long number", "\xa1\x00\x18\x01", CodeForm, "output"},
		{"text key", "\xa1\x61v\x01", CodeType, "output"},
		{"unknown key", "\xa2\x00\x01\x07\x01", CodeUnknown, "output"},
		{"unknown key of a candidate", "\xa2\x00\x01\x01\x81\xa1\x18\x63\x01", CodeUnknown, "output.candidates[0]"},
		{"duplicate", "\xa2\x00\x01\x00\x01", CodeDuplicate, "output"},
		{"duplicate in a candidate", "\xa2\x00\x01\x01\x81\xa2\x01\x61a\x01\x61a", CodeDuplicate, "output.candidates[0]"},
		{"UTF-8", "\xa2\x00\x01\x01\x82\xa0\xa1\x02\x61\xff", CodeUTF8, "output.candidates[1].text"},
		{"surrogate", "\xa2\x00\x01\x01\x81\xa1\x02\x63\xed\xa0\x80", CodeUTF8, "output.candidates[0].text"},
		{"a million candidates", "\xa2\x00\x01\x01\x9a\x00\x0f\x42\x40", CodeLimit, "output.candidates"},
		{"65 candidates", many([]byte("\xa2\x00\x01\x01\x98\x41"), 65, 0xa0), CodeLimit, "output.candidates"},
		{"more than there is", "\xa2\x00\x01\x01\x98\x40\xa0", CodeTruncated, "output.candidates"},
		{"a map of 2^64", "\xbb\xff\xff\xff\xff\xff\xff\xff\xff", CodeLimit, "output"},
		{"a text of 2^63", "\xa2\x00\x01\x01\x81\xa1\x02\x7b\x7f\xff\xff\xff\xff\xff\xff\xff", CodeLimit, "output.candidates[0].text"},
		{"NaN", "\xa2\x00\x01\x01\x81\xa1\x07\xf9\x7e\x00", CodeNumber, "output.candidates[0].confidence"},
		{"infinite", "\xa2\x00\x01\x01\x81\xa1\x07\xfa\x7f\x80\x00\x00", CodeNumber, "output.candidates[0].confidence"},
		{"minus infinite", "\xa2\x00\x01\x01\x81\xa1\x07\xfb\xff\xf0\x00\x00\x00\x00\x00\x00", CodeNumber, "output.candidates[0].confidence"},
		{"an inexact integer", "\xa2\x00\x01\x01\x81\xa1\x07\x1b\x00\x20\x00\x00\x00\x00\x00\x01", CodeNumber, "output.candidates[0].confidence"},
		{"time over int64", "\xa2\x00\x01\x01\x81\xa1\x09\x1b\x80\x00\x00\x00\x00\x00\x00\x00", CodeNumber, "output.candidates[0].true_from"},
		{"span of two", "\xa2\x00\x01\x01\x81\xa1\x0c\x81\x82\x00\x01", CodeType, "output.candidates[0].spans[0]"},
		{"span over 32 bits", "\xa2\x00\x01\x01\x81\xa1\x0c\x81\x83\x00\x00\x1a\x80\x00\x00\x00", CodeNumber, "output.candidates[0].spans[0]"},
		{"null", "\xa2\x00\x01\x01\xf6", CodeType, "output.candidates"},
		{"bool as number", "\xa2\x00\x01\x01\x81\xa1\x06\x01", CodeType, "output.candidates[0].negates"},
		{"long name", "\xa2\x00\x01\x01\x81\xa1\x01\x79\x01\x01" + strings.Repeat("a", 257), CodeLimit, "output.candidates[0].type"},
		{"state over the limit", "\xa2\x00\x01\x06\x5a\x00\x01\x00\x01" + strings.Repeat("a", 65537), CodeLimit, "output.state"},
		{"depth", "\xa2\x00\x01\x01" + strings.Repeat("\x81", 100000), CodeType, "output.candidates[0]"},
		{"over all", strings.Repeat("\xa0", MaxOutput+1), CodeLimit, "output"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantCode(t, DecodeOutput([]byte(c.b), Limits{}, new(Output)), c.code, c.place)
		})
	}
}

func TestNumbers(t *testing.T) {
	for b, want := range map[string]float64{
		"\x01": 1, "\x20": -1, "\xf9\x3c\x00": 1, "\xf9\x00\x01": 5.960464477539063e-8, "\xf9\xc4\x00": -4,
		"\xfa\x3f\x00\x00\x00": 0.5, "\xfb\x3f\xe8\x00\x00\x00\x00\x00\x00": 0.75,
	} {
		var o Output
		if err := DecodeOutput([]byte("\xa2\x00\x01\x01\x81\xa1\x07"+b), Limits{}, &o); err != nil || o.Candidates[0].Confidence != want {
			t.Errorf("%x: %v, %v; want %v", b, o.Candidates, err, want)
		}
	}
}

// TestUnknownFieldsAreSkipped: a later host may say more, in good CBOR.
func TestUnknownFieldsAreSkipped(t *testing.T) {
	good := "\xa4\x00\x01\x18\x30\x82\xa1\x61a\xf6\xf9\x7e\x00\x18\x63\x41x\x02\x64text"
	var e Event
	if err := DecodeEvent([]byte(good), &e); err != nil || e.Kind != "text" {
		t.Errorf("%+v, %v", e, err)
	}
	deep := func(n int) []byte {
		return []byte("\xa2\x00\x01\x18\x30" + strings.Repeat("\x81", n) + "\x00")
	}
	if err := DecodeEvent(deep(MaxDepth-1), &e); err != nil {
		t.Error(err)
	}
	wantCode(t, DecodeEvent(deep(MaxDepth), &e), CodeLimit, "event")
	wantCode(t, DecodeEvent([]byte("\xa2\x00\x01\x18\x30\x9b\x7f\xff\xff\xff\xff\xff\xff\xff"), &e), CodeLimit, "event")
	wantCode(t, DecodeEvent([]byte("\xa2\x00\x01\x18\x30\xc1\x00"), &e), CodeForm, "event")
	wantCode(t, DecodeEvent([]byte("\xa3\x00\x01\x18\x30\x00\x18\x30\x00"), &e), CodeDuplicate, "event")
	wantCode(t, DecodeEvent([]byte("\xa2\x00\x01\x18\x30\x61\xff"), &e), CodeUTF8, "event")
}

func TestPluginError(t *testing.T) {
	b := AppendError(nil, CodePlugin, "no model\xff")
	code, text, err := DecodeError(b)
	if code != CodePlugin || text != "no model?" || err != nil {
		t.Error(code, text, err)
	}
	if b := AppendError(nil, CodePlugin, strings.Repeat("é", MaxError)); len(b) > MaxError {
		t.Errorf("%d bytes", len(b))
	} else if _, _, err := DecodeError(b); err != nil {
		t.Error(err)
	}
	for _, b := range []string{"", "\xa0", "\xa1\x01\x00", "\xa1\x01\x19\x01\x00", "\xa1\x03\x01", "\x01", "\xa1\x01\x01\x00"} {
		if _, _, err := DecodeError([]byte(b)); err == nil {
			t.Errorf("%x was taken", b)
		}
	}
}

// TestReuseWithoutAllocation: a guest decodes and encodes repeatedly without allocating.
func TestReuseWithoutAllocation(t *testing.T) {
	eb := AppendEvent(nil, fullEvent())
	var e Event
	out, buf := fullOutput(), []byte(nil)
	n := testing.AllocsPerRun(100, func() {
		if err := DecodeEvent(eb, &e); err != nil {
			t.Fatal(err)
		}
		buf = AppendOutput(buf[:0], out)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A field that nobody encodes would be lost silently, so every field is set here, and comes back.
func TestEveryFieldRoundTrips(t *testing.T) {
	in := fullEvent()
	in.Memories = []Memory{{ID: "m", Type: "core", At: 1, Text: "t"}}
	for v, i := reflect.ValueOf(in).Elem(), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("the test's event leaves %s out", v.Type().Field(i).Name)
		}
	}
	var out Event
	if err := DecodeEvent(AppendEvent(nil, in), &out); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(in, &out) {
		t.Errorf("%+v came back as %+v", in, out)
	}
}

// TestMemories: fields that were added to version 1 later are encoded and decoded, and an event
// without them is encoded as before.
func TestMemories(t *testing.T) {
	e := fullEvent()
	plain := len(AppendEvent(nil, e))
	e.Memories = []Memory{{ID: "m1", Type: "semantic", At: 1758706200123, Text: "Ben lives in Lisbon"}, {}}
	b := AppendEvent(nil, e)
	golden(t, "event-v1-memories.cbor", b)
	var got Event
	if err := DecodeEvent(b, &got); err != nil || !reflect.DeepEqual(got.Memories, e.Memories) || len(b) <= plain {
		t.Errorf("%+v, %v", got.Memories, err)
	}
	e.Memories = make([]Memory, MaxMemories+1)
	wantCode(t, DecodeEvent(AppendEvent(nil, e), &got), CodeLimit, "event.memories")
}
