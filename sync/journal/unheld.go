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

// unheld maps the ops that break no rule but that the store can't hold to the
// reason. The store may say so when a part of an op is written. Then the
// transaction is given up and done again without that op.
type unheld map[string]string

// errUnheld reports that a new op was found that the store can't hold.
var errUnheld = errors.New("the store does not hold an op")

// add records an op for which the store returned err. It returns errUnheld, or
// err if that has another reason.
func (u unheld) add(name string, err error) error {
	if _, is := u[name]; is || !errors.Is(err, memory.ErrInvalid) {
		return err
	}
	u[name] = err.Error()
	return errUnheld
}

// refuse quarantines an op for good. The number of an assertion stays in use.
func (l *Journal) refuse(tx *store.Tx, p replica.Problem, op *delta.Op) error {
	if a := op.Assertion; a != nil {
		if err := tx.RaiseDot(a.Dot); err != nil {
			return err
		}
	}
	return l.setAside(tx, p)
}

// maxReason is how many bytes of a problem's reason are kept. Members' own
// words may stand in it, and all problems share one record.
const maxReason = 500

// brief shortens a reason. A short one stays as it is.
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
