package memory

import "cmp"

// Rank decides which member may overrule another on the same matter at the same time.
type Rank uint8

const (
	RankCloud  Rank = 1 // a worker, or an app
	RankDevice Rank = 2 // a plugin on the wearer's own node
	RankPerson Rank = 3 // the wearer
)

// Act says what an assertion does.
type Act string

const (
	ActPropose   Act = "propose"   // proposes a candidate; the id is derived from its event
	ActReinforce Act = "reinforce" // gives more evidence for a known memory
	ActCorrect   Act = "correct"   // changes fields
	ActClose     Act = "close"     // ends the memory at the time in Validity
	ActPin       Act = "pin"
	ActUnpin     Act = "unpin"
	ActArchive   Act = "archive" // keeps the memory but no longer shows it
	ActRestore   Act = "restore" // undoes archive and close
	ActTag       Act = "tag"
	ActUntag     Act = "untag" // removes Tags, as far as Seen names the assertions that set them: an observed-remove set
	ActErase     Act = "erase" // removes everything else about the memory; only a person may do it
	// ActWithdraw takes back what machines have said about the memory: the
	// assertions in Seen no longer count. What a person has said can only be withdrawn by a person,
	// and only where it settled a conflict ([Assertion.Settles]). It can't take back a proposal of
	// a memory about which a person has said something.
	ActWithdraw Act = "withdraw"
)

// Assertion is one statement of one member. It never changes. Another assertion
// is needed to take it back.
type Assertion struct {
	Dot       Dot        `json:"dot"`
	Clock     Clock      `json:"clock"`
	Rank      Rank       `json:"rank"`
	Space     SpaceID    `json:"space"`
	Memory    ID         `json:"memory"`
	Act       Act        `json:"act"`
	Candidate *Candidate `json:"candidate,omitempty"` // propose
	Patch     *Patch     `json:"patch,omitempty"`     // correct, close
	Evidence  []Evidence `json:"evidence,omitempty"`  // reinforce
	Tags      []string   `json:"tags,omitempty"`      // tag, untag
	Seen      []Dot      `json:"seen,omitempty"`      // the assertions on the same field that the author knew and overrules; for propose: other values of the slot
	Into      ID         `json:"into,omitzero"`       // archive: the memory that now has the content
	Source    Source     `json:"source"`
	Reason    string     `json:"reason,omitempty"` // in words; shown by why
}

// PersonPlugin is the source of what a person says. With a version, which is a
// conflict's id, the assertion settled that conflict.
const PersonPlugin = "person"

// Patch changes fields. A nil field stays as it is. Each field is a register of
// its own, so that corrections of different fields on two devices both count.
type Patch struct {
	Text        *string      `json:"text,omitempty"`
	Value       *string      `json:"value,omitempty"` // of the slot
	Fields      *Fields      `json:"fields,omitempty"`
	Metadata    *Metadata    `json:"metadata,omitempty"`
	Sensitivity *Sensitivity `json:"sensitivity,omitempty"`
	Validity    *Validity    `json:"validity,omitempty"` // from and to are one register
}

// Settles returns the id of the conflict that the assertion has settled, or "".
func (a *Assertion) Settles() string {
	if a.Rank != RankPerson || a.Act == ActErase || a.Act == ActWithdraw || a.Source.Plugin != PersonPlugin {
		return ""
	}
	return a.Source.Version
}

// Before orders assertions to choose between concurrent values: the later one
// is shown. The rank decides first (person, device, cloud), then the clock,
// then the dot.
func (a *Assertion) Before(b *Assertion) bool {
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), a.Clock.Compare(b.Clock), a.Dot.Compare(b.Dot)) < 0
}
