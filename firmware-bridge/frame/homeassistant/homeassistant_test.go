package homeassistant

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// The table was written by hand, after the messages of mqtt_statestream.
func TestParse(t *testing.T) {
	door := Entity{"binary_sensor", "front_door"}
	for _, c := range []struct {
		topic, payload string
		want           Message
		err            error
	}{
		{"house/binary_sensor/front_door/state", "on", Message{Entity: door, Leaf: State, Text: "on"}, nil},
		{"house/binary_sensor/front_door/state", "a\xff", Message{Entity: door, Leaf: State, Text: "a\ufffd"}, nil},
		{"house/binary_sensor/front_door/state", "", Message{Entity: door, Leaf: State}, nil},
		{"house/binary_sensor/front_door/friendly_name", `"Front “door”"`, Message{Entity: door, Leaf: Name, Text: "Front “door”"}, nil},
		{"house/binary_sensor/front_door/device_class", `"door"`, Message{Entity: door, Leaf: Class, Text: "door"}, nil},
		{"house/binary_sensor/front_door/device_class", `null`, Message{Entity: door}, nil},
		{"house/binary_sensor/front_door/last_changed", "2026-05-02T05:30:00.123456+00:00", Message{Entity: door, Leaf: Changed, At: time.Date(2026, 5, 2, 5, 30, 0, 123456000, time.UTC)}, nil},
		{"house/binary_sensor/front_door/options", `["a"]`, Message{Entity: door}, nil},
		{"house/binary_sensor/front_door/last_changed", "yesterday", Message{}, ErrTime},
		{"house/binary_sensor/front_door/friendly_name", "Front door", Message{}, ErrJSON},
		{"house/binary_sensor/front_door/friendly_name", "12", Message{}, ErrJSON},
		{"house/binary_sensor/front_door/state", strings.Repeat("a", 1025), Message{}, ErrSize},
		{"house/status", "online", Message{}, ErrTopic},
		{"house/binary_sensor//state", "on", Message{}, ErrTopic},
		{"home/binary_sensor/front_door/state", "on", Message{}, ErrTopic},
	} {
		got, err := Parse("house", c.topic, []byte(c.payload))
		if !errors.Is(err, c.err) || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%s %q: %v, want %v", c.topic, c.payload, err, c.err)
		}
		if !got.At.Equal(c.want.At) {
			t.Errorf("%s: %s", c.topic, got.At)
		}
		got.At = c.want.At // in another zone
		if got != c.want {
			t.Errorf("%s %q: %+v, want %+v", c.topic, c.payload, got, c.want)
		}
	}
}

func TestSentenceOfAState(t *testing.T) {
	for _, c := range []struct{ domain, class, state, want string }{
		{"binary_sensor", "door", "on", "was opened"}, {"binary_sensor", "door", "off", "was closed"}, {"binary_sensor", "motion", "off", ""},
		{"binary_sensor", "", "on", "went on"}, {"binary_sensor", "connectivity", "off", ""}, {"binary_sensor", "door", "unavailable", ""},
		{"lock", "", "unlocked", "was unlocked"}, {"lock", "", "locking", ""}, {"cover", "garage", "open", "was opened"}, {"cover", "", "opening", ""}, {"light", "", "on", ""},
	} {
		if got := Says(c.domain, c.class, c.state); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
		if Carries(c.domain) != (c.domain != "light") {
			t.Errorf("%s is carried: %t", c.domain, Carries(c.domain))
		}
	}
	for state, want := range map[string]bool{"21.5": true, "-3": true, "NaN": false, "inf": false, "unknown": false, "": false} {
		if _, ok := Number(state); ok != want {
			t.Errorf("%q is a number: %t", state, ok)
		}
	}
}

// Any message is read or refused, and what is read is limited in size.
func FuzzParse(f *testing.F) {
	f.Add("house/binary_sensor/front_door/state", []byte("on"))
	f.Add("house/sensor/outside/last_changed", []byte("2026-05-02T05:30:00+00:00"))
	f.Add("house/sensor/outside/unit_of_measurement", []byte(`"°C"`))
	f.Fuzz(func(t *testing.T, topic string, b []byte) {
		m, err := Parse("house", topic, b)
		if err != nil {
			if !errors.Is(err, ErrFormat) || m.Leaf != "" {
				t.Fatalf("%+v, %v", m, err)
			}
			return
		}
		if len(m.Text) > 3*maxText || m.Entity.Domain == "" || m.Entity.Object == "" {
			t.Errorf("%+v", m)
		}
	})
}
