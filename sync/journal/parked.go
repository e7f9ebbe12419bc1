package journal

import (
	"errors"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/replica"
)

// parked is a worker's op that is quarantined until more has come. If its
// Problem does not have Waits set, the op misquotes a line, and it is tried
// again when that line changes.
type parked struct {
	Problem   replica.Problem   `json:"p"`
	Assertion *memory.Assertion `json:"a,omitempty"`
	Utterance *memory.Utterance `json:"u,omitempty"`
	Grant     []byte            `json:"g"`
}

// maxParked is how many ops of one worker may wait, and also how many
// misquoting ops are kept. Further ops are quarantined for good. An op waits
// only if the memory or line that it refers to did not come before it, which
// happens if carriers bring the deltas of two members in another order.
const maxParked = 256

// parkedMembers returns the workers that have waiting ops. parkedOf returns the idents
// of the waiting ops of one worker.
func (j *Journal) parkedMembers(tx *store.Tx) (members []memory.MemberID, err error) {
	_, err = tx.Meta(j.note("waits"), &members)
	return members, err
}

func (j *Journal) parkedOf(tx *store.Tx, m memory.MemberID) (list []string, err error) {
	_, err = tx.Meta(j.note("waits", m.String()), &list)
	return list, err
}

// countParked returns how many ops wait for something that may still come. It does
// not count ops that misquote a line, nor ops about a memory that only a
// misquoting op proposes.
func (j *Journal) countParked(tx *store.Tx) (n int, err error) {
	members, err := j.parkedMembers(tx)
	if err != nil {
		return 0, err
	}
	var all []parked
	misquoted := map[memory.ID]bool{}
	for _, m := range members {
		list, err := j.parkedOf(tx, m)
		if err != nil {
			return 0, err
		}
		for _, ident := range list {
			w, ok, err := j.parked(tx, ident)
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

// countParkedOf counts the ops of a list that wait, or, with waits false, those that
// misquote.
func (j *Journal) countParkedOf(tx *store.Tx, list []string, waits bool) (n int, err error) {
	for _, ident := range list {
		var w parked
		ok, err := tx.Meta(j.note("wait", ident), &w)
		if err != nil {
			return 0, err
		}
		if ok && w.Problem.Waits == waits {
			n++
		}
	}
	return n, nil
}

// putParked stores a waiting op. An op that with its grant is too large for
// the note gets a note of its own.
func (j *Journal) putParked(tx *store.Tx, ident string, w parked) error {
	err := tx.PutMeta(j.note("wait", ident), w)
	if !errors.Is(err, memory.ErrInvalid) {
		return err
	}
	if err := tx.PutMeta(j.opNote(ident), waitingOp{w.Assertion, w.Utterance}); err != nil {
		return err
	}
	w.Assertion, w.Utterance = nil, nil
	return tx.PutMeta(j.note("wait", ident), w)
}

func (j *Journal) opNote(ident string) string { return j.note("wait", ident, "op") }

// parked returns the op that waits under an ident.
func (j *Journal) parked(tx *store.Tx, ident string) (w parked, ok bool, err error) {
	if ok, err = tx.Meta(j.note("wait", ident), &w); err != nil || !ok || w.Assertion != nil || w.Utterance != nil {
		return w, ok, err
	}
	var apart waitingOp
	ok, err = tx.Meta(j.opNote(ident), &apart)
	w.Assertion, w.Utterance = apart.Assertion, apart.Utterance
	return w, ok, err
}

// dropParked removes a waiting op.
func (j *Journal) dropParked(tx *store.Tx, m memory.MemberID, ident string) error {
	if err := errors.Join(tx.DeleteMeta(j.note("wait", ident)), tx.DeleteMeta(j.opNote(ident))); err != nil {
		return err
	}
	list, err := j.parkedOf(tx, m)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(i string) bool { return i == ident })
	if len(list) > 0 {
		return tx.PutMeta(j.note("waits", m.String()), list)
	}
	members, err := j.parkedMembers(tx)
	if err != nil {
		return err
	}
	members = slices.DeleteFunc(members, func(x memory.MemberID) bool { return x == m })
	return errors.Join(tx.DeleteMeta(j.note("waits", m.String())), tx.PutMeta(j.note("waits"), members))
}

func (j *Journal) park(tx *store.Tx, p replica.Problem, op *delta.Op, g *delta.Grant) error {
	list, err := j.parkedOf(tx, p.Member)
	if err != nil {
		return err
	}
	p.Reason = brief(p.Reason)
	ident := identOf(&p)
	if slices.Contains(list, ident) {
		return nil
	}
	if len(list) >= maxParked {
		n, err := j.countParkedOf(tx, list, p.Waits)
		if err != nil {
			return err
		}
		if n >= maxParked {
			p.Waits, p.Reason = false, p.Reason+"; and too many of its ops wait"
			return j.quarantine(tx, p)
		}
	}
	if a := op.Assertion; a != nil { // the types of all proposals of a cold memory are not known
		if err := errors.Join(tx.Want(a.Memory), tx.Want(a.Into)); err != nil {
			return err
		}
	}
	err = j.putParked(tx, ident, parked{Problem: p, Assertion: op.Assertion, Utterance: op.Utterance, Grant: g.Bytes()})
	if errors.Is(err, memory.ErrInvalid) { // the op is too large to be kept
		p.Waits, p.Reason = false, err.Error()
		return j.quarantine(tx, p)
	}
	if err != nil {
		return err
	}
	if err := j.quarantine(tx, p); err != nil {
		return err
	}
	members, err := j.parkedMembers(tx)
	if err != nil {
		return err
	}
	if !slices.Contains(members, p.Member) {
		if err := tx.PutMeta(j.note("waits"), append(members, p.Member)); err != nil {
			return err
		}
	}
	return tx.PutMeta(j.note("waits", p.Member.String()), append(list, ident))
}

// eachParked calls ask for each op that waits when it begins. ask may remove the
// op, and may make other ops wait.
func (j *Journal) eachParked(tx *store.Tx, ask func(ident string, w *parked) error) error {
	members, err := j.parkedMembers(tx)
	if err != nil {
		return err
	}
	for _, m := range members {
		list, err := j.parkedOf(tx, m)
		if err != nil {
			return err
		}
		for _, ident := range list {
			w, ok, err := j.parked(tx, ident)
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
