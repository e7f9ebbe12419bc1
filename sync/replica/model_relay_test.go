package replica_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// modelRelay is the relay of docs/protocol.md in memory: it stores chains, removes bodies, takes
// checkpoints that agree with its places, counts votes, and compacts when a checkpoint is verified.
type modelRelay struct {
	shown
	state  *envelope.State
	taken  []*envelope.Delta // in the order in which they came, with their bodies
	bare   []bool
	chains map[string]envelope.Link
	hidden map[*envelope.Delta]bool   // those whose bodies it hid from their author, who can't have them removed
	check  func(*envelope.Checkpoint) // called for each that is taken
}

func newModelRelay(log [][]byte, state *envelope.State) *modelRelay {
	return &modelRelay{shown: shown{log: log, blobs: map[envelope.Hash][]byte{}}, state: state, chains: map[string]envelope.Link{}, hidden: map[*envelope.Delta]bool{}}
}

func chainName(h *envelope.Header) string { return fmt.Sprint(h.Member, "/", h.Incarnation) }

func (m *modelRelay) Deltas(_ context.Context, after uint64) (out []replica.Placed, err error) {
	if after > uint64(len(m.taken)) {
		return nil, replica.ErrAhead
	}
	for i := after; i < uint64(len(m.taken)) && len(out) < 5; i++ {
		d := m.taken[i]
		if m.bare[i] {
			d = d.WithoutBody()
		}
		out = append(out, replica.Placed{Cursor: i + 1, Delta: d.Bytes()})
	}
	return out, nil
}

func (m *modelRelay) Append(_ context.Context, d *envelope.Delta) error {
	k := chainName(&d.Header)
	switch last := m.chains[k]; {
	case d.Header.Seq <= last.Seq:
		for _, o := range m.taken {
			if o.Header.Member == d.Header.Member && o.Header.Position() == d.Header.Position() && o.Header.Hash() == d.Header.Hash() {
				return nil
			}
		}
		return replica.ErrFork
	case d.Header.Seq != last.Seq+1 || d.Header.Prev != last.Hash:
		return envelope.ErrGap
	}
	m.chains[k] = d.Header.Next()
	m.taken, m.bare = append(m.taken, d), append(m.bare, false)
	return nil
}

func (m *modelRelay) Forget(_ context.Context, refs []replica.Ref) error {
	for i, d := range m.taken {
		m.bare[i] = m.bare[i] || slices.Contains(refs, replica.Ref{Member: d.Header.Member, Position: d.Header.Position()})
	}
	return nil
}

func (m *modelRelay) DeleteBlob(_ context.Context, id envelope.Hash, at *uint64) error {
	if at != nil && *at != uint64(len(m.taken)) {
		return replica.ErrConflict
	}
	delete(m.blobs, id)
	return nil
}

func (m *modelRelay) Places(_ context.Context, cursor uint64) ([]envelope.Place, error) {
	if cursor > uint64(len(m.taken)) {
		return nil, replica.ErrAhead
	}
	at := map[string]envelope.Place{}
	for _, d := range m.taken[:cursor] {
		at[chainName(&d.Header)] = envelope.Place{Member: d.Header.Member, Incarnation: d.Header.Incarnation, Seq: d.Header.Seq, Hash: d.Header.Hash()}
	}
	var out []envelope.Place
	for _, p := range at {
		out = append(out, p)
	}
	return out, nil
}

// stillHas returns an error that names forgotten content in a body that the relay can still give to
// somebody with the key.
func (m *modelRelay) stillHas(by *maker, erased map[memory.ID]bool) error {
	var errs []error
	for i, d := range m.taken {
		if m.bare[i] || m.hidden[d] {
			continue
		}
		padded, err := seal.OpenBody(by.keys[d.Header.Epoch], d.Body)
		if err != nil {
			return err
		}
		ops, err := delta.Decode(&d.Header, padded)
		if err != nil {
			return err
		}
		for _, op := range ops {
			if op.Utterance != nil && erased[op.Utterance.ID] {
				errs = append(errs, fmt.Errorf("the relay has the body of %s, which was forgotten, in %s of %s", op.Utterance.ID, fmt.Sprint(d.Header.Position()), d.Header.Member))
			}
		}
	}
	return errors.Join(errs...)
}

