package intake

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Topics are MQTT topic filters in addition to a login's own topics: for software that isn't
// a wearable, such as a phone's OwnTracks and the bridge that reads it. The broker passes
// such messages to logins that may read them. The node does not take them.
type Topics struct {
	Publish []string `json:"publish,omitempty"`
	Read    []string `json:"read,omitempty"`
}

// TopicGranter grants such topics. Devices may implement it; otherwise nobody has any.
type TopicGranter interface {
	// Topics returns those of a login. They may change while it is connected.
	Topics(name string) Topics
}

// Limits for messages between logins. Retained messages stay in memory, and have to fit into
// maxUnread. Sizes include the topic and the properties, except for 1 KiB.
const (
	MaxFilters    = 32
	maxFilter     = 200      // bytes
	maxPassed     = 64 << 10 // bytes of one message
	maxRetained   = 2 << 20  // bytes for all logins, plus 1 KiB a message; one login gets at most half of what the others leave
	maxRetainedOf = 16 << 10 // bytes of each message
	maxSubscribed = 256      // topics that a login may subscribe to at the same time
)

// Check returns an error if a filter is invalid. A filter has to begin with a name other than
// that of the wearables' topics, so that it covers none of them.
func (t *Topics) Check() error {
	for field, list := range map[string][]string{"publish": t.Publish, "read": t.Read} {
		if len(list) > MaxFilters {
			return fmt.Errorf("%w: %s: %d topics, at most %d", memory.ErrInvalid, field, len(list), MaxFilters)
		}
		for _, f := range list {
			if why := checkFilter(f); why != "" {
				return fmt.Errorf("%w: %s: %.60q: %s", memory.ErrInvalid, field, f, why)
			}
		}
	}
	return nil
}

func checkFilter(f string) (why string) {
	first, _, _ := strings.Cut(f, "/")
	ours, _, _ := strings.Cut(wire.Root, "/")
	levels := strings.Split(f, "/")
	switch {
	case f == "" || len(f) > maxFilter || !utf8.ValidString(f) || strings.ContainsFunc(f, unicode.IsControl):
		return fmt.Sprintf("want 1 to %d bytes of UTF-8", maxFilter)
	case first == "" || strings.ContainsAny(first, "+#$"):
		return "want a topic that begins with a name, such as owntracks/#"
	case first == ours:
		return "these topics belong to wearables, each of which has its own"
	}
	for i, l := range levels {
		if strings.ContainsAny(l, "+#") && len(l) > 1 || l == "#" && i < len(levels)-1 {
			return "+ has to be one whole level, and # the last one"
		}
	}
	return ""
}

// covers reports whether one of the filters matches everything that a topic or another filter
// matches.
func covers(filters []string, topic string) bool {
	return topic != "" && slices.ContainsFunc(filters, func(f string) bool {
		has, want := strings.Split(f, "/"), strings.Split(topic, "/")
		for i, l := range has {
			switch {
			case l == "#":
				return true
			case i >= len(want) || want[i] == "#":
				return false
			case l != "+" && l != want[i]:
				return false
			}
		}
		return len(has) == len(want)
	})
}

// topics returns a login's topics in addition to its own.
func (h *hook) topics(name string) Topics {
	if r, ok := h.devices.(TopicGranter); ok {
		return r.Topics(name)
	}
	return Topics{}
}

// foreign reports whether a topic is not one of the wearables'.
func foreign(topic string) bool { return !strings.HasPrefix(topic, wire.Root) }

// pass delivers a message of one login to those who may read it.
func (h *hook) pass(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	size := sizeOf(&pk)
	if l, ok := cl.Net.Conn.(*limitConn); ok && len(pk.Payload) == 0 && l.takeSkipped(pk.PacketID).size > 0 || size > maxPassed {
		h.denied("size", fmt.Sprintf("a message between programs has over %d bytes", maxPassed))
		return pk, packets.CodeSuccessIgnore
	}
	pk.FixedHeader.Retain = pk.FixedHeader.Retain && h.retains(cl.ID, pk.TopicName, len(pk.Payload), size)
	return pk, nil
}

// retains reports whether a login's message may be kept for later subscribers. An empty
// message deletes the kept one.
func (h *hook) retains(login, topic string, payload, size int) bool {
	if payload == 0 || size > maxRetainedOf {
		return size <= maxRetainedOf
	}
	of, others := size+1<<10, 0
	for at, m := range h.broker.server.Topics.Retained.GetAll() {
		switch n := sizeOf(&m) + 1<<10; {
		case at == topic: // the new message replaces this one
		case m.Origin == login:
			of += n
		default:
			others += n
		}
	}
	return of <= (maxRetained-others)/2
}

func sizeOf(pk *packets.Packet) int {
	return len(pk.Payload) + max(0, pk.FixedHeader.Remaining-len(pk.Payload)-1<<10)
}

// OnSubscribe makes messages between logins be delivered with QoS 0, so that nothing is kept
// for a reader that is away. It refuses topics beyond maxSubscribed.
func (h *hook) OnSubscribe(cl *mqtt.Client, pk packets.Packet) packets.Packet {
	have := cl.State.Subscriptions.Len()
	for i := range pk.Filters {
		if _, known := cl.State.Subscriptions.Get(pk.Filters[i].Filter); !known {
			have++
		}
		if max(have, i+1) > maxSubscribed {
			pk.Filters[i].Filter = "" // which mochi refuses
			continue
		}
		if foreign(pk.Filters[i].Filter) {
			pk.Filters[i].Qos = 0
		}
	}
	return pk
}
