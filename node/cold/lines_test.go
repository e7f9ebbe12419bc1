package cold_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
	"github.com/locket-dev/locket/node/cold"
)

// With a budget, old utterances are packed, with or without a relay, and new
// ones are not.
func TestOldUtterancesArePacked(t *testing.T) {
	ctx, s := t.Context(), openStore(t)
	const old, fresh = 300, 200
	put := func(n int, at time.Time) error {
		return s.Update(ctx, func(tx *store.Tx) error {
			return tx.PutRemoteUtterance(&memory.Utterance{ID: memory.ID{byte(n), byte(n >> 8), 1}, At: at, Text: fmt.Sprint("said ", n)})
		})
	}
	var err error
	for n := range old + fresh {
		at := now.Add(-time.Duration(n+1) * time.Hour)
		if n >= old {
			at = now.Add(-time.Duration(n) * time.Second)
		}
		err = errors.Join(err, put(n, at))
	}
	if err != nil {
		t.Fatal(err)
	}
	loose := func(b tier.Budget) (n int) {
		t.Helper()
		k := cold.New(cold.Config{Store: s, Commit: s.UpdateInReserve, Budget: b, Now: func() time.Time { return now },
			FlushIndex: covered})
		if err := k.Maintain(ctx); err != nil {
			t.Fatal(err)
		}
		all := 0
		err := s.View(ctx, func(tx *store.Tx) (err error) {
			for _, err := range tx.Utterances(time.Time{}, time.Time{}) {
				if err != nil {
					return err
				}
				all++
			}
			n, err = tx.LooseUtterances(now)
			return err
		})
		if err != nil || all != old+fresh {
			t.Errorf("%d utterances: %v", all, err)
		}
		return n
	}
	if n := loose(tier.Budget{}); n != old+fresh {
		t.Errorf("without a budget %d are loose", n)
	}
	if n := loose(tier.Budget{Records: 1}); n != fresh+24 { // those of the last day
		t.Errorf("with one %d are loose", n)
	}
}
