// Package frigate reads what Frigate publishes about its cameras' sightings: JSON in, values out.
// It does no input or output.
//
// The words:
//
//   - An object is a person, car or animal that a camera sees, from start to end. Its id contains
//     the time of its start.
//   - A false positive is an object that turned out to be nothing. It gets no end.
//
// After blakeblackshear/frigate (MIT), docs/docs/integrations/mqtt.md and
// frigate/track/object_processing.py.
package frigate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrFormat: the payload is not what Frigate publishes.
var ErrFormat = errors.New("frigate")

const (
	maxName = 128 // bytes
	maxList = 16  // most zones that are read
	maxText = 4096
)

// State is what happened to an object.
type State uint8

const (
	New State = iota
	Update
	End
)

// Event is what is known about an object.
type Event struct {
	State    State
	ID       string
	Camera   string
	Label    string    // person, car, …
	Name     string    // who or which it is, if that was recognised
	Plate    string    // plate of a car
	Start    time.Time // when the object came
	End      time.Time // when it went; zero: not yet
	Zones    []string  // zones that it entered
	Snapshot bool      // there is a snapshot
	False    bool      // a false positive
}

// Finding is what was found out about an object, possibly after its end.
type Finding struct {
	ID          string
	Camera      string // empty: not known
	At          time.Time
	Description string // in words
	Name        string // who or which it is
	Plate       string
}

// Available says whether Frigate runs.
type Available struct{ Online bool }

// Picture is a snapshot of the object that a camera saw last.
type Picture struct {
	Camera, Label string
	JPEG          []byte
}

// Other is a message that is not used here.
type Other struct{}

// Topics returns the topic filters to subscribe to; pictures are up to some 100 KB each.
func Topics(prefix string, pictures bool) []string {
	list := []string{prefix + "/events", prefix + "/tracked_object_update", prefix + "/available"}
	if pictures {
		list = append(list, prefix+"/+/+/snapshot")
	}
	return list
}

