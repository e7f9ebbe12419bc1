package intake

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Journal is where events are stored before they are acknowledged.
type Journal interface {
	// Append returns nil once all events are on disk, synced, in this order. After an
	// error no event counts as taken. Some may be on disk nevertheless; they come again
	// with the same ids. memory.ErrNoSpace says that the disk's reserve is reached; any
	// other error means "not now". One goroutine at a time calls it, and it may keep the
	// events.
	Append(ctx context.Context, events []memory.Event) error
}

// PrivateZones knows the wearer's private zones, and decides which events happened in one.
// It must be safe for concurrent use.
type PrivateZones interface {
	// CheckEvent is called with every event, in the order of arrival. From locations it learns
	// where the wearer is. If it returns a reason for an event that tells of the
	// wearer, the event is acknowledged and dropped. moved reports that the wearer has
	// entered or left a zone.
	CheckEvent(*memory.Event) (reason string, moved bool)
}

// Quarantine keeps messages that were refused for good, so that a person can look at them.
// It limits what it keeps. An error is only logged.
type Quarantine interface {
	Keep(ctx context.Context, r Rejected) error
}

// MaxKept is how many bytes of a refused payload are handed to [Quarantine].
const MaxKept = 4 << 10

// Rejected is a message that was refused for good.
type Rejected struct {
	At      time.Time   `json:"at"`
	Device  string      `json:"device"` // from its topic; empty if the topic names none
	Kind    memory.Kind `json:"kind"`   // the last part of its topic
	Problem string      `json:"problem"`
	Field   string      `json:"field,omitempty"`
	Error   string      `json:"error"`
	Size    int64       `json:"size"`              // bytes of the payload
	Payload []byte      `json:"payload,omitempty"` // its first MaxKept bytes; they may contain what the wearer said
}
