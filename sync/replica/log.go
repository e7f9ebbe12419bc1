package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
)

// createSpace sends the first log entry to the relay, unless it was sent before.
func (r *Replica) createSpace(ctx context.Context) error {
	if r.st.Founded {
		return nil
	}
	e, err := envelope.ParseEntry(r.c.Genesis)
	if err != nil {
		return err
	}
	if err := r.c.Remote.AppendLog(ctx, e); err != nil {
		return fmt.Errorf("begin the space at the relay: %w", err)
	}
	st := r.st
	st.Founded = true
	if err := r.c.Journal.Save(ctx, st); err != nil {
		return err
	}
	r.setState(st)
	return nil
}

// readLog takes new log entries and the epoch keys in them.
func (r *Replica) readLog(ctx context.Context) error {
	if err := r.createSpace(ctx); err != nil {
		return err
	}
	for {
		page, err := r.c.Remote.Log(ctx, r.log.N())
		if errors.Is(err, ErrAhead) {
			return fmt.Errorf("log after %d: %w: %w", r.log.N(), ErrRolledBack, err)
		}
		if errors.Is(err, ErrForbidden) {
			// A removed member is not told who removed it. Either the entries
			// that it has name the remover, or it has to believe the relay.
			return fmt.Errorf("log after %d: %w: %w", r.log.N(), ErrRemoved, err)
		}
		if err != nil {
			return fmt.Errorf("log after %d: %w", r.log.N(), err)
		}
		if len(page) == 0 {
			return r.takeKeys(ctx)
		}
		for len(page) > 0 && err == nil {
			n := fitting(page)
			if err = r.takeEntries(ctx, page[:n]); err == nil {
				err = r.openKeys(ctx, page[:n]) // the next page may be a lie
			}
			page = page[n:]
		}
		if err != nil {
			return errors.Join(err, r.takeKeys(ctx))
		}
	}
}

// maxSaved is how many bytes of log entries are saved in one transaction. A
// single larger entry is saved alone. The limit is needed because a transaction
// can't hold a long log.
const maxSaved = 128 << 10

// fitting returns how many of these entries fit into one transaction.
func fitting(page [][]byte) (n int) {
	size := 0
	for n < len(page) {
		if size += len(page[n]); size > maxSaved && n > 0 {
			break
		}
		n++
	}
	return n
}

// takeEntries takes the next entries of the log.
func (r *Replica) takeEntries(ctx context.Context, page [][]byte) error {
	next := r.log.Clone()
	var left []error
	for _, b := range page {
		e, err := envelope.ParseEntry(b)
		if err == nil {
			err = next.Append(e)
		}
		if err != nil {
			return r.logProblem(ctx, err)
		}
		left = append(left, r.leftOut(e)...)
		r.listDue = r.listDue || e.Removed != nil // a checkpoint of the removed member no longer counts
	}
	if err := r.c.Journal.Save(ctx, r.st, page...); err != nil {
		return err
	}
	r.log = next
	for _, err := range left {
		if err := r.c.Journal.Quarantine(ctx, Problem{At: r.c.Now(), Reason: err.Error()}); err != nil {
			return err
		}
	}
	return nil
}

// ErrLeftOut reports that a removal leaves out something that was taken here.
var ErrLeftOut = errors.New("a removal leaves out what was taken here")

// leftOut returns an error for each chain of which this member took more than a
// removal counts. Members that learned of the removal first do not have that
// content. With an honest relay this does not happen, because the relay makes
// the remover read everything first.
func (r *Replica) leftOut(e *envelope.Entry) (out []error) {
	if e.Removed == nil {
		return nil
	}
	for _, at := range r.lastOf(*e.Removed) {
		if !e.Accepts(at) {
			out = append(out, fmt.Errorf("log entry %d: %w: what %s sent up to %s", e.N, ErrLeftOut, *e.Removed, at))
		}
	}
	return out
}

// logProblem stores a problem of the relay's log.
func (r *Replica) logProblem(ctx context.Context, err error) error {
	err = fmt.Errorf("the relay's log: %w", err)
	return errors.Join(err, r.c.Journal.Quarantine(ctx, Problem{At: r.c.Now(), Reason: err.Error()}))
}

