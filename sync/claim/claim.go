// Package claim decides about sealed blobs that several members of a space may have
// named: when a blob has to be sent again, when it can be deleted, and when a device
// may drop its own copy of the bytes. It only decides; package replica acts.
//
// The words:
//
//   - A note names a sealed blob: it says where the blob is and which key opens it.
//     An op of a member makes the note. The note is removed together with the memory
//     that the blob belongs to.
//   - A place holds deltas in one order, and blobs: a relay, or a device's envelope
//     store.
//   - A doubt is a sealed blob whose presence at a place has to be checked. A doubt
//     begins before the blob is sent, and ends when the blob was checked after the
//     place took the note. A doubt also begins when a note of the blob is removed.
//
// Why no needed blob is deleted: A deletion names the cursor up to which its author
// has read the place. The place deletes the blob only if no delta has come since,
// and takes no delta in between. A member that names a blob checks the blob again
// after the place took the note. There are two cases. If the deletion came before
// the note, the check finds that the blob is missing, while the member still has the
// bytes. If the note came before the deletion, then any member that could delete the
// blob has read the note, and does not delete it.
package claim

// Doubt is what a member knows about a doubted blob, at one place.
type Doubt struct {
	// Named: a note that the member has read, of a record that is not erased, names
	// the blob.
	Named bool
	// Whole: the member has read everything at the place up to the cursor that a
	// deletion would name, including the bodies of all members that may name blobs,
	// and could open it.
	Whole bool
	// Owner: the member may delete what other members have sent.
	Owner bool
}

// Verdict says how to handle a doubt.
type Verdict int

const (
	// Wait: nothing can be decided yet, and the doubt stays.
	Wait Verdict = iota
	// See: make sure that the place has the blob. If it does not, and the bytes are
	// on this device, send them. Then remove the doubt.
	See
	// Delete: delete the blob under the cursor. Then remove the doubt, also if there
	// was no blob. If the place has new deltas, the doubt stays.
	Delete
	// Leave: an owner handles the blob. Remove the doubt here.
	Leave
)

// Verdict decides about a doubt. One known note is enough to send a blob. Only a
// member that has read everything can know that there is no note.
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

// Bytes is what a device knows about its copy of a blob's bytes, which it might drop
// because a place has them.
type Bytes struct {
	Noted bool // this device has a note of the blob, and the place has the delta with the note
	Shown bool // after that, the place has proven that it has exactly this blob
}

// MayGo reports whether the device may drop the bytes.
func (b Bytes) MayGo() bool { return b.Noted && b.Shown }