// Parse reads a message.
func Parse(prefix, topic string, payload []byte) (any, error) {
	m, err := parse(prefix, topic, payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return m, nil
}

func parse(prefix, topic string, payload []byte) (any, error) {
	leaf, ok := strings.CutPrefix(topic, prefix+"/")
	if !ok {
		return Other{}, nil
	}
	switch leaf {
	case "events":
		return event(payload)
	case "tracked_object_update":
		return parseUpdate(payload)
	case "available":
		switch s := string(payload); s {
		case "online":
			return Available{true}, nil
		case "offline", "stopped":
			return Available{false}, nil
		default:
			return nil, fmt.Errorf("available: %.20q is not known", s)
		}
	}
	parts := strings.Split(leaf, "/")
	if len(parts) != 3 || parts[2] != "snapshot" {
		return Other{}, nil
	}
	for _, p := range parts {
		if err := checkName("snapshot: a name", p); err != nil {
			return nil, err
		}
	}
	if len(payload) < 4 || payload[0] != 0xff || payload[1] != 0xd8 || payload[2] != 0xff {
		return nil, errors.New("snapshot: it is no JPEG")
	}
	return Picture{parts[0], parts[1], payload}, nil
}

func event(payload []byte) (any, error) {
	var m struct {
		Type  string
		After *struct {
			ID            *string
			Camera, Label *string
			SubLabel      json.RawMessage `json:"sub_label"`
			Plate         *string         `json:"recognized_license_plate"`
			Start         *float64        `json:"start_time"`
			End           *float64        `json:"end_time"`
			EnteredZones  []string        `json:"entered_zones"`
			HasSnapshot   bool            `json:"has_snapshot"`
			FalsePositive bool            `json:"false_positive"`
		}
	}
	if err := json.Unmarshal(payload, &m); err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	var e Event
	switch m.Type {
	case "new":
		e.State = New
	case "update":
		e.State = Update
	case "end":
		e.State = End
	default:
		return nil, fmt.Errorf("event: type %.20q is not known", m.Type)
	}
	a := m.After
	if a == nil {
		return nil, errors.New("event: after is missing")
	}
	for _, f := range []struct {
		name string
		from *string
		to   *string
	}{{"id", a.ID, &e.ID}, {"camera", a.Camera, &e.Camera}, {"label", a.Label, &e.Label}} {
		if f.from == nil || *f.from == "" {
			return nil, fmt.Errorf("event: %s is missing", f.name)
		}
		if err := checkName("event: "+f.name, *f.from); err != nil {
			return nil, err
		}
		*f.to = *f.from
	}
	if a.Start == nil {
		return nil, errors.New("event: start_time is missing")
	}
	var err error
	if e.Start, err = seconds(*a.Start); err != nil {
		return nil, fmt.Errorf("event: start_time %w", err)
	}
	if a.End != nil {
		if e.End, err = seconds(*a.End); err != nil {
			return nil, fmt.Errorf("event: end_time %w", err)
		}
		if e.End.Before(e.Start) {
			return nil, errors.New("event: end_time is before start_time")
		}
	}
	if e.Name, err = subLabel(a.SubLabel); err != nil {
		return nil, fmt.Errorf("event: sub_label: %w", err)
	}
	if a.Plate != nil {
		e.Plate = *a.Plate
		if err := checkName("event: recognized_license_plate", e.Plate); err != nil {
			return nil, err
		}
	}
	for _, z := range a.EnteredZones {
		if err := checkName("event: entered_zones", z); err != nil {
			return nil, err
		}
		if len(e.Zones) < maxList {
			e.Zones = append(e.Zones, z)
		}
	}
	e.Snapshot, e.False = a.HasSnapshot, a.FalsePositive
	return e, nil
}

// subLabel reads null, a text, or a list of a name and a score.
func subLabel(b json.RawMessage) (name string, err error) {
	if len(b) == 0 || string(b) == "null" {
		return "", nil
	}
	if b[0] != '[' {
		err = json.Unmarshal(b, &name)
	} else {
		var list []any
		if err = json.Unmarshal(b, &list); err == nil && len(list) > 0 {
			text, ok := list[0].(string)
			if !ok {
				return "", errors.New("its first item is not a text")
			}
			name = text
		}
	}
	if err != nil {
		return "", err
	}
	return name, checkName("it", name)
}

func parseUpdate(payload []byte) (any, error) {
	var m struct {
		Type, ID, Camera, Description, Plate string
		Name                                 *string
		SubLabel                             string `json:"sub_label"`
	}
	if err := json.Unmarshal(payload, &m); err != nil {
		return nil, fmt.Errorf("tracked_object_update: %w", err)
	}
	if m.ID == "" {
		return nil, errors.New("tracked_object_update: id is missing")
	}
	t := Finding{ID: m.ID, Camera: m.Camera}
	// The id begins with the object's start time.
	start, _, _ := strings.Cut(m.ID, "-")
	s, err := strconv.ParseFloat(start, 64)
	if err == nil {
		t.At, err = seconds(s)
	}
	if err != nil {
		return nil, fmt.Errorf("tracked_object_update: id %.40q does not begin with a time", m.ID)
	}
	switch m.Type {
	case "description":
		t.Description = strings.TrimSpace(m.Description)
		if len(t.Description) > maxText {
			return nil, fmt.Errorf("tracked_object_update: description: %d bytes, at most %d", len(t.Description), maxText)
		}
	case "face", "lpr":
		if m.Name != nil {
			t.Name = *m.Name
		}
		t.Plate = m.Plate
	case "classification":
		t.Name = m.SubLabel
	default:
		return Other{}, nil
	}
	for _, name := range []string{m.ID, m.Camera, t.Name, t.Plate} {
		if err := checkName("tracked_object_update: a name", name); err != nil {
			return nil, err
		}
	}
	if t.Description+t.Name+t.Plate == "" {
		return Other{}, nil
	}
	return t, nil
}

func checkName(what, s string) error {
	if len(s) > maxName || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
		return fmt.Errorf("%s has to have at most %d bytes of UTF-8 without control characters", what, maxName)
	}
	return nil
}

func seconds(s float64) (time.Time, error) {
	if !(s >= 0 && s <= 1<<40) { // this refuses NaN, too
		return time.Time{}, fmt.Errorf("%g is not a time", s)
	}
	return time.UnixMilli(int64(math.Round(s * 1000))).UTC(), nil
}
