// Package owntracks reads what OwnTracks apps publish: JSON in, values out. It does no input or
// output.
//
// The words:
//
//   - A fix is where a phone was at a time, its tst. It may be published much later, and a broker
//     retains the last one for new subscribers.
//   - A transition means that the phone enters or leaves a region, which has a name.
//
// The formats are taken from owntracks/json-schema (MIT) and OwnTracks' booklet, docs/tech/json.md.
package owntracks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ErrFormat: the payload is not what OwnTracks publishes.
var ErrFormat = errors.New("owntracks")

// MaxPayload is the largest payload that is read, in bytes. A fix has some hundred; one with a
// photo is larger, and is not read.
const MaxPayload = 64 << 10

// Location is a fix.
type Location struct {
	At       time.Time
	Lat, Lon float64 // degrees
	Acc      float64 // m; 0: not known
	Battery  int     // %; -1: not known
	Regions  []string
	Point    string // the wearer's name for the place: poi or tag
}

// Transition says that the phone enters or leaves a region.
type Transition struct {
	At       time.Time
	Lat, Lon float64
	Acc      float64
	Region   string
	Enter    bool
}

// Will is what the broker publishes once the app is gone.
type Will struct{ Since time.Time } // when the app connected

// Encrypted is an encrypted message.
type Encrypted struct{}

// Other is a valid message that is not used here.
type Other struct{ Type string }

// Leaf splits a topic into a user and a device after the prefix, and the name below them, which is
// empty for fixes.
func Leaf(prefix, topic string) (who, leaf string, ok bool) {
	rest, ok := strings.CutPrefix(topic, prefix+"/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		return "", "", false
	}
	if len(parts) == 3 {
		leaf = parts[2]
	}
	return parts[0] + "/" + parts[1], leaf, true
}

// Parse reads a payload, which is one message or an array of them; an empty payload has none. The
// error names the first bad message; the others are returned.
func Parse(payload []byte) (list []any, err error) {
	payload = bytes.TrimSpace(payload)
	switch {
	case len(payload) == 0:
		return nil, nil
	case len(payload) > MaxPayload:
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrFormat, len(payload), MaxPayload)
	case payload[0] != '[':
		m, err := message(payload)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		return []any{m}, nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(payload, &raw); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	for i, r := range raw {
		m, e := message(r)
		if e != nil {
			if err == nil {
				err = fmt.Errorf("%w: message %d: %w", ErrFormat, i, e)
			}
			continue
		}
		list = append(list, m)
	}
	return list, err
}

// The fields that messages of a type must have. Types that are not listed need none.
var needs = map[string][]string{
	"location":   {"lat", "lon", "tst"},
	"transition": {"acc", "event", "lat", "lon", "tst", "wtst"},
	"lwt":        {"tst"},
	"steps":      {"from", "steps", "to", "tst"},
	"encrypted":  {"data"},
	"cmd":        {"action"},
	"request":    {"request"},
}

// The values that text fields may have.
var words = map[string][]string{
	"_type": {"beacon", "card", "cmd", "configuration", "encrypted", "location", "lwt", "request", "status", "steps", "transition", "waypoint", "waypoints"},
	"action": {"action", "clearWaypoints", "dump", "reportLocation", "reportSteps", "response", "setConfiguration", "setWaypoints", "status",
		"waypoints"},
	"request": {"tour", "tours", "untour"},
	"event":   {"enter", "leave"},
}

var (
	base64Text = regexp.MustCompile(`^[-A-Za-z0-9+/]+={0,3}$`)
	uuid       = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

func message(b []byte) (any, error) {
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	r := reader{m: m}
	kind := r.word("_type")
	r.kind = kind
	for _, name := range needs[kind] {
		if _, ok := m[name]; !ok {
			r.fail(name, "is missing")
		}
	}
	var out any = Other{kind}
	switch kind {
	case "location":
		lat, lon := r.degrees()
		l := Location{At: r.time("tst"), Lat: lat, Lon: lon, Acc: max(r.number("acc"), 0), Battery: -1, Regions: r.texts("inregions")}
		if _, ok := m["batt"]; ok {
			l.Battery = int(min(max(r.number("batt"), 0), 100))
		}
		if l.Point = r.text("poi"); l.Point == "" {
			l.Point = r.text("tag")
		}
		out = l
	case "transition":
		lat, lon := r.degrees()
		out = Transition{At: r.time("tst"), Lat: lat, Lon: lon, Acc: max(r.number("acc"), 0), Region: r.text("desc"), Enter: r.word("event") == "enter"}
	case "lwt":
		out = Will{r.time("tst")}
	case "steps":
		for _, name := range needs[kind] {
			r.number(name)
		}
	case "encrypted":
		if !base64Text.MatchString(r.text("data")) {
			r.fail("data", "is not base64")
		}
		out = Encrypted{}
	case "cmd":
		r.word("action")
	case "request":
		if r.word("request") == "untour" && !uuid.MatchString(r.text("uuid")) {
			r.fail("uuid", "is not one")
		}
	}
	return out, r.err
}

// reader reads the fields of a message, and keeps the first error.
type reader struct {
	m    map[string]any
	kind string
	err  error
}

func (r *reader) fail(name, format string, args ...any) {
	if r.err == nil {
		at := name
		if r.kind != "" {
			at = r.kind + ": " + name
		}
		r.err = fmt.Errorf("%s %s", at, fmt.Sprintf(format, args...))
	}
}

func (r *reader) text(name string) string {
	v, ok := r.m[name]
	s, isText := v.(string)
	if ok && !isText {
		r.fail(name, "is not text")
	}
	return s
}

func (r *reader) texts(name string) (out []string) {
	v, ok := r.m[name]
	list, isList := v.([]any)
	if ok && !isList {
		r.fail(name, "is not a list")
	}
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			r.fail(name, "has what is not text")
		}
		out = append(out, s)
	}
	return out
}

// word reads a text that must be present and one of those in words.
func (r *reader) word(name string) string {
	v, ok := r.m[name]
	if !ok {
		r.fail(name, "is missing")
		return ""
	}
	s, _ := v.(string)
	if !slices.Contains(words[name], s) {
		r.fail(name, "is %.40q, which is not known", fmt.Sprint(v))
	}
	return s
}

func (r *reader) number(name string) float64 {
	v, ok := r.m[name]
	f, isNumber := v.(float64)
	if ok && !isNumber {
		r.fail(name, "is not a number")
	}
	return f
}

func (r *reader) degrees() (lat, lon float64) {
	lat, lon = r.number("lat"), r.number("lon")
	if lat < -90 || lat > 90 {
		r.fail("lat", "is %g, want -90 to 90", lat)
	}
	if lon < -180 || lon > 180 {
		r.fail("lon", "is %g, want -180 to 180", lon)
	}
	return lat, lon
}

// time reads seconds since 1970. A fraction, which no app sends, is kept.
func (r *reader) time(name string) time.Time {
	s := r.number(name)
	if s < 0 || s > 1<<40 {
		r.fail(name, "is %g, which is not a time", s)
		return time.Time{}
	}
	return time.UnixMilli(int64(s * 1000)).UTC()
}
