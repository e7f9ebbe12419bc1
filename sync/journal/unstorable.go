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

// unstorable maps ops that break no rule, but that the store can't hold, to the
// store's reason. The store may say so after a part of an op is written. Then
// the transaction is rolled back and repeated without that op.
type unstorable map[string]string

// errUnstorable reports that a transaction found an op that the store can't hold.
var errUnstorable = errors.New("the store does not hold an op")

// add records an op that the store refused with err, and returns errUnstorable. If err has
// another reason, add returns err.
func (u unstorable) add(name string, err error) error {
	if _, is := u[name]; is || !errors.Is(err, memory.ErrInvalid) {
		return err
	}
	u[name] = err.Error()
	return errUnstorable
}

// refuse quarantines an op for good. The number of an assertion stays used.
func (j *Journal) refuse(tx *store.Tx, p replica.Problem, op *delta.Op) error {
	if a := op.Assertion; a != nil {
		if err := tx.MarkDotUsed(a.Dot); err != nil {
			return err
		}
	}
	return j.quarantine(tx, p)
}

// maxReason is how many bytes of a problem's reason are kept. A reason can
// contain members' own words, and all problems share one record.
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
