package api

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote/page"
)

// A checkpoint is compared with the chains of a space, and a vote with all other votes, so that one
// small request may read all headers of a space, or 16,000 records. A member therefore has one of
// these requests at a time, and an account heavyEach. Others wait up to heavyWait.
const (
	heavyEach = 2
	heavyWait = 10 * time.Second
)

// inTurn wraps a handler of such requests.
func (s *Server) inTurn(h handler) handler {
	return func(ctx context.Context, r *request) error {
		within, cancel := context.WithTimeout(ctx, heavyWait)
		defer cancel()
		account := string(r.who.Account[:])
		end, err := s.heavyOfMember.Take(within, account+string(r.who.Space[:])+string(r.who.Member[:]))
		if err != nil {
			return relay.ErrBusy
		}
		defer end()
		endAll, err := s.heavy.Take(within, account)
		if err != nil {
			return relay.ErrBusy
		}
		defer endAll()
		return h(ctx, r)
	}
}

func (s *Server) putCheckpoint(ctx context.Context, r *request) error {
	c, err := envelope.ParseCheckpoint(r.body)
	if err != nil {
		return err
	}
	if c.Space != r.space {
		return fmt.Errorf("checkpoint of another space: %w", relay.ErrForbidden)
	}
	return r.empty(s.Relay.PutCheckpoint(ctx, r.who, c))
}

func (s *Server) checkpoints(ctx context.Context, r *request) error {
	all, err := s.Relay.Checkpoints(ctx, r.who, r.space)
	if err != nil {
		return err
	}
	out := make([]page.Voted, len(all))
	for i, v := range all {
		out[i].Checkpoint, out[i].Votes = v.Checkpoint.Bytes(), [][]byte{}
		for _, vote := range v.Votes {
			out[i].Votes = append(out[i].Votes, vote.Bytes())
		}
	}
	return r.cbor(page.EncodeVoted(out))
}

func (s *Server) places(ctx context.Context, r *request) error {
	cursor, err := strconv.ParseUint(r.Query("cursor"), 10, 63)
	if err != nil {
		return fmt.Errorf("places: cursor: %w: %q is none", page.ErrForm, r.Query("cursor"))
	}
	ps, err := s.Relay.Places(ctx, r.who, r.space, cursor)
	if err != nil {
		return err
	}
	return r.cbor(page.EncodePlaces(ps))
}

func (s *Server) deleteCheckpoint(ctx context.Context, r *request) error {
	var hash envelope.Hash
	name := r.Param("id")
	if err := hash.UnmarshalText([]byte(name)); err != nil {
		return err
	}
	if hash.String() != name {
		return fmt.Errorf("checkpoint: %w: want 64 hexadecimal characters in lower case", page.ErrForm)
	}
	return r.empty(s.Relay.DropCheckpoint(ctx, r.who, r.space, hash))
}

func (s *Server) putVote(ctx context.Context, r *request) error {
	v, err := envelope.ParseVote(r.body)
	if err != nil {
		return err
	}
	if v.Space != r.space {
		return fmt.Errorf("vote of another space: %w", relay.ErrForbidden)
	}
	return r.empty(s.Relay.PutVote(ctx, r.who, v))
}

func (s *Server) compact(ctx context.Context, r *request) error {
	if len(r.body) != len(envelope.Hash{}) {
		return fmt.Errorf("compact: %w: %q is not a hash", page.ErrForm, hex.EncodeToString(r.body))
	}
	n, err := s.Relay.Compact(ctx, r.who, r.space, envelope.Hash(r.body))
	if err != nil {
		return err
	}
	return r.json(map[string]int{"dropped": n})
}
