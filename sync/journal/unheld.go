package journal

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/replica"
)

// unheld are the ops that break no rule and that the store does not hold, with the
// reason, by what names each. It may say so when some of one was written: then the
// transaction is given up, and done once more without that op.
type unheld map[string]string

// errUnheld: an op was found that the store does not hold.
var errUnheld = errors.New("the store does not hold an op")

// add notes an op by the error that taking it gave: errUnheld, or the error as it is.
func (u unheld) add(name string, err error) error {
	if _, is := u[name]; is || !errors.Is(err, memory.ErrInvalid) {
		return err
	}
	u[name] = err.Error()
	return errUnheld
}

// refuse sets an op aside for good. The number of an assertion is in use.
func (l *Ledger) refuse(tx *store.Tx, p replica.Problem, op *delta.Op) error {
	if a := op.Assertion; a != nil {
		if err := tx.RaiseDot(a.Dot); err != nil {
			return err
		}
	}
	return l.setAside(tx, p)
}

// maxReason is how many bytes of a problem's reason are kept: members' own words
// may stand in it, and all problems lie in one record.
const maxReason = 500

// brief cuts a reason. What is cut already stays as it is.
func brief(reason string) string {
	reason = strings.ToValidUTF8(reason, "?")
	if len(reason) <= maxReason {
		return reason
	}
	const more = " …"
	end := maxReason - len(more)
	for !utf8.RuneStart(reason[end]) {
		end--
	}
	return reason[:end] + more
}
