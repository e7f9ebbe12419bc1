package upstream

import (
	"context"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

func (s *Space) Checkpoints(ctx context.Context) ([]replica.Listed, error) {
	all, err := s.at.Checkpoints(ctx)
	var out []replica.Listed
	for _, v := range all {
		out = append(out, replica.Listed{Checkpoint: v.Checkpoint, Votes: v.Votes})
	}
	return out, as(err)
}

func (s *Space) Places(ctx context.Context, cursor uint64) ([]envelope.Place, error) {
	ps, err := s.at.Places(ctx, cursor)
	return ps, as(err)
}

func (s *Space) PutCheckpoint(ctx context.Context, c *envelope.Checkpoint) error {
	return as(s.at.PutCheckpoint(ctx, c))
}

func (s *Space) DropCheckpoint(ctx context.Context, hash envelope.Hash) error {
	return as(s.at.DropCheckpoint(ctx, hash))
}

func (s *Space) PutVote(ctx context.Context, v *envelope.Vote) error {
	return as(s.at.PutVote(ctx, v))
}

func (s *Space) Compact(ctx context.Context, hash envelope.Hash) error {
	_, err := s.at.Compact(ctx, hash)
	return as(err)
}
