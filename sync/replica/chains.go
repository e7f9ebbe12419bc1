package replica

import (
	"iter"
	"maps"

	"github.com/locket-dev/locket/sync/envelope"
)

// Chains says how far each chain goes. A chain is named MEMBER/INCARNATION, 16
// hexadecimal characters each; one that is not known is at the zero Link. The
// zero value has none. There may be very many: a copy costs what has changed
// since it was kept, and not all of them.
type Chains struct {
	kept    map[string]envelope.Link // as a journal has them; copies share it
	changed map[string]envelope.Link // since
}

// NewChains gives chains that a journal has kept, which go over to it.
func NewChains(kept map[string]envelope.Link) Chains { return Chains{kept: kept} }

// Link is how far a chain goes.
func (c Chains) Link(chain string) envelope.Link {
	if l, ok := c.changed[chain]; ok {
		return l
	}
	return c.kept[chain]
}

// Put says how far a chain goes.
func (c *Chains) Put(chain string, l envelope.Link) {
	if c.changed == nil {
		c.changed = map[string]envelope.Link{}
	}
	c.changed[chain] = l
}

// All gives each chain once, in no order that means anything.
func (c Chains) All() iter.Seq2[string, envelope.Link] {
	return func(yield func(string, envelope.Link) bool) {
		for chain, l := range c.kept {
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

// Len is how many chains there are.
func (c Chains) Len() int {
	n := len(c.kept)
	for chain := range c.changed {
		if _, is := c.kept[chain]; !is {
			n++
		}
	}
	return n
}

// Changed gives the chains that are elsewhere than a journal has kept them.
func (c Chains) Changed() iter.Seq2[string, envelope.Link] { return maps.All(c.changed) }

// next is a copy that can be changed.
func (c Chains) next() Chains { return Chains{c.kept, maps.Clone(c.changed)} }

// fold is once the changes were kept. Copies from before are of no use any more.
func (c *Chains) fold() {
	if c.kept == nil {
		c.kept = map[string]envelope.Link{}
	}
	maps.Copy(c.kept, c.changed)
	c.changed = nil
}
