package envstore

import (
	"context"
	"errors"
	"testing"

	"github.com/locket-dev/locket/sync/replica"
)

// A relay whose backup was restored lacks deltas and log entries that it had
// taken. This is reported once, and they are sent to the relay again, with the removal of a body
// that its backup still had.
func TestCarryToRestoredRelay(t *testing.T) {
	log, state := world(t)
	for name, entries := range map[string]int{"deltas": len(log), "log entries, too": 1} {
		t.Run(name, func(t *testing.T) {
			mine, at := newStore(t, t.TempDir(), log), &liar{Store: newStore(t, t.TempDir(), log)}
			p := &author{actor: phone, state: state}
			one, two, three := p.say(t, "one"), p.say(t, "two"), p.say(t, "three")
			take(t, mine, one, two, three)
			c := carrier(t, mine, "http://one", at)
			round := func(want error) {
				t.Helper()
				if err := c.Round(t.Context()); !errors.Is(err, want) {
					t.Fatalf("%v, want %v", err, want)
				}
			}
			round(nil)
			round(nil)
			if err := mine.Forget(t.Context(), []replica.Ref{{Member: phone.id, Position: one.Header.Position()}}); err != nil {
				t.Fatal(err)
			}
			round(nil)
			at.Store = newStore(t, t.TempDir(), log[:entries])
			if entries == len(log) {
				take(t, at.Store, one)
			}
			round(ErrRolledBack)
			round(nil)
			round(nil)
			if x, y := bodies(t, mine), bodies(t, at.Store); x != y {
				t.Errorf("it has\n%s\nof\n%s", y, x)
			}
			if st := c.Standing(); c.MissingDeltas() != 0 || st.Failing || len(st.Trouble) != 1 || int(st.Log) != len(log) {
				t.Errorf("lacks %d, %+v", c.MissingDeltas(), st)
			}
		})
	}
}

// readsAll counts the reads from the beginning.
type readsAll struct {
	*liar
	n int
}

func (r *readsAll) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	if after == 0 {
		r.n++
	}
	return r.liar.Deltas(ctx, after)
}

// A remote that goes back in each round is read again more and more seldom.
func TestCarryToRemoteThatKeepsRollingBack(t *testing.T) {
	log, state := world(t)
	mine, at := newStore(t, t.TempDir(), log), &readsAll{liar: &liar{Store: newStore(t, t.TempDir(), log)}}
	p := &author{actor: phone, state: state}
	take(t, mine, p.say(t, "one"), p.say(t, "two"))
	c := carrier(t, mine, "http://one", at)
	for range 2 {
		if err := c.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	at.back, at.n = 1, 0
	for range 40 {
		if err := c.Round(t.Context()); !errors.Is(err, ErrRolledBack) {
			t.Fatal(err)
		}
	}
	if at.n < 2 || at.n > 6 {
		t.Errorf("read from the beginning %d times in 40 rounds", at.n)
	}
}
