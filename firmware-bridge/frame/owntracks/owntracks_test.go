package owntracks

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// bad says what is wrong with each file that OwnTracks' schema refuses.
var bad = map[string]string{
	"cmd-illegal-action.json":       `cmd: action is "something"`,
	"cmd-setWaypoints-illegal.json": "invalid character",
	"cmd-without-action.json":       "cmd: action is missing",
	"e-nobase64.json":               "encrypted: data is not base64",
	"e-nodata.json":                 "encrypted: data is missing",
	"location-lat-missing.json":     "location: lat is missing",
	"lwt-notst.json":                "lwt: tst is missing",
	"object-empty.json":             "_type is missing",
	"steps-kaputt.json":             "steps: from is missing",
	"steps-long-invalid.json":       "steps: from is not a number",
	"tour-invalid-request.json":     `request: request is "tour1"`,
	"transition-illegal-lat.json":   "transition: lat is not a number",
	"untour-illegal.json":           "request: uuid is not one",
}

func TestVectors(t *testing.T) {
	var expected struct {
		Files map[string]struct{ Valid bool }
	}
	if err := json.Unmarshal(file(t, "expected.json"), &expected); err != nil {
		t.Fatal(err)
	}
	if len(expected.Files) < 40 {
		t.Fatalf("%d files", len(expected.Files))
	}
	for name, want := range expected.Files {
		list, err := Parse(file(t, "test/"+name))
		text := ""
		if err != nil {
			text = err.Error()
		}
		if (err == nil) != want.Valid || want.Valid != (bad[name] == "") || !strings.Contains(text, bad[name]) || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
}

func TestParse(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	for _, c := range []struct {
		name string
		want []any
	}{
		{"l.json", []any{Location{at(1699882482), 52.195913, 7.688245, 35, 75, nil, "Coffee"}}},
		{"l2.json", []any{Location{at(1698947571), 53.026676, 9.543561, 0, 6, nil, ""}}},
		{"location-short.json", []any{Location{at(1692430980), 44.221389, 6.64635, 0, 100, nil, ""}}},
		{"location-sk.json", []any{Location{at(1701258666), 71.215592, 3.767957, 35, 80, []string{"office"}, ""}}},
		{"transition.json", []any{Transition{at(1701264368), 61.195709, 9.688233, 6, "blukii", true}}},
		{"lwt.json", []any{Will{at(1699882482)}}},
		{"e.json", []any{Encrypted{}}},
		{"steps.json", []any{Other{"steps"}}},
		{"array.json", []any{Location{at(1000), 8, 9, 0, -1, nil, ""}, Will{at(1000)}}},
		{"array-empty.json", nil},
		{"array-nothing.json", nil},
	} {
		if got, err := Parse(file(t, "test/"+c.name)); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	for in, want := range map[string]string{
		`{"_type":"location","lat":91,"lon":0,"tst":1}`:                      "location: lat is 91",
		`{"_type":"location","lat":1,"lon":-180.5,"tst":1}`:                  "location: lon is -180.5",
		`{"_type":"location","lat":1,"lon":0,"tst":"1"}`:                     "location: tst is not a number",
		`{"_type":"location","lat":1,"lon":0,"tst":-1}`:                      "location: tst is -1",
		`{"_type":"location","lat":1,"lon":0,"tst":1,"inregions":"home"}`:    "location: inregions is not a list",
		`{"_type":"transition","acc":1,"event":"x","lat":1,"lon":1,"tst":1}`: "transition: wtst is missing",
		`[{"_type":"lwt","tst":1},{"_type":7}]`:                              `message 1: _type is "7"`,
		`"x"`:                                                                "cannot unmarshal",
		strings.Repeat(" ", MaxPayload) + "[]":                               "",
		"[" + strings.Repeat(" ", MaxPayload) + "]":                          "65538 bytes",
	} {
		list, err := Parse([]byte(in))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v", in, err)
		}
		if strings.HasPrefix(in, `[{"_type":"lwt"`) && len(list) != 1 {
			t.Errorf("what is good beside what is not: %v", list)
		}
	}
}

func TestParseTopic(t *testing.T) {
	for topic, want := range map[string]string{
		"owntracks/jane/phone": "jane/phone ", "owntracks/jane/phone/event": "jane/phone event",
		"owntracks/jane": "", "owntracks//phone": "", "own/jane/phone": "", "owntracks/jane/phone/event/x": "",
	} {
		who, leaf, ok := Leaf("owntracks", topic)
		if got := who + " " + leaf; ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q %v", topic, got, ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	entries, err := os.ReadDir("testdata/test")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		f.Add(file(f, "test/"+e.Name()))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		list, err := Parse(in)
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Error(err)
		}
		for _, m := range list {
			if l, ok := m.(Location); ok && (l.Lat < -90 || l.Lat > 90 || l.Lon < -180 || l.Lon > 180 || l.Acc < 0 || l.Battery > 100) {
				t.Errorf("%+v", l)
			}
		}
	})
}
