package reconcile

import (
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Somebody who leaves a firm no longer has its boss or its pay. The slot's attribute does not show
// this, so the slots of a job end with the employer under whom they began.

// ofJob are the single-valued slots that somebody has because of a job, in both languages.
var ofJob = [...]string{"boss", "manager", "supervisor", "salary", "老板", "领导", "上司", "经理", "主管"}

// OfJob returns the slots that end with an employer, without values; it returns none for any other
// slot.
func OfJob(employer *memory.Slot) (slots []memory.Slot) {
	if employer == nil || employer.Many || memory.Normal(employer.Attribute) != "employer" {
		return nil
	}
	for _, a := range ofJob {
		slots = append(slots, memory.Slot{Subject: employer.Subject, Attribute: a})
	}
	return slots
}

// JobsEnded returns the employers from before a change that are no longer current after it.
func JobsEnded(before, after []memory.Memory) (ended []*memory.Memory) {
	for i := range before {
		was := &before[i]
		if was.State == memory.Active && slices.ContainsFunc(after, func(m memory.Memory) bool { return m.ID == was.ID && m.State == memory.Superseded && !m.Repeats }) {
			ended = append(ended, was)
		}
	}
	return ended
}

// EndsWithJob reports whether m, which fills a slot of [OfJob], ends at the given time with the
// employer was, because it began under that employer. employers are all that the slot has had,
// including was.
func EndsWithJob(m, was *memory.Memory, employers []memory.Memory, at time.Time) bool {
	if m.State != memory.Active || m.Negates || m.Pinned || m.TrueFrom.After(at) || strings.TrimSpace(m.Slot.Value) == "" {
		return false
	}
	if !m.TrueFrom.Before(was.TrueFrom) {
		return true
	}
	for i := range employers { // the boss was named before any employer, so under whom?
		o := &employers[i]
		if o.ID != was.ID && !o.Negates && !o.Repeats && o.State != memory.Erased && !o.TrueFrom.After(m.TrueFrom) {
			return false
		}
	}
	return true
}
