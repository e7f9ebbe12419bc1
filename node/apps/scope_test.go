package apps

import (
	"testing"

	"github.com/locket-dev/locket/memory"
)

// An app is told where the wearer was, and not where on earth that is. What an
// app or a caller has kept under the same key is its own.
func TestPositionUnseen(t *testing.T) {
	m := memory.Memory{Candidate: memory.Candidate{Source: memory.Source{Plugin: "node"}, Metadata: memory.Metadata{memory.MetaPosition: "31.2,121.4", "place": "Home"}}}
	var s scope
	if got := s.show(m).Metadata; len(got) != 1 || got["place"] != "Home" {
		t.Errorf("an app sees %v", got)
	}
	if len(m.Metadata) != 2 {
		t.Errorf("the memory itself has %v", m.Metadata)
	}
	m.Source.Plugin = ""
	if got := s.show(m).Metadata; len(got) != 2 {
		t.Errorf("of a caller's own it sees %v", got)
	}
}
