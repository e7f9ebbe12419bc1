package envstore

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// endless is a remote that makes up deltas without end.
type endless struct {
	*Store
	asked int // for made up ones
}

func (e *endless) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	page, err := e.Store.Deltas(ctx, after)
	if len(page) > 0 || err != nil && !errors.Is(err, replica.ErrAhead) {
		return page, err
	}
	if e.asked++; e.asked > 100 {
		return nil, errors.New("asked without end")
	}
	for i := range uint64(100) {
		page = append(page, replica.Placed{Cursor: after + i + 1, Delta: []byte("rubbish")})
	}
	return page, nil
}

// A remote that makes up deltas without end is sent what it lacks, and the round ends.
func TestCarryDeltasWithoutEnd(t *testing.T) {
	log, state := world(t)
	mine := newStore(t, t.TempDir(), log)
	p := &author{actor: phone, state: state}
	take(t, mine, p.say(t, "mine"))
	e := &endless{Store: newStore(t, t.TempDir(), log)}
	c := carrier(t, mine, "http://endless", e)
	if err := c.Round(t.Context()); !errors.Is(err, envelope.ErrForm) || e.asked > 20 {
		t.Errorf("after %d pages: %v", e.asked, err)
	}
	if got := bodies(t, e.Store); !strings.Contains(got, "mine") {
		t.Errorf("it was sent %q", got)
	}
}
