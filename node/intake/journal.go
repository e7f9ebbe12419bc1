package intake

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Journal is where events go before they are acknowledged.
type Journal interface {
	// Append returns nil once all events are on disk, synced, in this order.
	// After an error none counts as taken, though some may be there: they come
	// again under the same ids. memory.ErrNoSpace says that the disk's reserve
	// is reached; any error means "not now". It is called by one goroutine at a
	// time and may keep the events.
	Append(ctx context.Context, events []memory.Event) error
}

// Gate says what is not to be taken in although nothing is paused: what is
// from the wearer's private zones. It must be safe for concurrent use.
type Gate interface {
	// Drop is asked of every event, in the order of arrival, and learns from it.
	// Of one that tells of the wearer, a reason means that it is acknowledged
	// and thrown away. moved is true where the wearer is known to be elsewhere now.
	Drop(*memory.Event) (reason string, moved bool)
}

// Quarantine keeps what was refused for good, so that a person can look into
// it. It bounds what it keeps. An error is logged and changes nothing else.
type Quarantine interface {
	Keep(ctx context.Context, r Rejected) error
}

// MaxKept is how many bytes of a refused payload are handed to [Quarantine].
const MaxKept = 4 << 10

// Rejected is a message that was refused for good.
type Rejected struct {
	At      time.Time   `json:"at"`
	Device  string      `json:"device"` // of its topic; empty where the topic names none
	Kind    memory.Kind `json:"kind"`   // the last part of its topic
	Problem string      `json:"problem"`
	Field   string      `json:"field,omitempty"`
	Error   string      `json:"error"`
	Size    int64       `json:"size"`              // bytes of the payload
	Payload []byte      `json:"payload,omitempty"` // its first MaxKept bytes; it may hold what the wearer said
}
