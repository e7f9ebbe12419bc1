package postgres

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
)

// plan is a node of what EXPLAIN says.
type plan struct {
	Removed float64 `json:"Rows Removed by Filter"`
	Rows    float64 `json:"Actual Rows"`
	Loops   float64 `json:"Actual Loops"`
	Plans   []plan
}

// read counts the rows that a plan has read.
func (p *plan) read() (n float64) {
	n = (p.Rows + p.Removed) * p.Loops
	for i := range p.Plans {
		n += p.Plans[i].read()
	}
	return n
}

// The places of the chains are found by steps in the index, at whatever cursor, and not by reading
// a chain: a member may ask for them as often as it likes.
func TestPlacesReadFewDeltas(t *testing.T) {
	s, h := store(t, migrated(t), t.TempDir()), storetest.NewHousehold(t, "places")
	for i, e := range h.Entries {
		var founding *relay.Founding
		if i == 0 {
			founding = &relay.Founding{Account: relay.AccountID(h.Root.Public())}
		}
		check(t, s.AppendLog(t.Context(), e, founding, relay.Quota{}))
	}
	const many = 4000
	var ds []*envelope.Delta
	for range many {
		ds = append(ds, h.Delta(h.Owner, "x"))
	}
	_, err := s.Append(t.Context(), h.Space, h.State.N(), ds, relay.Quota{}, time.Now())
	check(t, err)
	for _, cursor := range []int64{1, many / 2, many} {
		out, err := list(t.Context(), s, "explain", h.Space, pgx.RowTo[json.RawMessage], "EXPLAIN (ANALYZE, FORMAT JSON) "+selectPlaces, cursor)
		check(t, err)
		var all []struct{ Plan plan }
		check(t, json.Unmarshal(out[0], &all))
		if n := all[0].Plan.read(); n > 500 {
			t.Errorf("at %d of %d deltas it reads %g rows", cursor, many, n)
		}
	}
}
