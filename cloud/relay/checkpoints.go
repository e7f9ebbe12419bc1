package relay

import (
	"context"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Limits of a space's checkpoints.
const (
	MaxCheckpoints = 8
	maxVotes       = 2 * envelope.MaxMembers // on one checkpoint
)

// MaxRecords is the greatest number of checkpoints and votes that a space can
// have. It is twice the sum of the limits, because two that come at the same time
// may exceed a limit.
const MaxRecords = 2 * MaxCheckpoints * (1 + maxVotes)

// Voted is a checkpoint with the votes on it.
type Voted struct {
	Checkpoint *envelope.Checkpoint
	Votes      []*envelope.Vote
}

// SortPlaces sorts places in the order that a checkpoint needs, and returns them.
func SortPlaces(ps []envelope.Place) []envelope.Place {
	slices.SortFunc(ps, envelope.Place.Compare)
	return ps
}

// places returns the place of each chain at a cursor, as far as the chain counts.
// Members ignore the deltas that a removal leaves out, and the author of a
// checkpoint and its readers may have seen different numbers of them. So they
// can't be part of a place.
func (r *Relay) places(ctx context.Context, s *envelope.State, space memory.SpaceID, cursor uint64) ([]envelope.Place, error) {
	all, err := r.store.Places(ctx, space, cursor)
	if err != nil {
		return nil, err
	}
	var out []envelope.Place
	var short []int // indexes in out of places that are not the end of their chain, so that another hash is needed
	var refs []Ref
	for _, p := range all {
		end := envelope.Position{Incarnation: p.Incarnation, Seq: p.Seq}
		counted := s.CountedPosition(p.Member, end)
		if counted.Seq == 0 {
			continue
		}
		if counted != end {
			short, refs = append(short, len(out)), append(refs, Ref{p.Member, counted})
		}
		p.Seq = counted.Seq
		if out = append(out, p); len(out) > envelope.MaxPlaces {
			return nil, fmt.Errorf("places: %w: over %d chains", ErrConflict, envelope.MaxPlaces)
		}
	}
	if len(refs) == 0 {
		return out, nil
	}
	hashes, err := r.store.Hashes(ctx, space, refs)
	if err != nil {
		return nil, err
	}
	for i, at := range short {
		out[at].Hash = hashes[i]
	}
	return out, nil
}

// Places returns the place of each chain at a cursor, as far as the chain counts.
// A checkpoint at that cursor must have exactly these places. If there are more
// than a checkpoint can hold, Places returns [ErrConflict].
func (r *Relay) Places(ctx context.Context, c Caller, space memory.SpaceID, cursor uint64) ([]envelope.Place, error) {
	head, err := r.readableSpace(ctx, c, space)
	if err != nil {
		return nil, err
	}
	if cursor > head.Cursor {
		return nil, fmt.Errorf("places at %d: %w, which is at %d", cursor, ErrAhead, head.Cursor)
	}
	s, _, err := r.state(ctx, space)
	if err != nil {
		return nil, err
	}
	return r.places(ctx, s, space, cursor)
}

// PutCheckpoint stores a checkpoint of the caller. Its places must equal those
// that [Relay.Places] returns for its cursor, and its manifest must be here.
func (r *Relay) PutCheckpoint(ctx context.Context, c Caller, cp *envelope.Checkpoint) error {
	head, err := r.readableSpace(ctx, c, cp.Space)
	if err != nil {
		return err
	}
	if c.Root || c.Member != cp.Author {
		return fmt.Errorf("checkpoint of %s: %w", cp.Author, ErrForbidden)
	}
	s, _, err := r.state(ctx, cp.Space)
	if err != nil {
		return err
	}
	if err := s.AcceptsCheckpoint(cp); err != nil {
		return err
	}
	if cp.Cursor > head.Cursor {
		return fmt.Errorf("checkpoint at %d: %w, which is at %d", cp.Cursor, ErrAhead, head.Cursor)
	}
	places, err := r.places(ctx, s, cp.Space, cp.Cursor)
	if err != nil {
		return err
	}
	if !slices.Equal(places, cp.Places) {
		return fmt.Errorf("checkpoint at %d: %w: its chains are at other places than here", cp.Cursor, ErrConflict)
	}
	if b, err := r.store.Blob(ctx, cp.Space, BlobID(cp.Manifest)); err != nil || !b.Done || b.Size != int64(cp.Size) {
		return fmt.Errorf("checkpoint at %d: %w: its manifest is not here", cp.Cursor, ErrConflict)
	}
	all, err := r.voted(ctx, cp.Space)
	if err != nil {
		return err
	}
	hash := cp.Hash()
	if len(all) >= MaxCheckpoints && !slices.ContainsFunc(all, func(v Voted) bool { return v.Checkpoint.Hash() == hash }) {
		return fmt.Errorf("checkpoint at %d: %w: %d are here already", cp.Cursor, ErrConflict, len(all))
	}
	if err := r.store.PutRecord(ctx, cp.Space, Record{ID: hash, About: hash, Bytes: cp.Bytes()}, r.config.Quota); err != nil {
		return err
	}
	r.wake(Wake{ID: cp.Space})
	return nil
}

// voted returns the stored checkpoints with their votes, in the order in which
// they came.
func (r *Relay) voted(ctx context.Context, space memory.SpaceID) ([]Voted, error) {
	records, err := r.store.Records(ctx, space)
	if err != nil {
		return nil, err
	}
	var out []Voted
	for _, rec := range records {
		if rec.ID == rec.About {
			c, err := envelope.ParseCheckpoint(rec.Bytes)
			if err != nil {
				return nil, fmt.Errorf("stored %v", err)
			}
			out = append(out, Voted{Checkpoint: c})
			continue
		}
		v, err := envelope.ParseVote(rec.Bytes)
		if err != nil {
			return nil, fmt.Errorf("stored %v", err)
		}
		if i := slices.IndexFunc(out, func(o Voted) bool { return o.Checkpoint.Hash() == v.Checkpoint }); i >= 0 {
			out[i].Votes = append(out[i].Votes, v)
		}
	}
	return out, nil
}

// Checkpoints returns the checkpoints with their votes, in the order in which they
// came. It leaves out those that exceed a limit because several came at the same
// time, since no client reads an answer with more.
func (r *Relay) Checkpoints(ctx context.Context, c Caller, space memory.SpaceID) ([]Voted, error) {
	if _, err := r.readableSpace(ctx, c, space); err != nil {
		return nil, err
	}
	all, err := r.voted(ctx, space)
	all = all[:min(len(all), MaxCheckpoints)]
	for i := range all {
		all[i].Votes = all[i].Votes[:min(len(all[i].Votes), maxVotes)]
	}
	return all, err
}

// CountRecords returns how many checkpoints and votes a space has.
func (r *Relay) CountRecords(ctx context.Context, c Caller, space memory.SpaceID) (int, error) {
	if _, err := r.readableSpace(ctx, c, space); err != nil {
		return 0, err
	}
	return r.store.CountRecords(ctx, space)
}

// PutVote stores the caller's vote on a stored checkpoint.
func (r *Relay) PutVote(ctx context.Context, c Caller, v *envelope.Vote) error {
	if _, err := r.readableSpace(ctx, c, v.Space); err != nil {
		return err
	}
	if c.Root || c.Member != v.Member {
		return fmt.Errorf("vote of %s: %w", v.Member, ErrForbidden)
	}
	s, _, err := r.state(ctx, v.Space)
	if err != nil {
		return err
	}
	if err := s.AcceptsVote(v); err != nil {
		return err
	}
	on, err := r.checkpoint(ctx, v.Space, v.Checkpoint)
	if err != nil {
		return err
	}
	if len(on.Votes) >= maxVotes {
		return fmt.Errorf("vote: %w: %d on this checkpoint", ErrTooLarge, len(on.Votes))
	}
	if err := r.store.PutRecord(ctx, v.Space, Record{ID: v.Hash(), About: v.Checkpoint, Bytes: v.Bytes()}, r.config.Quota); err != nil {
		return err
	}
	r.wake(Wake{ID: v.Space})
	return nil
}

func (r *Relay) checkpoint(ctx context.Context, space memory.SpaceID, hash envelope.Hash) (Voted, error) {
	all, err := r.voted(ctx, space)
	if err != nil {
		return Voted{}, err
	}
	i := slices.IndexFunc(all, func(o Voted) bool { return o.Checkpoint.Hash() == hash })
	if i < 0 {
		return Voted{}, fmt.Errorf("checkpoint %s: %w", hash, ErrNotFound)
	}
	return all[i], nil
}

// DropCheckpoint removes a checkpoint with its votes. The caller must be an owner
// or the root.
func (r *Relay) DropCheckpoint(ctx context.Context, c Caller, space memory.SpaceID, hash envelope.Hash) error {
	if _, err := r.readableSpace(ctx, c, space); err != nil {
		return err
	}
	if !c.Root && c.Role != envelope.Owner {
		return fmt.Errorf("delete checkpoint: %w", ErrForbidden)
	}
	if err := r.store.DropRecords(ctx, space, hash); err != nil {
		return err
	}
	r.wake(Wake{ID: space})
	return nil
}

// Compact drops the bodies that a verified checkpoint covers. The caller must be
// an owner. The relay counts the votes itself.
func (r *Relay) Compact(ctx context.Context, c Caller, space memory.SpaceID, hash envelope.Hash) (int, error) {
	if _, err := r.readableSpace(ctx, c, space); err != nil {
		return 0, err
	}
	if c.Root || c.Role != envelope.Owner {
		return 0, fmt.Errorf("compact: %w", ErrForbidden)
	}
	on, err := r.checkpoint(ctx, space, hash)
	if err != nil {
		return 0, err
	}
	s, _, err := r.state(ctx, space)
	if err != nil {
		return 0, err
	}
	if err := s.AcceptsCheckpoint(on.Checkpoint); err != nil {
		return 0, err
	}
	if s.Standing(on.Checkpoint, on.Votes) != envelope.Verified {
		return 0, fmt.Errorf("compact for %s: %w: it is not verified", hash, envelope.ErrRule)
	}
	return r.store.Compact(ctx, space, on.Checkpoint.Cursor)
}