func placesText(ps []envelope.Place) string {
	var all []string
	for _, p := range ps {
		all = append(all, fmt.Sprint(p))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func (m *modelRelay) PutCheckpoint(ctx context.Context, c *envelope.Checkpoint) error {
	have, err := m.Places(ctx, c.Cursor)
	if err != nil {
		return err
	}
	for _, l := range m.checkpoints {
		if bytes.Equal(l.Checkpoint, c.Bytes()) {
			return nil
		}
	}
	if placesText(have) != placesText(c.Places) || m.blobs[c.Manifest] == nil || len(m.checkpoints) == 8 {
		return replica.ErrConflict
	}
	m.check(c)
	m.checkpoints = append(m.checkpoints, replica.Listed{Checkpoint: c.Bytes()})
	return nil
}

// find returns a checkpoint with its votes, and its index.
func (m *modelRelay) find(hash envelope.Hash) (int, *envelope.Checkpoint, []*envelope.Vote) {
	for i, l := range m.checkpoints {
		c, err := envelope.ParseCheckpoint(l.Checkpoint)
		if err != nil || c.Hash() != hash {
			continue
		}
		var votes []*envelope.Vote
		for _, b := range l.Votes {
			if v, err := envelope.ParseVote(b); err == nil {
				votes = append(votes, v)
			}
		}
		return i, c, votes
	}
	return -1, nil, nil
}

func (m *modelRelay) DropCheckpoint(_ context.Context, hash envelope.Hash) error {
	if i, _, _ := m.find(hash); i >= 0 {
		m.checkpoints = slices.Delete(m.checkpoints, i, i+1)
	}
	return nil
}

func (m *modelRelay) PutVote(_ context.Context, v *envelope.Vote) error {
	i, _, votes := m.find(v.Checkpoint)
	if i < 0 {
		return replica.ErrNotFound
	}
	if !slices.ContainsFunc(votes, func(o *envelope.Vote) bool { return o.Member == v.Member }) {
		m.checkpoints[i].Votes = append(m.checkpoints[i].Votes, v.Bytes())
	}
	return nil
}

func (m *modelRelay) Compact(_ context.Context, hash envelope.Hash) error {
	i, c, votes := m.find(hash)
	if i < 0 {
		return replica.ErrNotFound
	}
	if m.state.AcceptsCheckpoint(c) != nil || m.state.Standing(c, votes) != envelope.Verified {
		return envelope.ErrRule
	}
	for k := range c.Cursor {
		m.bare[k] = true
	}
	return nil
}

// badLine is a connection to a relay that drops requests, loses answers, and shows other deltas
// than it has, as far as docs/protocol.md lets a relay do so without breaking a signature.
type badLine struct {
	*modelRelay
	rng  *rand.Rand
	self memory.MemberID
	lies bool
	told map[string]int
}

var errLine = errors.New("the line broke")

// fate calls do, and may drop the request or lose its answer.
func (b *badLine) fate(do func() error) error {
	if b.lies && b.rng.IntN(12) == 0 {
		b.told["dropped"]++
		return errLine
	}
	err := do()
	if b.lies && b.rng.IntN(12) == 0 {
		b.told["answer lost"]++
		return errLine
	}
	return err
}

func (b *badLine) Deltas(ctx context.Context, after uint64) (out []replica.Placed, err error) {
	if out, err = b.modelRelay.Deltas(ctx, after); err != nil || !b.lies || len(out) == 0 {
		return out, err
	}
	i := b.rng.IntN(len(out))
	lie := ""
	switch b.rng.IntN(16) {
	case 0:
		lie, out = "omits the end", out[:i]
	case 1:
		lie = "reorders"
		j := b.rng.IntN(len(out))
		out[i].Delta, out[j].Delta = out[j].Delta, out[i].Delta
	case 2:
		lie = "repeats"
		out = append(out, replica.Placed{Cursor: out[len(out)-1].Cursor + 1, Delta: out[i].Delta})
	case 3:
		lie = "strips a body"
		d, err := envelope.ParseDelta(out[i].Delta)
		if err != nil {
			return nil, err
		}
		out[i].Delta = d.WithoutBody().Bytes()
		if of := b.taken[out[i].Cursor-1]; of.Header.Member == b.self {
			b.hidden[of] = true
		}
	case 4:
		lie, out = "leaves one out", slices.Delete(out, i, i+1)
	case 5:
		lie = "moves cursors"
		for k := range out {
			out[k].Cursor += 2
		}
	case 6:
		lie = "flips a bit"
		out[i].Delta = bytes.Clone(out[i].Delta)
		out[i].Delta[b.rng.IntN(len(out[i].Delta))] ^= 1
	case 7:
		return nil, errLine
	}
	if lie == "" {
		return out, nil
	}
	b.told[lie]++
	return out, nil
}

func (b *badLine) Append(ctx context.Context, d *envelope.Delta) error {
	return b.fate(func() error { return b.modelRelay.Append(ctx, d) })
}

func (b *badLine) Forget(ctx context.Context, refs []replica.Ref) error {
	if b.lies && b.rng.IntN(12) == 0 {
		b.told["does not forget"]++
		return errLine
	}
	return b.fate(func() error { return b.modelRelay.Forget(ctx, refs) })
}

func (b *badLine) Upload(ctx context.Context, r io.ReadSeeker) (id envelope.Hash, err error) {
	err = b.fate(func() error { id, err = b.modelRelay.Upload(ctx, r); return err })
	return id, err
}

func (b *badLine) Download(ctx context.Context, id envelope.Hash, f io.ReadWriteSeeker, limit int64) error {
	if b.lies && b.rng.IntN(12) == 0 && b.blobs[id] != nil {
		b.told["another part"]++
		wrong := bytes.Clone(b.blobs[id])
		wrong[b.rng.IntN(len(wrong))] ^= 1
		if sha256.Sum256(wrong) != id {
			return replica.ErrBlob // the client checks the hash
		}
	}
	return b.fate(func() error { return b.modelRelay.Download(ctx, id, f, limit) })
}

func (b *badLine) Checkpoints(ctx context.Context) (out []replica.Listed, err error) {
	err = b.fate(func() error { out, err = b.modelRelay.Checkpoints(ctx); return err })
	out = slices.Clone(out)
	if !b.lies || len(out) == 0 || b.rng.IntN(6) > 0 {
		return out, err
	}
	// A member that made a snapshot and does not see it listed deletes its parts, which may be all
	// that is left of compacted bodies. The relay would then have lost data, and no protocol can
	// repair that.
	if c, err := envelope.ParseCheckpoint(out[len(out)-1].Checkpoint); err == nil && c.Author != b.self {
		b.told["hides a snapshot"]++
		out = out[:len(out)-1]
	}
	return out, err
}

func (b *badLine) PutCheckpoint(ctx context.Context, c *envelope.Checkpoint) error {
	return b.fate(func() error { return b.modelRelay.PutCheckpoint(ctx, c) })
}

func (b *badLine) PutVote(ctx context.Context, v *envelope.Vote) error {
	return b.fate(func() error { return b.modelRelay.PutVote(ctx, v) })
}

func (b *badLine) DropCheckpoint(ctx context.Context, hash envelope.Hash) error {
	return b.fate(func() error { return b.modelRelay.DropCheckpoint(ctx, hash) })
}

func (b *badLine) Compact(ctx context.Context, hash envelope.Hash) error {
	return b.fate(func() error { return b.modelRelay.Compact(ctx, hash) })
}

var _ modelLine = (*badLine)(nil)
