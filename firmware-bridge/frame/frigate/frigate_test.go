package frigate

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/frame/frametest"
)

type message struct {
	Section, Topic string
	Payload        json.RawMessage
}

func vectors(t testing.TB, name string) (list []message) {
	t.Helper()
	frametest.Vectors(t, name, &list)
	return list
}

func ms(n int64) time.Time { return time.UnixMilli(n).UTC() }

// The examples of Frigate's own documentation.
func TestExamples(t *testing.T) {
	const id = "1607123955.475377-mxklsc"
	at := ms(1607123955475)
	want := []any{
		Event{Update, id, "front_door", "person", "John Smith", "ABC12345", at, time.Time{}, []string{"yard", "driveway"}, false, false},
		Finding{ID: id, At: at, Description: "The car is a red sedan moving away from the camera."},
		Finding{ID: id, At: at, Camera: "front_door_cam", Name: "John"},
		Finding{ID: id, At: at, Camera: "driveway_cam", Name: "John's Car", Plate: "123ABC"},
		Finding{ID: id, At: at, Camera: "front_door_cam", Name: "delivery_person"},
		Other{}, // an attribute
		Other{}, // a review
		Other{}, // a trigger
	}
	list := vectors(t, "mqtt-examples.json")
	if len(list) != len(want) {
		t.Fatalf("%d examples", len(list))
	}
	for i, m := range list {
		_, topic, _ := strings.Cut(m.Section, "`")
		topic, _, _ = strings.Cut(topic, "`")
		if got, err := Parse("frigate", topic, m.Payload); err != nil || !reflect.DeepEqual(got, want[i]) {
			t.Errorf("%s: %+v, %v", m.Section, got, err)
		}
	}
}

func TestSession(t *testing.T) {
	var states []State
	for _, m := range vectors(t, "session.json") {
		payload := []byte(m.Payload)
		var text string
		if json.Unmarshal(payload, &text) == nil {
			payload = []byte(text)
		}
		got, err := Parse("frigate", m.Topic, payload)
		if err != nil {
			t.Errorf("%s: %v", m.Topic, err)
		}
		if e, ok := got.(Event); ok {
			states = append(states, e.State)
			if e.State == End && e.End != ms(1607123990500) {
				t.Errorf("%+v", e)
			}
		}
	}
	if !reflect.DeepEqual(states, []State{New, Update, End}) {
		t.Errorf("%v", states)
	}
}

func TestParse(t *testing.T) {
	event := func(after string) string { return `{"type":"end","after":{` + after + `}}` }
	const good = `"id":"1.5-a","camera":"door","label":"cat","start_time":1.5`
	for _, c := range []struct{ name, topic, payload, err string }{
		{"the least", "frigate/events", event(good), ""},
		{"a sub label as text", "frigate/events", event(good + `,"sub_label":"Tom"`), ""},
		{"the end is the start", "frigate/events", event(good + `,"end_time":1.5`), ""},
		{"without id", "frigate/events", event(`"camera":"door","label":"cat","start_time":1.5`), "event: id is missing"},
		{"an empty label", "frigate/events", event(`"id":"1.5-a","camera":"door","label":"","start_time":1.5`), "event: label is missing"},
		{"without a start", "frigate/events", event(`"id":"1.5-a","camera":"door","label":"cat"`), "event: start_time is missing"},
		{"an end before the start", "frigate/events", event(good + `,"end_time":1.4`), "event: end_time is before start_time"},
		{"a time that is none", "frigate/events", event(good + `,"end_time":-1`), "event: end_time -1 is not a time"},
		{"a sub label that is none", "frigate/events", event(good + `,"sub_label":[1]`), "event: sub_label: its first item is not a text"},
		{"a long name", "frigate/events", event(good + `,"sub_label":"` + strings.Repeat("x", 129) + `"`), "event: sub_label: it has to have at most 128 bytes"},
		{"a line in a zone", "frigate/events", event(good + `,"entered_zones":["a\nb"]`), "event: entered_zones has to have at most"},
		{"without after", "frigate/events", `{"type":"new"}`, "event: after is missing"},
		{"another type", "frigate/events", `{"type":"x"}`, `event: type "x" is not known`},
		{"more than 64 KB", "frigate/events", event(good + `,"path_data":["` + strings.Repeat("x", 70_000) + `"]`), ""},
		{"empty", "frigate/events", "", "event: unexpected end of JSON input"},
		{"told without id", "frigate/tracked_object_update", `{"type":"face","name":"x"}`, "tracked_object_update: id is missing"},
		{"told of no time", "frigate/tracked_object_update", `{"type":"face","id":"x-y","name":"x"}`, "does not begin with a time"},
		{"told of a time that is no number", "frigate/tracked_object_update", `{"type":"face","id":"nan-y","name":"x"}`, "does not begin with a time"},
		{"told of nobody", "frigate/tracked_object_update", `{"type":"face","id":"1.5-y","name":null}`, ""},
		{"available", "frigate/available", "maybe", `available: "maybe" is not known`},
		{"a picture", "frigate/door/cat/snapshot", "\xff\xd8\xff\xe0", ""},
		{"no picture", "frigate/door/cat/snapshot", "GIF89a", "snapshot: it is no JPEG"},
		{"a picture that was too large", "frigate/door/cat/snapshot", "", "snapshot: it is no JPEG"},
		{"another topic", "frigate/door/motion", "ON", ""},
		{"another prefix", "other/events", "x", ""},
	} {
		_, err := Parse("frigate", c.topic, []byte(c.payload))
		text := ""
		if err != nil {
			text = err.Error()
		}
		if (err == nil) != (c.err == "") || !strings.Contains(text, c.err) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, m := range append(vectors(f, "session.json"), vectors(f, "mqtt-examples.json")...) {
		f.Add("frigate/events", []byte(m.Payload))
		f.Add("frigate/tracked_object_update", []byte(m.Payload))
	}
	f.Add("frigate/door/cat/snapshot", []byte("\xff\xd8\xff\xe0"))
	f.Fuzz(func(t *testing.T, topic string, in []byte) {
		m, err := Parse("frigate", topic, in)
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Error(err)
		}
		if e, ok := m.(Event); ok && (e.ID == "" || e.Camera == "" || e.Label == "" || !e.End.IsZero() && e.End.Before(e.Start) || len(e.Zones) > maxList) {
			t.Errorf("%+v", e)
		}
	})
}
