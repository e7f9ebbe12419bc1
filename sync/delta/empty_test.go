package delta

import (
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// A chunk has at least one item. A snapshot of nothing has no chunks.
func TestEmptyChunkIsRefused(t *testing.T) {
	s := Source{Space: memory.SpaceID{1}, Author: memory.MemberID{2}, Cursor: 7}
	b, err := packed(wireChunk{Context: s.context(1), Items: []wireItem{}})
	if err != nil {
		t.Fatal(err)
	}
	if items, err := Unpack(s, 1, b); !errors.Is(err, ErrForm) {
		t.Errorf("%v, %v", items, err)
	}
}
