package intake

import (
	"maps"
	"sync"

	"github.com/locket-dev/locket/memory"
)

// Stats counts what has arrived since the start.
type Stats struct {
	Received   map[memory.Kind]uint64 `json:"received"`    // by kind; "other" is any unknown kind
	Journalled uint64                 `json:"journalled"`  // events on disk
	Batches    uint64                 `json:"batches"`     // appends that this took
	Bytes      uint64                 `json:"bytes"`       // of payloads received, as far as they were read
	Duplicates uint64                 `json:"duplicates"`  // known already, and only acknowledged again
	Paused     uint64                 `json:"paused"`      // dropped in a pause
	Private    map[string]uint64      `json:"private"`     // dropped in a private zone, by reason
	Rejected   map[string]uint64      `json:"rejected"`    // refused for good, by problem
	Retained   uint64                 `json:"retained"`    // old events that a broker had kept, which were dropped
	Deferred   uint64                 `json:"deferred"`    // refused for now, to be sent again later
	Unbelieved uint64                 `json:"unbelieved"`  // device clocks that can't be right
	Unknown    uint64                 `json:"unknown"`     // unknown fields that were ignored
	Denied     uint64                 `json:"denied"`      // embedded broker: attempts to use another device's topics, and wrong passwords
	Connected  int                    `json:"connected"`   // embedded broker: devices; client: 1 while the broker is there
	Reconnects uint64                 `json:"reconnects"`  // connections that were ended so that unacknowledged messages are sent again
	AcksFailed uint64                 `json:"acks_failed"` // acknowledgements that could not be sent; the device asks again
}

type counters struct {
	mu sync.Mutex
	Stats
	logged map[string]bool // problems that were logged; each is logged only once
}

func (c *counters) count(f func(*Stats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.Stats)
}

// isFirst reports whether this is the first call with a key. Keys are few and
// fixed.
func (c *counters) isFirst(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.logged[key] {
		return false
	}
	c.logged[key] = true
	return true
}

func (c *counters) snapshot() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.Stats
	s.Received = map[memory.Kind]uint64{}
	maps.Copy(s.Received, c.Received)
	s.Rejected, s.Private = maps.Clone(c.Rejected), maps.Clone(c.Private)
	return s
}
