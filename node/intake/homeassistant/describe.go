package homeassistant

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/node/serve"
)

// description returns the topic on which Home Assistant looks for the description of a
// device.
func (c *conn) description() string { return c.Prefix + "/device/" + c.ID + "/config" }

// component is one entity of a description, with the keys of Home Assistant's MQTT
// schemas.
type component map[string]any

// describe returns a description of the node's entities. An entity that no longer exists
// is listed with only its platform, which makes Home Assistant remove it.
func (c *conn) describe(devices []serve.Device) map[string]any {
	parts := map[string]component{
		"pause": {"platform": "switch", "name": "Pause", "icon": "mdi:pause", "command_topic": c.topic("pause/set"), "state_topic": c.topic("pause")},
		"waiting": {"platform": "sensor", "name": "Waiting", "icon": "mdi:tray-full", "state_class": "measurement", "unit_of_measurement": "events",
			"state_topic": c.topic("waiting"), "entity_category": "diagnostic"},
	}
	for _, d := range devices {
		key, at := "wearable_"+strings.ReplaceAll(d.Name, "-", "_"), "wearable/"+d.Name
		parts[key+"_battery"] = component{"platform": "sensor", "name": d.Name + " battery", "device_class": "battery", "unit_of_measurement": "%",
			"state_class": "measurement", "state_topic": c.topic(at + "/battery")}
		parts[key+"_heard"] = component{"platform": "sensor", "name": d.Name + " last heard", "device_class": "timestamp", "state_topic": c.topic(at + "/heard")}
	}
	if c.App != nil {
		parts["memory"] = component{"platform": "event", "name": "Memory", "event_types": []string{"added"}, "state_topic": c.topic("memory")}
		parts["question"] = component{"platform": "text", "name": "Question", "max": maxQuestion, "command_topic": c.topic("question/set"), "state_topic": c.topic("question")}
		parts["answer"] = component{"platform": "sensor", "name": "Answer", "state_topic": c.topic("answer"), "value_template": "{{ value_json.state }}",
			"json_attributes_topic": c.topic("answer")}
	}
	all := map[string]component{}
	for key, p := range parts {
		p["unique_id"] = c.ID + "_" + key
		all[key] = p
	}
	for key := range c.parts { // entities of a retained description
		if all[key] == nil && (c.Listed || !strings.HasPrefix(key, "wearable_")) {
			all[key] = component{"platform": platformOf(key)}
		}
	}
	return map[string]any{
		"device":       map[string]any{"identifiers": []string{c.ID}, "name": "Locket", "manufacturer": "Locket", "model": "node", "sw_version": c.Version},
		"origin":       map[string]any{"name": "Locket", "sw_version": c.Version},
		"availability": []any{map[string]any{"topic": c.topic("availability")}},
		"components":   all,
		"qos":          1,
	}
}

// Upper limits for a description of ours, whoever wrote it.
const (
	maxDescription = 256 << 10
	maxParts       = 500
)

// clear records the entities of a retained description from an earlier run, and of later
// descriptions.
func (c *conn) clear(text string) {
	var was struct {
		Components map[string]map[string]any `json:"components"`
	}
	if len(text) > maxDescription || json.Unmarshal([]byte(text), &was) != nil { // not one of ours
		return
	}
	for key := range was.Components {
		if platformOf(key) != "" && len(c.parts) < maxParts {
			c.parts[key] = true
		}
	}
}

// platformOf returns the platform of an entity of ours; empty: it is not ours.
func platformOf(key string) string {
	switch {
	case key == "pause":
		return "switch"
	case key == "memory":
		return "event"
	case key == "question":
		return "text"
	case key == "answer", key == "waiting", strings.HasPrefix(key, "wearable_"):
		return "sensor"
	}
	return ""
}

func onOff(on bool) string {
	if on {
		return "ON"
	}
	return "OFF"
}

func number(n int) string { return strconv.Itoa(n) }
