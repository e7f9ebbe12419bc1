package market

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/trade"
)

// A home that sells a period every day for years keeps only the newest periods and
// those with open orders; withdrawn ones do not pile up, either.
func TestOldPeriodsAreDropped(t *testing.T) {
	one := func(id, version byte, number int) listed {
		return listed{Listing: serve.Listing{ID: trade.Hash{id}, Version: trade.Hash{id, version, byte(number), byte(number >> 8)}, Number: number}, Key: []byte{1}, Sent: true}
	}
	var all []listed
	for n := 600; n > 0; n-- {
		all = append(all, one(1, 0, n))
	}
	ordered, moving := &all[17], &all[18]
	moving.MovedTo = &movedTo{Market: "https://other.example", Listing: trade.Hash{9}}
	unsent := one(2, 0, 2)
	unsent.Sent = false
	all = append(all, unsent, one(2, 1, 1)) // the market may have only the first
	for n := range 150 {
		l := one(byte(3), 0, n)
		l.ID = trade.Hash{3, byte(n)}
		l.Withdrawn = time.Unix(1, 0)
		all = append(all, l)
	}
	keys, whole := over(all, map[trade.Hash]bool{ordered.Version: true})
	var kept, keyed int
	for i := range all {
		if !whole[all[i].Version] {
			kept++
		}
		if !keys[all[i].Version] {
			keyed++
		}
	}
	if kept != 3+2+maxWithdrawn || keyed != 3+2 {
		t.Errorf("kept %d versions, %d of them with keys", kept, keyed)
	}
	for _, l := range []*listed{&all[0], ordered, moving, &all[600], &all[601]} {
		if whole[l.Version] || keys[l.Version] {
			t.Errorf("version %d of %s was dropped", l.Number, l.ID)
		}
	}
}
