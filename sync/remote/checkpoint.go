package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote/page"
)

// Checkpoints returns the relay's checkpoints with their votes, in their wire
// forms. Nothing in them is checked.
func (s *Space) Checkpoints(ctx context.Context) ([]page.Voted, error) {
	a, err := s.do(ctx, call{method: "GET", path: s.path("/checkpoints"), limit: page.MaxVoted})
	if err != nil {
		return nil, err
	}
	return decoded(a, "checkpoints", page.DecodeVoted)
}

// Places returns the place of each chain at a cursor, as the relay states it. A
// checkpoint at that cursor has to have the same places. It returns
// [ErrNotFound] if the relay does not support this request.
func (s *Space) Places(ctx context.Context, cursor uint64) ([]envelope.Place, error) {
	q := url.Values{"cursor": {strconv.FormatUint(cursor, 10)}}
	a, err := s.do(ctx, call{method: "GET", path: s.path("/places"), query: q, limit: page.MaxPlaces})
	if err != nil {
		return nil, err
	}
	return decoded(a, "places", page.DecodePlaces)
}

// PutCheckpoint sends a checkpoint of this member.
func (s *Space) PutCheckpoint(ctx context.Context, c *envelope.Checkpoint) error {
	_, err := s.do(ctx, call{method: "POST", path: s.path("/checkpoints"), body: c.Bytes()})
	return err
}

// DropCheckpoint removes a checkpoint; only an owner may.
func (s *Space) DropCheckpoint(ctx context.Context, hash envelope.Hash) error {
	_, err := s.do(ctx, call{method: "DELETE", path: s.path("/checkpoints/" + hash.String())})
	return err
}

// PutVote sends a vote of this member.
func (s *Space) PutVote(ctx context.Context, v *envelope.Vote) error {
	_, err := s.do(ctx, call{method: "POST", path: s.path("/votes"), body: v.Bytes()})
	return err
}

// Compact tells the relay to drop the bodies that a verified checkpoint covers,
// and returns how many it dropped.
func (s *Space) Compact(ctx context.Context, hash envelope.Hash) (int, error) {
	a, err := s.do(ctx, call{method: "POST", path: s.path("/compact"), body: hash[:], limit: 1 << 10})
	if err != nil {
		return 0, err
	}
	var v struct {
		Dropped int `json:"dropped"`
	}
	if err := json.Unmarshal(a.body, &v); err != nil || v.Dropped < 0 {
		return 0, fmt.Errorf("compact: %w", ErrAnswer)
	}
	return v.Dropped, nil
}
