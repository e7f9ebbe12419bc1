package journal

import (
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
)

// withdrawOne withdraws one of the workers' assertions that become invalid when an
// utterance is stored. It is called when there are too many of them for the
// transaction that stores the utterance. more says that one was withdrawn and
// that yield must be called again. With this order, assertions are withdrawn
// before the line that they quote changes, and assertions about a memory before
// the memory's proposal. After a crash, the withdrawn assertions stay
// withdrawn, and are tried again like every waiting op.
func (j *Journal) withdrawOne(tx *store.Tx, u *memory.Utterance) (more bool, err error) {
	k := &lookup{j: j, tx: tx, excluded: map[memory.Dot]bool{}}
	if replaces, err := tx.WouldReplace(u); err != nil {
		return false, err
	} else if replaces {
		k.override = u
	}
	h, err := j.workerGrants(tx)
	if err != nil {
		return false, err
	}
	as, err := j.citing(tx, u.ID, h)
	if err != nil {
		return false, err
	}
	type falling struct {
		a   *memory.Assertion
		v   delta.Verdict
		why string
	}
	var fall []falling
	hold := func(a *memory.Assertion) {
		if v, why := delta.Recheck(a, h.grant(a.Dot.Member.String()), k); v != delta.Accepted {
			fall = append(fall, falling{a, v, why})
		}
	}
	for i := range as {
		hold(&as[i])
	}
	first := fall
	for _, f := range first {
		if f.a.Act == memory.ActPropose {
			k.excluded[f.a.Dot] = true
		}
	}
	fall = nil
	for _, f := range first {
		if f.a.Act != memory.ActPropose {
			continue
		}
		of, err := tx.Assertions(f.a.Memory)
		if err != nil {
			return false, err
		}
		for i := range of {
			if _, worker := h[of[i].Dot.Member.String()]; worker && of[i].Act != memory.ActPropose {
				hold(&of[i])
			}
		}
	}
	fall = append(fall, first...)
	if k.err != nil || len(fall) < 2 { // the last one is withdrawn with the line
		return false, k.err
	}
	return true, j.withdrawAssertion(tx, fall[0].a, fall[0].v, fall[0].why, h)
}
