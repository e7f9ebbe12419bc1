package discourse

import "strings"

// Who has what of whose: a thing that the speaker lent or borrowed has a slot of its own, whose
// value is the other person, until the thing is given back. Money that is lent is a debt.

// LentSlot is the slot of a thing of the speaker's that somebody else has.
func LentSlot(what string) string { return "lent: " + strings.ToLower(what) }

// borrowedSlot is the slot of a thing that the speaker has from somebody else.
func borrowedSlot(what string) string { return "borrowed: " + strings.ToLower(what) }

// Loan is what changes hands, and between whom. Neither person is named where the words leave it open.
type Loan struct {
	What     string
	From, To Person
	Back     bool
}

// Seen is who the other is, and the slot of the thing, where it is the speaker's (mine) or theirs.
func (l *Loan) Seen(mine bool) (other Person, attribute string) {
	if mine {
		return l.To, LentSlot(l.What)
	}
	return l.From, borrowedSlot(l.What)
}
