package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// ErrSnapshot reports a snapshot that differs from its checkpoint or from this
// member's data.
var ErrSnapshot = errors.New("snapshot is not valid")

// errNoBody reports a delta without its body. A snapshot may have the body's
// content.
var errNoBody = errors.New("the body is gone")

// readCheckpoints reads the list of checkpoints from the relay if it is time to do so. It
// reports each checkpoint that does not count as a problem.
func (r *Replica) readCheckpoints(ctx context.Context) error {
	if r.c.Snapshots == nil || r.listRead && !r.listDue {
		return nil
	}
	all, err := r.c.Snapshots.At.Checkpoints(ctx)
	if errors.Is(err, ErrNotFound) { // the relay stores no checkpoints
		err = nil
	}
	if err != nil {
		return fmt.Errorf("checkpoints: %w", err)
	}
	var seen, former []*listed
	shown := r.st.Checkpoint
	if shown != nil {
		if _, lives := r.log.Member(shown.Author); !lives {
			shown = nil // its author was removed: the checkpoint no longer counts, and an owner may have dropped it
		}
	}
	newest := shown
	for _, item := range all {
		l, err := r.listed(item)
		if err != nil {
			if l != nil {
				former = append(former, l)
			}
			if err := r.snapshotProblem(ctx, err); err != nil {
				return err
			}
			continue
		}
		seen = append(seen, l)
		if l.standing == envelope.Verified && (newest == nil || l.Cursor > newest.Cursor) {
			newest = &ShownCheckpoint{Hash: l.hash, Author: l.Author, Cursor: l.Cursor}
		}
	}
	if s := shown; s != nil {
		behind := true
		for _, l := range seen {
			behind = behind && l.Cursor < s.Cursor
		}
		if behind {
			why := fmt.Errorf("%w: the relay had shown a checkpoint at %d, %s, and now shows none that is as new", ErrRolledBack, s.Cursor, s.Hash)
			if err := r.snapshotProblem(ctx, why); err != nil {
				return err
			}
		}
	}
	next := r.st.clone()
	news := next.noteSnapshotActivity(seen, r.c.Member, r.c.Now())
	if news = next.noteConfirmations(seen, r.c.Member, r.heads(), r.c.Now()) || news; news || newest != r.st.Checkpoint {
		next.Checkpoint = newest
		if err := r.save(ctx, next); err != nil {
			return err
		}
	}
	r.checkpoints, r.formerCheckpoints, r.listRead, r.listDue = seen, former, true, false
	return nil
}

// listed parses one entry of the relay's list. It returns the checkpoint
// together with [envelope.ErrFormer] if its author was removed.
func (r *Replica) listed(item Listed) (*listed, error) {
	c, err := envelope.ParseCheckpoint(item.Checkpoint)
	if err == nil {
		err = r.log.AcceptsCheckpoint(c)
	}
	if err != nil && !errors.Is(err, envelope.ErrFormer) {
		return nil, err
	}
	l := &listed{Checkpoint: c, hash: c.Hash(), activeMembers: []memory.MemberID{c.Author}, agreed: []memory.MemberID{c.Author}}
	if err != nil {
		return l, err
	}
	for _, b := range item.Votes {
		v, err := envelope.ParseVote(b)
		if err != nil {
			continue // an invalid vote is ignored and does not hide a valid one
		}
		l.votes = append(l.votes, v)
		if v.Checkpoint != l.hash || r.log.AcceptsVote(v) != nil {
			continue
		}
		if l.activeMembers = append(l.activeMembers, v.Member); v.Verdict == envelope.Agree {
			l.agreed = append(l.agreed, v.Member)
		}
	}
	l.standing = r.log.Standing(c, l.votes)
	return l, nil
}

func (r *Replica) snapshotProblem(ctx context.Context, why error) error {
	r.c.Log.Warn("sync: snapshot", "reason", why)
	return r.c.Journal.Quarantine(ctx, Problem{At: r.c.Now(), Reason: why.Error()})
}

