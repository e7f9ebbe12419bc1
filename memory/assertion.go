package memory

import "cmp"

// Rank orders who may overrule whom on the same matter at the same time.
type Rank uint8

const (
	RankCloud  Rank = 1 // a worker, or an app
	RankDevice Rank = 2 // a plugin on the wearer's own node
	RankPerson Rank = 3 // the wearer
)

// Act is what an assertion does.
type Act string

const (
	ActPropose   Act = "propose"   // here is a candidate; the id is derived from its event
	ActReinforce Act = "reinforce" // known already; here is more evidence
	ActCorrect   Act = "correct"   // these fields are otherwise
	ActClose     Act = "close"     // no longer true, as of Validity
	ActPin       Act = "pin"
	ActUnpin     Act = "unpin"
	ActArchive   Act = "archive" // kept, not shown
	ActRestore   Act = "restore" // undoes archive and close
	ActTag       Act = "tag"
	ActUntag     Act = "untag" // takes Tags away as far as Seen names who set them: an observed-remove set
	ActErase     Act = "erase" // absorbs everything else; a person's act only
	// ActWithdraw takes back what machines have said of the memory: the
	// assertions in Seen count no more. A person's word is taken back by no
	// withdrawal, and a proposal by none where a person has spoken of it.
	ActWithdraw Act = "withdraw"
)

// Assertion is what one member says, once. It is immutable: to take
// something back is another assertion.
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
	Seen      []Dot      `json:"seen,omitempty"`      // the assertions on the same field that its author knew, and overrules; of a propose: others' values of its slot
	Into      ID         `json:"into,omitzero"`       // archive: the memory that holds it now
	Source    Source     `json:"source"`
	Reason    string     `json:"reason,omitempty"` // in words, for why
}

// Patch changes fields; nil leaves one as it is. Each field is a register of
// its own, so that two devices which correct different fields both win.
type Patch struct {
	Text        *string      `json:"text,omitempty"`
	Value       *string      `json:"value,omitempty"` // of the slot
	Fields      *Fields      `json:"fields,omitempty"`
	Metadata    *Metadata    `json:"metadata,omitempty"`
	Sensitivity *Sensitivity `json:"sensitivity,omitempty"`
	Validity    *Validity    `json:"validity,omitempty"` // from and to are one register
}

// Before orders assertions for the choice among concurrent values: the later
// one is shown. Person outranks device outranks cloud; then clock; then dot.
func (a *Assertion) Before(b *Assertion) bool {
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), a.Clock.Compare(b.Clock), a.Dot.Compare(b.Dot)) < 0
}
