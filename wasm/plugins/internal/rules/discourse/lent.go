package discourse

import "strings"

// Loans: a thing that the speaker lent or borrowed has a slot of its own, whose value is the other
// person, until the thing is given back. Money that is lent is a debt.

// LentSlot returns the slot of a thing of the speaker's that somebody else has.
func LentSlot(what string) string { return "lent: " + strings.ToLower(what) }

// borrowedSlot returns the slot of a thing that the speaker has from somebody else.
func borrowedSlot(what string) string { return "borrowed: " + strings.ToLower(what) }

// Loan is what changes hands, and between whom. A person who is not named in the words is empty.
type Loan struct {
	What     string
	From, To Person
	Back     bool
}

// Seen returns the other person, and the slot of the thing, for a thing of the speaker's (mine) or
// of the other's.
func (l *Loan) Seen(mine bool) (other Person, attribute string) {
	if mine {
		return l.To, LentSlot(l.What)
	}
	return l.From, borrowedSlot(l.What)
}
