// Package claim says when a sealed blob that several members of a space may have
// named is to be sent again, when it can be deleted, and when a device may drop
// its own bytes of it. It decides; package replica does.
//
// The words:
//
//   - A note names a sealed blob: it says where it lies and what opens it. It is
//     made by an op of a member's chain, and goes with the memory that it is of.
//   - A place has deltas in one order, and blobs: a relay, or a device's shelf.
//   - A doubt is a sealed blob of which it is open whether it lies at a place as
//     it should. There is one from before it is sent until it was looked at after
//     the note was taken there, and one when a note of it goes.
//
// Why this holds. A deletion names the cursor up to which its author has heard
// the place, and the place does it in one step with what it takes, only if nothing
// has come since. Whoever names a blob looks once more after the place has taken
// the note. So either the deletion came before the note, and the second look finds
// the blob gone while its bytes are still here; or the note came first, and nobody
// deletes who has not heard of it.
package claim

// Doubt is what a member knows of a blob that it doubts, at one place.
type Doubt struct {
	// Named: a note of something that lives, among all that was heard, names it.
	Named bool
	// Whole: everything was heard that the place has, with the bodies of all who
	// may name blobs, to the cursor that a deletion would name, and could be opened.
	Whole bool
	// Owner: the member may delete what others have sent.
	Owner bool
}

// Verdict is what becomes of a doubt.
type Verdict int

const (
	// Wait: nothing can be said yet; the doubt stays.
	Wait Verdict = iota
	// See that the place has it, and send it where it has not and the bytes are
	// here. Then the doubt is over.
	See
	// Delete it under the cursor. The doubt is over where that was done, or it was
	// not there; it stays where the place has moved on.
	Delete
	// Leave it to an owner: the doubt is over here.
	Leave
)

// Verdict says what to do. A note that is known is enough to send a blob; only
// who has heard everything can say that there is none.
func (d Doubt) Verdict() Verdict {
	switch {
	case d.Named:
		return See
	case !d.Owner:
		return Leave
	case !d.Whole:
		return Wait
	}
	return Delete
}

// Bytes is what a device knows of bytes that it has, and might drop as they can
// be had from a place again.
type Bytes struct {
	Noted bool // a note of them is here, and the place has the delta that says it
	Shown bool // since then the place has shown that it has just this blob
}

// MayGo reports whether they can be dropped.
func (b Bytes) MayGo() bool { return b.Noted && b.Shown }
