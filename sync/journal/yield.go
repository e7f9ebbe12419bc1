package journal

import (
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
)

// yield withdraws one of the workers' assertions that lose their ground once an
// utterance is here. It is used if there are too many for one transaction with
// the utterance. more reports that it has withdrawn one and must be called
// again. So assertions go before the line that they quote changes, and what was
// said of a memory goes before its proposal. A crash leaves them withdrawn;
// they are tried again like anything that waits.
func (l *Journal) yield(tx *store.Tx, u *memory.Utterance) (more bool, err error) {
	k := &known{l: l, tx: tx, without: map[memory.Dot]bool{}}
	if replaces, err := tx.Outlasted(u); err != nil {
		return false, err
	} else if replaces {
		k.as = u
	}
	h, err := l.hired(tx)
	if err != nil {
		return false, err
	}
	as, err := l.quoting(tx, u.ID, h)
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
		if v, why := delta.Stands(a, h.grant(a.Dot.Member.String()), k); v != delta.Accepted {
			fall = append(fall, falling{a, v, why})
		}
	}
	for i := range as {
		hold(&as[i])
	}
	first := fall
	for _, f := range first {
		if f.a.Act == memory.ActPropose {
			k.without[f.a.Dot] = true
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
	if k.err != nil || len(fall) < 2 { // the last one goes with the line
		return false, k.err
	}
	return true, l.takeBack(tx, fall[0].a, fall[0].v, fall[0].why, h)
}
