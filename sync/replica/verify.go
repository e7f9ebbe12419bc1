package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// settled reports whether this member's data is exactly what the relay has up
// to the cursor, as far as it counts. Nothing may be ahead of the cursor,
// nothing of ours beyond it, nothing that a removal leaves out, and no body
// withheld. Otherwise a snapshot would lack that content for good.
func (r *Replica) settled() bool {
	return len(r.st.Ahead) == 0 && len(r.st.MissingBodies) == 0 && r.st.Pending == nil && r.st.Chains.Link(chainKey(r.c.Member, r.st.Incarnation)).Seq >= r.st.Own.Seq &&
		!r.tookLeftOut()
}

// tookLeftOut reports whether this member took something that a removal leaves
// out. Only this member has it.
func (r *Replica) tookLeftOut() bool {
	for k, l := range r.st.Chains.All() {
		if r.counted(k, l.Seq) < l.Seq {
			return true
		}
	}
	return false
}

// counted returns how far a chain counts that goes up to seq.
func (r *Replica) counted(chain string, seq uint64) uint64 {
	m, incarnation, ok := parseChain(chain)
	if !ok {
		return seq
	}
	return r.log.Counted(m, envelope.Position{Incarnation: incarnation, Seq: seq}).Seq
}

// verify compares the snapshots that are of this member's cursor with its own
// data, and votes.
func (r *Replica) verify(ctx context.Context) error {
	if r.c.Snapshots == nil || !r.settled() {
		return nil
	}
	me, ok := r.log.Member(r.c.Member)
	if !ok || me.Role != envelope.Owner && me.Role != envelope.Writer {
		return nil
	}
	for _, l := range r.seen {
		if l.Cursor != r.st.Cursor || l.Author == r.c.Member || l.standing != envelope.Unverified || l.votedBy(r.c.Member) {
			continue
		}
		err := r.compare(ctx, l)
		if errors.Is(err, ErrUnsettled) {
			continue
		}
		verdict := envelope.Agree
		if worthless(err) {
			verdict = envelope.Object
		}
		if err != nil && verdict == envelope.Agree {
			return fmt.Errorf("verify the snapshot at %d: %w", l.Cursor, err)
		}
		if verdict == envelope.Object {
			if err := r.snapshotProblem(ctx, fmt.Errorf("snapshot of %s at %d: %w", l.Author, l.Cursor, err)); err != nil {
				return err
			}
		}
		v := &envelope.Vote{Space: r.c.Space, Member: r.c.Member, Checkpoint: l.hash, Verdict: verdict, Head: r.log.Head()}
		if err := v.Sign(r.c.Keys.Sign); err != nil {
			return err
		}
		if err := r.c.Snapshots.At.PutVote(ctx, v); err != nil && !errors.Is(err, ErrNotFound) {
			return fmt.Errorf("vote: %w", err)
		}
		l.votes = append(l.votes, v)
		l.standing = r.log.Standing(l.Checkpoint, l.votes)
	}
	return nil
}

