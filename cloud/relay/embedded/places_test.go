package embedded

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// The places of the chains are found by steps in the index, at whatever cursor, and not by reading a
// space's deltas: a member may ask for them as often as it likes.
func TestPlacesReadFewDeltas(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id := memory.SpaceID{1}
	chains := []struct {
		member      memory.MemberID
		incarnation int64
	}{{memory.MemberID{1}, 7}, {memory.MemberID{1}, -7}, {memory.MemberID{2}, 7}}
	const each = 20
	if err := s.change(t.Context(), "fill", func(ctx context.Context, tx *sql.Tx) error {
		for _, query := range []string{"INSERT INTO accounts VALUES (?1, 0, 0, 0, 0)", "INSERT INTO spaces VALUES (?1, ?1, 0, x'', 60)"} {
			if _, err := tx.ExecContext(ctx, query, id[:]); err != nil {
				return err
			}
		}
		for n := range each * len(chains) {
			c := chains[n%len(chains)]
			if _, err := tx.ExecContext(ctx, "INSERT INTO deltas VALUES (?, ?, ?, ?, ?, ?, x'', x'', NULL, 0)",
				id[:], n+1, c.member[:], c.incarnation, n/len(chains)+1, []byte{byte(n + 1)}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for cursor := range uint64(each*len(chains)) + 3 {
		got, err := s.Places(t.Context(), id, cursor)
		if err != nil {
			t.Fatal(err)
		}
		if want := min(cursor, uint64(len(chains))); uint64(len(got)) != want {
			t.Fatalf("at %d there are %d chains, want %d", cursor, len(got), want)
		}
		seen := map[byte]bool{}
		for _, p := range got {
			at := uint64(p.Hash[0])
			last := at + uint64(len(chains)) // the next of its chain
			if at == 0 || at > cursor || last <= min(cursor, each*uint64(len(chains))) || p.Seq != (at-1)/uint64(len(chains))+1 || seen[p.Hash[0]] {
				t.Errorf("at %d: %+v", cursor, p)
			}
			seen[p.Hash[0]] = true
		}
	}
	for _, query := range []string{selectEnds, selectDelta} {
		rows, err := s.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, id[:], id[:8], 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var n, parent, unused int
			var does string
			if err := rows.Scan(&n, &parent, &unused, &does); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(does, "B-TREE") || strings.HasPrefix(does, "SCAN") && !strings.Contains(does, "chains") && !strings.Contains(does, "subquery") ||
				strings.Contains(does, "member>?") && !strings.Contains(does, "COVERING") {
				t.Errorf("it does: %s", does)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
