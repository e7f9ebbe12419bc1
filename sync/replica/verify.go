package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// isComplete reports whether this member's data is exactly the sum of the deltas
// up to the cursor, as far as they count. So no delta was taken beyond the
// cursor, none of ours is missing at the relay, none is in the data that a
// removal leaves out, and no body is withheld. Without this condition, a
// snapshot could lack content for ever.
func (r *Replica) isComplete() bool {
	return len(r.st.Ahead) == 0 && len(r.st.MissingBodies) == 0 && r.st.Pending == nil && r.st.Chains.Link(chainKey(r.c.Member, r.st.Incarnation)).Seq >= r.st.Own.Seq &&
		!r.tookExcluded()
}

// tookExcluded reports whether this member took a delta that a removal leaves
// out. Then only this member has its content.
func (r *Replica) tookExcluded() bool {
	for k, l := range r.st.Chains.All() {
		if r.countedUpTo(k, l.Seq) < l.Seq {
			return true
		}
	}
	return false
}

// countedUpTo returns up to which sequence number a chain counts, if it reaches
// seq.
func (r *Replica) countedUpTo(chain string, seq uint64) uint64 {
	m, incarnation, ok := parseChain(chain)
	if !ok {
		return seq
	}
	return r.log.CountedPosition(m, envelope.Position{Incarnation: incarnation, Seq: seq}).Seq
}

// verify compares snapshots at this member's cursor with its own data, and
// votes on them.
func (r *Replica) verify(ctx context.Context) error {
	if r.c.Snapshots == nil || !r.isComplete() {
		return nil
	}
	me, ok := r.log.Member(r.c.Member)
	if !ok || me.Role != envelope.Owner && me.Role != envelope.Writer {
		return nil
	}
	for _, l := range r.checkpoints {
		if l.Cursor != r.st.Cursor || l.Author == r.c.Member || l.standing != envelope.Unverified || l.votedBy(r.c.Member) {
			continue
		}
		err := r.compare(ctx, l)
		if errors.Is(err, ErrUnsettled) {
			continue
		}
		if errors.Is(err, ErrBlob) || errors.Is(err, ErrNotFound) { // the relay lacks a part, or returns another, which says nothing about the author
			if err := r.snapshotProblem(ctx, fmt.Errorf("snapshot of %s at %d: %w", l.Author, l.Cursor, err)); err != nil {
				return err
			}
			continue
		}
		verdict := envelope.Agree
		if isWrongSnapshot(err) {
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
	live := r.c.Snapshots.Archive.EachLive
	if err := live(ctx, func(*delta.Item) error { return stop }); err != nil && !errors.Is(err, stop) {
		return err // before anything is downloaded
	}
	// All chunks are downloaded first: while our own items are read, the store is locked and
	// everybody waits for it, so this must not wait for the relay.
	for i, part := range m.Chunks {
		if _, err := r.fetchPart(ctx, part.Sealed, part.Size); err != nil {
			return fmt.Errorf("chunk %d: %w", i+1, err) // chunks that are already here are not downloaded again
		}
	}
	defer func() {
		for _, part := range m.Chunks {
			_ = os.Remove(r.part(part.Sealed))
		}
	}()
	next, end := iter.Pull2(func(yield func(*delta.Item, error) bool) {
		err := live(ctx, func(i *delta.Item) error {
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
	if err := c.step(); err != nil {
		return err
	}
	if err := r.chunks(ctx, l, m, c.addItems); err != nil {
		return err
	}
	if err := c.finish(); err != nil {
		return err
	}
	if c.digest.Sum() != m.Digest {
		return fmt.Errorf("%w: its digest differs", ErrSnapshot)
	}
	return nil
}

// comparing walks through a snapshot's items and our own at the same time, in
// the same order.
type comparing struct {
	space  memory.SpaceID
	ours   func() (*delta.Item, error, bool)
	at     *delta.Item // our next item; nil at the end
	digest *delta.Digest
	lives  map[memory.ID]bool
	worked map[memory.Dot]bool // live assertions of workers, by dot
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

func (c *comparing) addItems(items []delta.Item) error {
	if c.lives == nil {
		c.lives, c.worked, c.erased = map[memory.ID]bool{}, map[memory.Dot]bool{}, map[memory.ID]bool{}
	}
	for n := range items {
		i := &items[n]
		theirs, err := c.digest.Add(i)
		if err != nil {
			return err
		}
		if !i.IsLive() {
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
		if c.at == nil || !c.at.IsLive() || c.at.Compare(i) > 0 {
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

// passCited skips our citations up to one of the snapshot's; nil means up to
// the end. The two lists may differ: only some members read a number in a body
// before the body was forgotten, and members may read the numbers in another
// order if they were sent again. Citations of live records are compared.
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

// finish checks the rest of our items. None of them may be live, and none may
// be erased unless it is erased in the snapshot. The last numbers in use may
// differ, because a member that joined after a body was forgotten does not know
// the numbers in it.
func (c *comparing) finish() error {
	if err := c.passCited(nil); err != nil {
		return err
	}
	for c.at != nil {
		if c.at.IsLive() {
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
			return fmt.Errorf("%w: it erases %s, but also contains it", ErrSnapshot, id)
		}
	}
	return nil
}