// compare compares a snapshot with this member's data. It returns ErrSnapshot
// with the first item that differs.
func (r *Replica) compare(ctx context.Context, l *listed) error {
	here := map[string]envelope.Link{}
	for _, p := range l.Places {
		here[chainKey(p.Member, p.Incarnation)] = envelope.Link{Seq: p.Seq, Hash: p.Hash}
	}
	for k, have := range r.st.Chains.All() {
		if have.Seq > 0 && here[k] != have {
			return fmt.Errorf("%w: chain %s is at %d there, and at %d here", ErrSnapshot, k, here[k].Seq, have.Seq)
		}
		delete(here, k)
	}
	for k := range here {
		return fmt.Errorf("%w: it covers a chain that is not there: %s", ErrSnapshot, k)
	}
	m, err := r.manifest(ctx, l)
	if err != nil {
		return err
	}
	stop := errors.New("enough")
	next, end := iter.Pull2(func(yield func(*delta.Item, error) bool) {
		err := r.c.Snapshots.Archive.Live(ctx, func(i *delta.Item) error {
			if !yield(i, nil) {
				return stop
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			yield(nil, err)
		}
	})
	defer end()
	c := comparing{space: r.c.Space, ours: next, digest: delta.NewDigest(r.c.Space)}
	if err := c.step(); err != nil { // starts with our own items, before anything is fetched
		return err
	}
	if err := r.chunks(ctx, l, m, c.take); err != nil {
		return err
	}
	if err := c.finish(); err != nil {
		return err
	}
	if c.digest.Sum() != m.Digest {
		return fmt.Errorf("%w: its digest is another", ErrSnapshot)
	}
	return nil
}

// comparing walks a snapshot's items and our own side by side, in the same
// order.
type comparing struct {
	space  memory.SpaceID
	ours   func() (*delta.Item, error, bool)
	at     *delta.Item // our next item; nil at the end
	digest *delta.Digest
	lives  map[memory.ID]bool
	worked map[memory.Dot]bool // live assertions of workers
	erased map[memory.ID]bool  // erased ids in the snapshot
}

func (c *comparing) step() error {
	i, err, ok := c.ours()
	if err != nil {
		return err
	}
	if c.at = i; !ok {
		c.at = nil
	}
	return nil
}

func (c *comparing) take(items []delta.Item) error {
	if c.lives == nil {
		c.lives, c.worked, c.erased = map[memory.ID]bool{}, map[memory.Dot]bool{}, map[memory.ID]bool{}
	}
	for n := range items {
		i := &items[n]
		theirs, err := c.digest.Add(i)
		if err != nil {
			return err
		}
		if !i.Live() {
			for _, id := range i.Erased {
				c.erased[id] = true
			}
			continue
		}
		if i.Cited != nil {
			if err := c.passCited(i); err != nil {
				return err
			}
			continue
		}
		if c.at == nil || !c.at.Live() || c.at.Compare(i) > 0 {
			return fmt.Errorf("%w: it adds %s", ErrSnapshot, i.Name())
		}
		if c.at.Compare(i) < 0 {
			return fmt.Errorf("%w: it omits %s", ErrSnapshot, c.at.Name())
		}
		ours, err := c.at.Bytes(c.space)
		if err != nil {
			return err
		}
		if !bytes.Equal(ours, theirs) {
			return fmt.Errorf("%w: %s says something else", ErrSnapshot, i.Name())
		}
		if a := i.Op.Assertion; a != nil {
			c.lives[a.Memory] = true
			if a.Rank == memory.RankCloud {
				c.worked[a.Dot] = true
			}
		}
		if u := i.Op.Utterance; u != nil {
			c.lives[u.ID] = true
		}
		if err := c.step(); err != nil {
			return err
		}
	}
	return nil
}

// passCited skips our citations up to one of theirs; nil: to the end. The two
// lists may differ. A number in a body that was forgotten was heard by some
// members only, or in another order if it was said again. But citations of what
// lives are compared.
func (c *comparing) passCited(theirs *delta.Item) error {
	for c.at != nil && c.at.Cited != nil && (theirs == nil || c.at.Compare(theirs) <= 0) {
		var counted []uint64
		if theirs != nil && c.at.Compare(theirs) == 0 {
			counted = theirs.Cited.Seqs
		}
		for _, seq := range c.at.Cited.Seqs {
			if c.worked[memory.Dot{Member: c.at.Cited.Member, Seq: seq}] && !slices.Contains(counted, seq) {
				return fmt.Errorf("%w: it omits %d of %s", ErrSnapshot, seq, c.at.Name())
			}
		}
		if err := c.step(); err != nil {
			return err
		}
	}
	if c.at != nil && theirs != nil && c.at.Compare(theirs) < 0 {
		return fmt.Errorf("%w: it omits %s", ErrSnapshot, c.at.Name())
	}
	return nil
}

// finish checks the rest of our items: none may live, and none may be erased
// that is not erased in the snapshot. The last numbers in use may differ,
// because a member that came after a body was forgotten has not heard of the
// numbers in it.
func (c *comparing) finish() error {
	if err := c.passCited(nil); err != nil {
		return err
	}
	for c.at != nil {
		if c.at.Live() {
			return fmt.Errorf("%w: it omits %s", ErrSnapshot, c.at.Name())
		}
		for _, id := range c.at.Erased {
			if !c.erased[id] {
				return fmt.Errorf("%w: it omits that %s was erased", ErrSnapshot, id)
			}
		}
		if err := c.step(); err != nil {
			return err
		}
	}
	for id := range c.erased {
		if c.lives[id] {
			return fmt.Errorf("%w: it erases %s, which lives", ErrSnapshot, id)
		}
	}
	return nil
}
