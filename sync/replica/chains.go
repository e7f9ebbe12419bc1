package replica

import (
	"fmt"
	"iter"
	"maps"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Chains records how far each chain goes. The key of a chain is
// MEMBER/INCARNATION, 16 hexadecimal digits each. An unknown chain is at the
// zero Link. The zero value is empty. There may be very many chains, so a copy
// costs only what changed since the last save.
type Chains struct {
	saved   map[string]envelope.Link // as the journal has saved them; shared by copies
	changed map[string]envelope.Link // changes since the last save
}

// NewChains returns chains that a journal has saved. It takes over the map.
func NewChains(kept map[string]envelope.Link) Chains { return Chains{saved: kept} }

// Link returns how far a chain goes.
func (c Chains) Link(chain string) envelope.Link {
	if l, ok := c.changed[chain]; ok {
		return l
	}
	return c.saved[chain]
}

// Put sets how far a chain goes.
func (c *Chains) Put(chain string, l envelope.Link) {
	if c.changed == nil {
		c.changed = map[string]envelope.Link{}
	}
	c.changed[chain] = l
}

// All yields each chain once, in no particular order.
func (c Chains) All() iter.Seq2[string, envelope.Link] {
	return func(yield func(string, envelope.Link) bool) {
		for chain, l := range c.saved {
			if _, is := c.changed[chain]; !is && !yield(chain, l) {
				return
			}
		}
		for chain, l := range c.changed {
			if !yield(chain, l) {
				return
			}
		}
	}
}

// Len returns the number of chains.
func (c Chains) Len() int {
	n := len(c.saved)
	for chain := range c.changed {
		if _, is := c.saved[chain]; !is {
			n++
		}
	}
	return n
}

// Changed yields the names of the chains that differ from what the journal has saved.
func (c Chains) Changed() iter.Seq[string] { return maps.Keys(c.changed) }

// clone returns a copy that can be changed.
func (c Chains) clone() Chains { return Chains{c.saved, maps.Clone(c.changed)} }

// merge marks the changes as saved. Earlier copies must not be used any more.
func (c *Chains) merge() {
	if c.saved == nil {
		c.saved = map[string]envelope.Link{}
	}
	maps.Copy(c.saved, c.changed)
	c.changed = nil
}

// chainKey returns the key in State.Chains of one incarnation of a member.
func chainKey(m memory.MemberID, incarnation uint64) string {
	return fmt.Sprintf("%s/%016x", m, incarnation)
}

// parseChain parses a key that chainKey made.
func parseChain(key string) (m memory.MemberID, incarnation uint64, ok bool) {
	member, number, _ := strings.Cut(key, "/")
	incarnation, err := strconv.ParseUint(number, 16, 64)
	ok = err == nil && m.UnmarshalText([]byte(member)) == nil
	return m, incarnation, ok
}
