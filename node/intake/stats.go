package intake

import (
	"maps"
	"sync"

	"github.com/locket-dev/locket/memory"
)

// Stats is what came in since the start.
type Stats struct {
	Received   map[memory.Kind]uint64 `json:"received"`    // by kind; "other" is any unknown kind
	Journalled uint64                 `json:"journalled"`  // events on disk
	Batches    uint64                 `json:"batches"`     // appends that it took
	Bytes      uint64                 `json:"bytes"`       // of payloads received, as far as they were read
	Duplicates uint64                 `json:"duplicates"`  // known already, and acknowledged again
	Paused     uint64                 `json:"paused"`      // dropped in a pause
	Private    map[string]uint64      `json:"private"`     // dropped in a private zone, by reason
	Rejected   map[string]uint64      `json:"rejected"`    // refused for good, by problem
	Retained   uint64                 `json:"retained"`    // events that a broker had kept from earlier, which were dropped
	Deferred   uint64                 `json:"deferred"`    // refused for now, to be sent again
	Unbelieved uint64                 `json:"unbelieved"`  // device clocks that can't be right
	Unknown    uint64                 `json:"unknown"`     // fields passed over
	Denied     uint64                 `json:"denied"`      // embedded broker: attempts at another's topics, and wrong passwords
	Connected  int                    `json:"connected"`   // embedded broker: devices; client: 1 while the broker is there
	Reconnects uint64                 `json:"reconnects"`  // connections that were ended to have unacknowledged messages again
	AcksFailed uint64                 `json:"acks_failed"` // acknowledgements that found no broker; the device asks again
}

type counters struct {
	mu sync.Mutex
	Stats
	logged map[string]bool // problems that were logged, once each
}

func (c *counters) count(f func(*Stats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.Stats)
}

// first reports whether key comes for the first time. Keys are few and fixed.
func (c *counters) first(key string) bool {
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
	for k, n := range c.Received {
		s.Received[k] = n
	}
	s.Rejected, s.Private = maps.Clone(c.Rejected), maps.Clone(c.Private)
	return s
}
