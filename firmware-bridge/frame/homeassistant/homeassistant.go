// Package homeassistant reads what Home Assistant's integration mqtt_statestream publishes of a house: bytes in, values
// out. It does no input or output.
//
// Each change of an entity is published with QoS 1, and retained (home-assistant/core,
// components/mqtt_statestream/__init__.py), in this order:
//
//	PREFIX/DOMAIN/OBJECT/state         a text, as it is: on, off, 21.5, unavailable
//	PREFIX/DOMAIN/OBJECT/last_updated  ISO 8601, with publish_timestamps
//	PREFIX/DOMAIN/OBJECT/last_changed  the same
//	PREFIX/DOMAIN/OBJECT/ATTRIBUTE     JSON, with publish_attributes
//
// The state comes again if only an attribute has changed; last_changed is then unchanged.
package homeassistant

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

var (
	// ErrFormat: the message is not what the integration publishes. The errors below wrap it.
	ErrFormat = errors.New("home assistant")
	// ErrTopic: the topic is not that of an entity.
	ErrTopic = fmt.Errorf("%w: the topic is not of an entity", ErrFormat)
	// ErrSize: a text is longer than any in Home Assistant.
	ErrSize = fmt.Errorf("%w: a text that is too long", ErrFormat)
	// ErrJSON: an attribute is not a JSON text.
	ErrJSON = fmt.Errorf("%w: an attribute that is not a text", ErrFormat)
	// ErrTime: last_changed is not a time.
	ErrTime = fmt.Errorf("%w: last_changed is not a time", ErrFormat)
)

// maxText is the most bytes of a state, which has up to 255 characters in Home Assistant, and of a
// name.
const maxText = 1024

// Leaf names what a message says about an entity.
type Leaf string

// Leaves that are read.
const (
	State   Leaf = "state"
	Changed Leaf = "last_changed"
	Name    Leaf = "friendly_name"
	Class   Leaf = "device_class"
	Unit    Leaf = "unit_of_measurement"
)

var leaves = [...]Leaf{State, Changed, Name, Class, Unit}

// Entity is Home Assistant's name of it: binary_sensor.front_door.
type Entity struct{ Domain, Object string }

func (e Entity) String() string { return e.Domain + "." + e.Object }

// Message is one message.
type Message struct {
	Entity Entity
	Leaf   Leaf
	Text   string    // State, Name, Class, Unit
	At     time.Time // Changed
}

// Topics returns the topic filters to subscribe to.
func Topics(prefix string) (out []string) {
	for _, l := range leaves {
		out = append(out, prefix+"/+/+/"+string(l))
	}
	return out
}

// Parse reads a message. If its leaf is another one, Leaf is empty.
func Parse(prefix, topic string, payload []byte) (m Message, err error) {
	parts := strings.Split(strings.TrimPrefix(topic, prefix+"/"), "/")
	if !strings.HasPrefix(topic, prefix+"/") || len(parts) != 3 || parts[0] == "" || parts[1] == "" {
		return m, fmt.Errorf("%w: %.100q", ErrTopic, topic)
	}
	if len(payload) > maxText || len(parts[0])+len(parts[1]) > maxText {
		return m, fmt.Errorf("%w: %.100q: %d bytes", ErrSize, topic, len(payload))
	}
	m.Entity = Entity{parts[0], parts[1]}
	switch leaf := Leaf(parts[2]); leaf {
	case State:
		m.Leaf, m.Text = leaf, strings.ToValidUTF8(string(payload), "\ufffd")
	case Changed:
		if m.At, err = time.Parse(time.RFC3339, string(payload)); err != nil {
			return Message{}, fmt.Errorf("%w: %s: %.40q", ErrTime, m.Entity, payload)
		}
		m.Leaf = leaf
	case Name, Class, Unit:
		if string(payload) == "null" {
			return m, nil
		}
		if err := json.Unmarshal(payload, &m.Text); err != nil {
			return Message{}, fmt.Errorf("%w: %s: %s", ErrJSON, m.Entity, leaf)
		}
		m.Leaf = leaf
	}
	return m, nil
}

// Carries reports whether a domain's entities are of interest.
func Carries(domain string) bool {
	switch domain {
	case "binary_sensor", "lock", "cover", "sensor":
		return true
	}
	return false
}

// Known reports whether a state says something about the entity: that of a device that can't be
// reached does not.
func Known(state string) bool { return state != "" && state != "unavailable" && state != "unknown" }

// Number reads the state of a sensor that measures.
func Number(state string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(state, 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// said describes the changes of an entity that is on or off, by its class
// (components/binary_sensor/__init__.py); empty: not worth a line.
var said = map[string]struct{ on, off string }{
	"door": {"was opened", "was closed"}, "garage_door": {"was opened", "was closed"}, "window": {"was opened", "was closed"}, "opening": {"was opened", "was closed"},
	"lock":   {"was unlocked", "was locked"},
	"motion": {"saw somebody move", ""}, "moving": {"moved", ""}, "vibration": {"shook", ""}, "sound": {"heard a sound", ""},
	"occupancy": {"saw somebody come", "saw nobody any more"}, "presence": {"came home", "left home"},
	"moisture": {"became wet", "became dry"}, "smoke": {"found smoke", "found no more smoke"}, "gas": {"found gas", "found no more gas"},
	"carbon_monoxide": {"found carbon monoxide", "found no more carbon monoxide"},
	"problem":         {"has a problem", "has no more problem"}, "safety": {"is unsafe", "is safe again"}, "tamper": {"was tampered with", ""},
	"battery": {"has a low battery", ""}, "power": {"got power", "lost power"}, "running": {"began to run", "ended"},
	"battery_charging": {}, "connectivity": {}, "light": {}, "plug": {}, "update": {}, "cold": {}, "heat": {},
}

// Says describes a change, such as "was opened"; empty if it is not worth a line, or not known.
func Says(domain, class, state string) string {
	switch domain {
	case "binary_sensor":
		s, known := said[class]
		if !known {
			s.on, s.off = "went on", "went off"
		}
		switch state {
		case "on":
			return s.on
		case "off":
			return s.off
		}
	case "lock":
		switch state {
		case "locked", "unlocked", "jammed":
			return "was " + state
		}
	case "cover":
		switch state {
		case "open":
			return "was opened"
		case "closed":
			return "was closed"
		}
	}
	return ""
}
