package embedded

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
)

// A database that can't grow any more stores nothing in part, reports that it is full, and
// continues once it can grow.
func TestFullDatabase(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h := storetest.NewHousehold(t, "full")
	for i, e := range h.Entries {
		var f *relay.Founding
		if i == 0 {
			f = &relay.Founding{Account: relay.AccountID(h.Root.Public())}
		}
		if err := s.AppendLog(t.Context(), e, f, relay.Quota{}); err != nil {
			t.Fatal(err)
		}
	}
	grow := func(pages int) {
		t.Helper()
		if _, err := s.write.ExecContext(t.Context(), fmt.Sprint("PRAGMA max_page_count = ", pages)); err != nil {
			t.Fatal(err)
		}
	}
	grow(1) // it can't grow any further
	now := time.Unix(1_790_000_000, 0)
	var taken uint64
	for {
		two := []*envelope.Delta{h.Delta(h.Owner, strings.Repeat("sealed ", 2000)), h.Delta(h.Owner, strings.Repeat("sealed ", 2000))}
		cursors, err := s.Append(t.Context(), h.Space, h.State.N(), two, relay.Quota{}, now)
		if err == nil {
			taken = cursors[1]
			continue
		}
		if !errors.Is(err, relay.ErrFull) {
			t.Fatal(err)
		}
		if space, err := s.Space(t.Context(), h.Space); err != nil || space.Cursor != taken {
			t.Fatalf("%+v, %v: %d were taken", space, err, taken)
		}
		grow(1 << 30)
		if cursors, err = s.Append(t.Context(), h.Space, h.State.N(), two, relay.Quota{}, now); err != nil || cursors[0] != taken+1 {
			t.Fatal(cursors, err)
		}
		return
	}
}
