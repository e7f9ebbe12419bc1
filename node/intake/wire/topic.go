package wire

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
)

// Root begins every topic: locket/v1/<device>/<leaf>. The version is that of
// the message format.
const Root = "locket/v1/"

// Leaves of the topics from the node to a device.
const (
	LeafAck = "ack"
	LeafCmd = "cmd"
)

// Kinds that a device may publish, each the last part of its topic.
var Kinds = [...]memory.Kind{
	memory.KindHello, memory.KindAudio, memory.KindPhoto, memory.KindText, memory.KindLocation,
	memory.KindSensor, memory.KindButton, memory.KindGap, memory.KindStatus, memory.KindSealed,
}

// TopicOf returns a device's topic for messages of a kind.
func TopicOf(device string, kind memory.Kind) string { return Root + device + "/" + string(kind) }

// AckTopic returns the topic on which the node acknowledges messages of a
// device.
func AckTopic(device string) string { return Root + device + "/" + LeafAck }

// CmdTopic returns the topic on which the node sends commands to a device.
func CmdTopic(device string) string { return Root + device + "/" + LeafCmd }

// ParseTopic parses the topic of a device's message.
func ParseTopic(topic string) (device string, kind memory.Kind, err error) {
	rest, ours := strings.CutPrefix(topic, Root)
	device, leaf, two := strings.Cut(rest, "/")
	if !ours || !two || CheckDevice(device) != nil {
		return "", "", &Error{Problem: Topic, Detail: "want " + Root + "<device>/<kind>"}
	}
	if !slices.Contains(Kinds[:], memory.Kind(leaf)) {
		return "", "", &Error{Problem: Topic, Detail: "no such kind of message"}
	}
	return device, memory.Kind(leaf), nil
}

// CheckDevice returns an error unless name can name a device: 1 to 32 of a-z,
// 0-9 and the hyphen, which is neither first nor last.
func CheckDevice(name string) error {
	ok := len(name) >= 1 && len(name) <= MaxDevice && name[0] != '-' && name[len(name)-1] != '-'
	for i := 0; ok && i < len(name); i++ {
		c := name[i]
		ok = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-'
	}
	if !ok {
		return &Error{Field: "device", Problem: Limits, Detail: "want 1 to 32 of a-z, 0-9 and - (not first or last)"}
	}
	return nil
}