// bestCheckpoint returns the newest checkpoint at or beyond the cursor from that this
// member may take. The checkpoint must be verified. If trust is true, an
// unverified and undisputed one is enough when no verified one exists.
func (r *Replica) bestCheckpoint(from uint64, trust bool) (out *listed) {
	for _, l := range r.checkpoints {
		ok := l.standing == envelope.Verified || trust && l.standing == envelope.Unverified
		if !ok || r.wrongCheckpoints[l.hash] || l.Cursor < from || l.Author == r.c.Member && r.st.Cursor > 0 {
			continue
		}
		if out == nil || out.standing != envelope.Verified && l.standing == envelope.Verified ||
			out.standing == l.standing && l.Cursor > out.Cursor {
			out = l
		}
	}
	return out
}

// coveredByWrong reports whether a checkpoint that covers cursor has wrong parts. The
// deltas that it covers must then not be skipped.
func (r *Replica) coveredByWrong(cursor uint64) bool {
	return slices.ContainsFunc(r.checkpoints, func(l *listed) bool {
		return r.wrongCheckpoints[l.hash] && l.Cursor >= cursor && l.standing != envelope.Disputed
	})
}

// skipToSnapshot takes a snapshot instead of single deltas if this member is far behind.
func (r *Replica) skipToSnapshot(ctx context.Context) error {
	if r.c.Snapshots == nil {
		return nil
	}
	behind := cmp.Or(r.c.Snapshots.Behind, r.c.Snapshots.Every+1)
	for {
		l := r.bestCheckpoint(r.st.Cursor+behind, false)
		if l == nil {
			return nil
		}
		if taken, err := r.adopt(ctx, l); taken || err != nil {
			return err
		}
	}
}

// isWrongSnapshot reports whether err means that the snapshot itself is wrong, so
// that another try can't succeed.
func isWrongSnapshot(err error) bool {
	return slices.ContainsFunc([]error{ErrSnapshot, ErrBlob, ErrNotFound, delta.ErrForm, delta.ErrContext, seal.ErrOpen},
		func(named error) bool { return errors.Is(err, named) })
}

// adopt takes a snapshot. If the snapshot is wrong, adopt records a problem,
// never tries that snapshot again, and returns taken == false. If the relay lacks a part, or
// returns other bytes, a later round tries it again.
func (r *Replica) adopt(ctx context.Context, l *listed) (taken bool, err error) {
	if err := r.settlePending(ctx, l); err != nil {
		return false, err
	}
	if err := r.readOwn(ctx, l); err != nil {
		return false, err
	}
	return r.adoptBy(ctx, l, r.restore)
}

func (r *Replica) adoptBy(ctx context.Context, l *listed, take func(context.Context, *listed) error) (taken bool, err error) {
	err = take(ctx, l)
	if isWrongSnapshot(err) {
		if r.wrongCheckpoints == nil {
			r.wrongCheckpoints = map[envelope.Hash]bool{}
		}
		r.wrongCheckpoints[l.hash] = true
		if errors.Is(err, ErrBlob) || errors.Is(err, ErrNotFound) {
			r.noteIncomplete(l.hash)
		} else {
			delete(r.incomplete, l.hash)
		}
		return false, r.snapshotProblem(ctx, fmt.Errorf("snapshot of %s at %d: %w", l.Author, l.Cursor, err))
	}
	if err != nil {
		return false, fmt.Errorf("take the snapshot at %d: %w", l.Cursor, err)
	}
	if l.standing != envelope.Verified {
		err = r.snapshotProblem(ctx, fmt.Errorf("the snapshot at %d was taken on the word of %s alone: nobody has verified it yet", l.Cursor, l.Author))
	}
	return true, err
}

func (r *Replica) restore(ctx context.Context, l *listed) error {
	next, err := r.stateAfter(l)
	if err != nil {
		return err
	}
	return r.takeItems(ctx, r.c.Snapshots.Archive, l, &next)
}

