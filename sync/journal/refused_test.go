package journal_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// sending counts the uploads.
type sending struct {
	replica.Remote
	sent *int
}

func (s sending) Upload(ctx context.Context, r io.ReadSeeker) (envelope.Hash, error) {
	*s.sent++
	return s.Remote.Upload(ctx, r)
}

type offered = interface{ replica.Checkpoints }

// refusing is a relay that refuses checkpoints, and answers requests about places as it likes.
type refusing struct {
	offered
	places func([]envelope.Place) ([]envelope.Place, error) // nil: the true places
	on     *bool
}

func (r refusing) Places(ctx context.Context, cursor uint64) ([]envelope.Place, error) {
	ps, err := r.offered.Places(ctx, cursor)
	if *r.on && err == nil && r.places != nil {
		return r.places(ps)
	}
	return ps, err
}

func (r refusing) PutCheckpoint(ctx context.Context, c *envelope.Checkpoint) error {
	if *r.on {
		return replica.ErrConflict
	}
	return r.offered.PutCheckpoint(ctx, c)
}

// A checkpoint that the relay refuses is reported and costs one request. If the
// relay does not support that request, the checkpoint is sent rarely. Rounds go
// on, and the checkpoint is made when the relay takes it.
func TestRefusedCheckpoint(t *testing.T) {
	for name, c := range map[string]struct {
		places func([]envelope.Place) ([]envelope.Place, error)
		costs  bool // more than one request
		says   string
	}{
		"a chain that is farther": {func(ps []envelope.Place) ([]envelope.Place, error) { ps[0].Seq++; return ps, nil }, false, "is at 2 there, and at 1 here"},
		"another history":         {func(ps []envelope.Place) ([]envelope.Place, error) { ps[0].Hash[0] ^= 1; return ps, nil }, false, "at another place than before"},
		"a chain more": {func(ps []envelope.Place) ([]envelope.Place, error) {
			return append(ps, envelope.Place{Member: ps[0].Member, Incarnation: 1, Seq: 7, Hash: envelope.Hash{1}}), nil
		}, false, "is at 7 there, and at 0 here"},
		"a chain less":            {func(ps []envelope.Place) ([]envelope.Place, error) { return ps[1:], nil }, false, "is at 0 there, and at 1 here"},
		"one twice":               {func(ps []envelope.Place) ([]envelope.Place, error) { ps[0] = ps[1]; return ps, nil }, false, "is at 0 there, and at 1 here"},
		"one that does not tell":  {func([]envelope.Place) ([]envelope.Place, error) { return nil, replica.ErrNotFound }, true, replica.ErrConflict.Error()},
		"one that tells, and not": {nil, true, replica.ErrConflict.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			b.say(fact(1, "By the second."))
			b.sync()
			a.say(fact(2, "By the first."))
			on, sent := true, 0
			a.remote = func(r replica.Remote) replica.Remote { return sending{r, &sent} }
			a.with(replica.Snapshots{At: refusing{a.checkpointsAt(), c.places, &on}, Every: 1})
			const rounds = 12
			for range rounds {
				a.sync()
			}
			a.named(c.says)
			if max := 3 * 2; !c.costs && sent != 0 || c.costs && (sent == 0 || sent > max) { // uploads of two parts, in rounds 1, 3 and 7
				t.Errorf("%d parts were sent", sent)
			}
			err := a.Checkpoint(t.Context())
			if want := map[bool]error{false: replica.ErrElsewhere, true: replica.ErrConflict}[c.costs]; !errors.Is(err, want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("asked for: %v", err)
			}
			if s, err := a.journal().State(t.Context()); err != nil || len(s.Parts) != 0 {
				t.Errorf("parts are left: %v, %v", s.Parts, err)
			}
			on = false
			for n := 0; len(a.checkpoints()) == 0; n++ {
				if n > 64 {
					t.Fatal("no checkpoint after 64 rounds")
				}
				a.sync()
			}
		})
	}
}
