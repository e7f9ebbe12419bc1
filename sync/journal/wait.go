package journal

import (
	"errors"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/replica"
)

// waiting is a worker's op that is quarantined until more has come. If its
// Problem does not have Waits set, the op misquotes a line, and it is tried
// again when that line changes.
type waiting struct {
	Problem   replica.Problem   `json:"p"`
	Assertion *memory.Assertion `json:"a,omitempty"`
	Utterance *memory.Utterance `json:"u,omitempty"`
	Grant     []byte            `json:"g"`
}

// maxWaiting is how many ops of one worker may wait, and also how many
// misquoting ops are kept. Further ops are quarantined for good. An op waits
// only if the memory or line that it refers to did not come before it, which
// happens if carriers bring the deltas of two members in another order.
const maxWaiting = 256

// waiters returns the workers that have waiting ops. waitsOf returns the idents
// of the waiting ops of one worker.
func (l *Journal) waiters(tx *store.Tx) (members []memory.MemberID, err error) {
	_, err = tx.Meta(l.note("waits"), &members)
	return members, err
}

func (l *Journal) waitsOf(tx *store.Tx, m memory.MemberID) (list []string, err error) {
	_, err = tx.Meta(l.note("waits", m.String()), &list)
	return list, err
}

// waits returns how many ops wait for something that may still come. It does
// not count ops that misquote a line, nor ops about a memory that only a
// misquoting op proposes.
func (l *Journal) waits(tx *store.Tx) (n int, err error) {
	members, err := l.waiters(tx)
	if err != nil {
		return 0, err
	}
	var all []waiting
	misquoted := map[memory.ID]bool{}
	for _, m := range members {
		list, err := l.waitsOf(tx, m)
		if err != nil {
			return 0, err
		}
		for _, ident := range list {
			w, ok, err := l.waiting(tx, ident)
			if err != nil {
				return 0, err
			}
			if a := w.Assertion; ok && !w.Problem.Waits && a != nil && a.Act == memory.ActPropose {
				misquoted[a.Memory] = true
			}
			if ok && w.Problem.Waits {
				all = append(all, w)
			}
		}
	}
	for _, w := range all {
		if a := w.Assertion; a == nil || !misquoted[a.Memory] && !misquoted[a.Into] {
			n++
		}
	}
	return n, nil
}

// waitFor counts the ops of a list that wait, or, with waits false, those that
// misquote.
func (l *Journal) waitFor(tx *store.Tx, list []string, waits bool) (n int, err error) {
	for _, ident := range list {
		var w waiting
		ok, err := tx.Meta(l.note("wait", ident), &w)
		if err != nil {
			return 0, err
		}
		if ok && w.Problem.Waits == waits {
			n++
		}
	}
	return n, nil
}

// putWaiting stores a waiting op. An op that with its grant is too large for
// the note gets a note of its own.
func (l *Journal) putWaiting(tx *store.Tx, ident string, w waiting) error {
	err := tx.PutMeta(l.note("wait", ident), w)
	if !errors.Is(err, memory.ErrInvalid) {
		return err
	}
	if err := tx.PutMeta(l.opNote(ident), said{w.Assertion, w.Utterance}); err != nil {
		return err
	}
	w.Assertion, w.Utterance = nil, nil
	return tx.PutMeta(l.note("wait", ident), w)
}

func (l *Journal) opNote(ident string) string { return l.note("wait", ident, "op") }

// waiting returns the op that waits under an ident.
func (l *Journal) waiting(tx *store.Tx, ident string) (w waiting, ok bool, err error) {
	if ok, err = tx.Meta(l.note("wait", ident), &w); err != nil || !ok || w.Assertion != nil || w.Utterance != nil {
		return w, ok, err
	}
	var apart said
	ok, err = tx.Meta(l.opNote(ident), &apart)
	w.Assertion, w.Utterance = apart.Assertion, apart.Utterance
	return w, ok, err
}

// dropWaiting removes a waiting op.
func (l *Journal) dropWaiting(tx *store.Tx, m memory.MemberID, ident string) error {
	if err := errors.Join(tx.DeleteMeta(l.note("wait", ident)), tx.DeleteMeta(l.opNote(ident))); err != nil {
		return err
	}
	list, err := l.waitsOf(tx, m)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(i string) bool { return i == ident })
	if len(list) > 0 {
		return tx.PutMeta(l.note("waits", m.String()), list)
	}
	members, err := l.waiters(tx)
	if err != nil {
		return err
	}
	members = slices.DeleteFunc(members, func(x memory.MemberID) bool { return x == m })
	return errors.Join(tx.DeleteMeta(l.note("waits", m.String())), tx.PutMeta(l.note("waits"), members))
}

func (l *Journal) wait(tx *store.Tx, p replica.Problem, op *delta.Op, g *delta.Grant) error {
	list, err := l.waitsOf(tx, p.Member)
	if err != nil {
		return err
	}
	p.Reason = brief(p.Reason)
	ident := identOf(&p)
	if slices.Contains(list, ident) {
		return nil
	}
	if len(list) >= maxWaiting {
		n, err := l.waitFor(tx, list, p.Waits)
		if err != nil {
			return err
		}
		if n >= maxWaiting {
			p.Waits, p.Reason = false, p.Reason+"; and too many of its ops wait"
			return l.setAside(tx, p)
		}
	}
	if a := op.Assertion; a != nil { // the types of all proposals of a cold memory are not known
		if err := errors.Join(tx.Want(a.Memory), tx.Want(a.Into)); err != nil {
			return err
		}
	}
	err = l.putWaiting(tx, ident, waiting{Problem: p, Assertion: op.Assertion, Utterance: op.Utterance, Grant: g.Bytes()})
	if errors.Is(err, memory.ErrInvalid) { // the op is too large to be kept
		p.Waits, p.Reason = false, err.Error()
		return l.setAside(tx, p)
	}
	if err != nil {
		return err
	}
	if err := l.setAside(tx, p); err != nil {
		return err
	}
	members, err := l.waiters(tx)
	if err != nil {
		return err
	}
	if !slices.Contains(members, p.Member) {
		if err := tx.PutMeta(l.note("waits"), append(members, p.Member)); err != nil {
			return err
		}
	}
	return tx.PutMeta(l.note("waits", p.Member.String()), append(list, ident))
}

// sift calls ask for each op that waits when sift begins. ask may remove the
// op, and may make other ops wait.
func (l *Journal) sift(tx *store.Tx, ask func(ident string, w *waiting) error) error {
	members, err := l.waiters(tx)
	if err != nil {
		return err
	}
	for _, m := range members {
		list, err := l.waitsOf(tx, m)
		if err != nil {
			return err
		}
		for _, ident := range list {
			w, ok, err := l.waiting(tx, ident)
			if err == nil && ok {
				err = ask(ident, &w)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