// takeKeys opens the keys in the log that are sealed to this member and that it
// lacks.
func (r *Replica) takeKeys(ctx context.Context) error {
	missing := false
	for n := uint32(1); n <= r.log.Epoch(); n++ {
		if _, ok := r.c.Keys.Epoch(n); !ok {
			missing = true
		}
	}
	if !missing {
		return nil
	}
	entries, err := r.c.Journal.Entries(ctx)
	if err != nil {
		return err
	}
	return r.openKeys(ctx, entries)
}

// openKeys opens the keys in these log entries that are sealed to this member.
func (r *Replica) openKeys(ctx context.Context, entries [][]byte) error {
	for _, b := range entries {
		e, err := envelope.ParseEntry(b)
		if err != nil {
			return err
		}
		for _, w := range e.Wraps {
			if w.To != r.c.Member {
				continue
			}
			if _, have := r.c.Keys.Epoch(e.Epoch); have {
				continue
			}
			if err := r.c.Keys.Take(w.Keys); err != nil {
				return r.logProblem(ctx, fmt.Errorf("keys of epoch %d: %w", e.Epoch, err))
			}
		}
	}
	return nil
}

// appendTries is how often an entry is rebuilt because another member's entry
// came first.
const appendTries = 5

// changeLog appends an entry that make fills in. If another entry came first,
// changeLog calls make again on the new log.
func (r *Replica) changeLog(ctx context.Context, make func(log *envelope.State, e *envelope.Entry) error) error {
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return r.changeLogHeld(ctx, nil, nil, make)
}

// changeLogHeld is changeLog for a caller that holds the round. If root is not nil, it signs in
// this member's place. If first is not nil, it runs before each try, on the log as it then is. If
// make returns errAlready, there is nothing to append.
func (r *Replica) changeLogHeld(ctx context.Context, root envelope.Signer, first func(context.Context) error, make func(log *envelope.State, e *envelope.Entry) error) error {
	for try := 1; ; try++ {
		if err := r.readLog(ctx); err != nil {
			return err
		}
		if first != nil {
			if err := first(ctx); err != nil {
				return err
			}
		}
		e := &envelope.Entry{Version: envelope.Version, Space: r.c.Space, N: r.log.N() + 1, Prev: r.log.Head(), Author: r.c.Member,
			At: r.c.Now().Unix(), Epoch: r.log.Epoch()}
		sign := envelope.Signer(r.c.Keys.Sign)
		if root != nil {
			e.Author, sign = memory.MemberID{}, root
		}
		if err := make(r.log, e); errors.Is(err, errAlready) {
			return nil
		} else if err != nil {
			return err
		}
		if err := e.Sign(sign); err != nil {
			return err
		}
		next := r.log.Clone()
		if err := next.Append(e); err != nil {
			return err
		}
		err := r.c.Remote.AppendLog(ctx, e)
		if errors.Is(err, ErrConflict) && try < appendTries {
			continue
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errNotTaken, err)
		}
		if err := r.c.Journal.Save(ctx, r.st, e.Bytes()); err != nil {
			return err
		}
		r.log = next
		r.listDue = r.listDue || e.Removed != nil // as in takeEntries
		return r.takeKeys(ctx)
	}
}

// AddMember adds a member. It gives the member the keys of all epochs so far,
// and a name that the other members see. Adding a member twice is no error.
func (r *Replica) AddMember(ctx context.Context, m envelope.Member, name string) error {
	to, err := seal.ParseRecipient(m.Recipient)
	if err != nil {
		return err
	}
	return r.changeLog(ctx, func(log *envelope.State, e *envelope.Entry) error {
		if have, ok := log.Member(m.ID); ok && bytes.Equal(have.Key, m.Key) {
			return errAlready
		}
		keys, err := r.c.Keys.Wrap(log.Epoch(), to)
		if err != nil {
			return err
		}
		if key, ok := r.c.Keys.Epoch(log.Epoch()); ok && name != "" {
			m.Name = seal.SealNote(membership.NameLabel, []byte(name), membership.NotePlace(r.c.Space, m.ID), log.Epoch(), key)
		}
		e.Action, e.Member, e.Wraps = envelope.Add, &m, []envelope.Wrap{{To: m.ID, Keys: keys}}
		return nil
	})
}