// incompleteSnapshot is a snapshot of which the relay lacks a part, or returns other bytes.
type incompleteSnapshot struct{ times, rounds int } // how often that happened, and rounds until the next try

// noteIncomplete makes a snapshot wait for 0, 1, 3, 7 … rounds, because each try downloads all of its
// parts again.
func (r *Replica) noteIncomplete(h envelope.Hash) {
	if r.incomplete == nil {
		r.incomplete = map[envelope.Hash]incompleteSnapshot{}
	}
	was := r.incomplete[h].times
	r.incomplete[h] = incompleteSnapshot{min(was+1, maxFailedSearches), 1<<was - 1}
}

// retryIncomplete allows this round to try those again that have waited long enough.
func (r *Replica) retryIncomplete() {
	for h, u := range r.incomplete {
		if u.rounds == 0 {
			delete(r.wrongCheckpoints, h)
			continue
		}
		r.incomplete[h] = incompleteSnapshot{u.times, u.rounds - 1}
	}
}

// takeItems checks a whole snapshot, gives its items to the archive, and saves
// the state next.
func (r *Replica) takeItems(ctx context.Context, to Archive, l *listed, next *State) error {
	m, err := r.manifest(ctx, l)
	if err != nil {
		return err
	}
	defer func() {
		for _, c := range m.Chunks {
			_ = os.Remove(r.part(c.Sealed)) // a part that fails its checks is removed, so that it is fetched again
		}
	}()
	digest := delta.NewDigest(l.Space)
	err = r.chunks(ctx, l, m, func(items []delta.Item) error {
		for i := range items {
			if _, err := digest.Add(&items[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if digest.Sum() != m.Digest {
		return fmt.Errorf("%w: its digest differs", ErrSnapshot)
	}
	err = r.chunks(ctx, l, m, func(items []delta.Item) error {
		err := to.Restore(ctx, items, nil)
		if err == nil {
			r.c.OnTaken(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := to.Restore(ctx, nil, next); err != nil {
		return err
	}
	r.setState(*next)
	return nil
}

// stateAfter returns the state that follows from taking a snapshot. It returns
// ErrSnapshot if this member took more of a chain than the snapshot covers, or
// if the two know different histories of a chain. Deltas that a removal left
// out are not in any snapshot and do not matter here.
func (r *Replica) stateAfter(l *listed) (State, error) {
	next := r.st.clone()
	if l.Cursor < next.Cursor {
		return next, fmt.Errorf("%w: it ends at delta %d, but %d was taken already", ErrSnapshot, l.Cursor, next.Cursor)
	}
	ahead := false
	for c := range next.Ahead {
		if c <= l.Cursor {
			delete(next.Ahead, c)
		} else {
			ahead = true
		}
	}
	there := map[string]envelope.Link{}
	for _, p := range l.Places {
		there[chainKey(p.Member, p.Incarnation)] = envelope.Link{Seq: p.Seq, Hash: p.Hash}
	}
	for k, have := range next.Chains.All() {
		switch is := there[k]; {
		case is.Seq < r.countedUpTo(k, have.Seq) && !ahead:
			return next, fmt.Errorf("%w: chain %s: it covers delta %d, but %d was taken already", ErrSnapshot, k, is.Seq, have.Seq)
		case is.Seq == have.Seq && is.Hash != have.Hash:
			return next, fmt.Errorf("%w: %w", ErrSnapshot, &envelope.ForkError{What: "chain " + k, At: is.Seq, Ours: have.Hash, Theirs: is.Hash})
		}
	}
	for k, is := range there {
		if is.Seq > next.Chains.Link(k).Seq {
			next.Chains.Put(k, is)
		}
		next.dropCovered(k, is.Seq)
	}
	next.Cursor = l.Cursor
	if p, ok := l.Place(r.c.Member, next.Incarnation); ok && p.Seq > next.Own.Seq {
		next.Incarnation, next.Own, next.Pending = newIncarnation(), envelope.Link{}, nil // this member's backup was restored
	}
	return next, nil
}