var errAlready = errors.New("done already")

// errNotTaken reports that the relay did not accept an entry.
var errNotTaken = errors.New("append to the log")

// RemoveMember removes a member and begins an epoch whose key the member does
// not get. Everything that the member sent before still counts, because other
// members may have taken it. RemoveMember therefore reads it first, and the
// relay refuses a removal that leaves some of it out. Only the root may remove
// an owner. If root is not nil, it signs.
func (r *Replica) RemoveMember(ctx context.Context, id memory.MemberID, root envelope.Signer) error {
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	pull := func(ctx context.Context) error {
		if err := r.pull(ctx); err != nil { // goes on after an error, so that a relay that lies can't protect a member
			r.c.Log.Warn("remove a member: not all that it sent could be taken", "error", err)
		}
		return ctx.Err()
	}
	return r.changeLogHeld(ctx, root, pull, func(log *envelope.State, e *envelope.Entry) error {
		if _, _, gone := log.Past(id); gone {
			return errAlready
		}
		e.Action, e.Removed, e.Last = envelope.Remove, &id, r.lastOf(id)
		return r.newEpoch(log, e)
	})
}

// newEpoch makes e begin an epoch for all who remain.
func (r *Replica) newEpoch(log *envelope.State, e *envelope.Entry) error {
	e.Epoch = log.Epoch() + 1
	epoch := seal.Epochs{e.Epoch: seal.NewKey()}
	defer epoch.Zero()
	recipients := map[memory.MemberID]string{{}: log.Recovery()}
	for _, m := range log.Members() {
		if e.Removed == nil || m.ID != *e.Removed {
			recipients[m.ID] = m.Recipient
		}
	}
	for to, text := range recipients {
		rec, err := seal.ParseRecipient(text)
		if err != nil {
			return err
		}
		keys, err := seal.SealEpochs(rec, r.c.Space, epoch)
		if err != nil {
			return err
		}
		e.Wraps = append(e.Wraps, envelope.Wrap{To: to, Keys: keys})
	}
	sortWraps(e.Wraps)
	return nil
}

// epochLife is how long one key is used for sealing. A leaked key opens at most
// the deltas of that time.
const epochLife = 30 * 24 * time.Hour

// Rotate ends the epoch now and returns the number of the next one. It returns
// ErrRule if this member is not an owner.
func (r *Replica) Rotate(ctx context.Context) (epoch uint32, err error) {
	err = r.changeLog(ctx, func(log *envelope.State, e *envelope.Entry) error {
		if log.Epoch() >= envelope.MaxEpochs {
			return fmt.Errorf("rotate: %w: the space is in epoch %d, and with more epochs no new member could be admitted", envelope.ErrRule, log.Epoch())
		}
		e.Action = envelope.Rekey
		err := r.newEpoch(log, e)
		epoch = e.Epoch
		return err
	})
	return epoch, err
}

// rotateIfOld begins an epoch when the present one is older than epochLife by an
// owner's clock. The caller holds the round.
func (r *Replica) rotateIfOld(ctx context.Context) error {
	old := func(log *envelope.State) bool {
		return r.c.Now().Sub(time.Unix(log.EpochBegan(), 0)) >= epochLife
	}
	if m, ok := r.log.Member(r.c.Member); !ok || m.Role != envelope.Owner || !old(r.log) {
		return nil
	}
	if r.log.Epoch() >= envelope.MaxEpochs {
		return nil
	}
	return r.changeLogHeld(ctx, nil, nil, func(log *envelope.State, e *envelope.Entry) error {
		if !old(log) {
			return errAlready // another member did it
		}
		e.Action = envelope.Rekey
		return r.newEpoch(log, e)
	})
}

func sortWraps(ws []envelope.Wrap) {
	sorting.Sort(ws, func(a, b envelope.Wrap) int { return a.To.Compare(b.To) })
}
