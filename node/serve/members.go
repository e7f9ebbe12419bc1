package serve

import (
	"context"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Membership manages the members of the wearer's space, and pairs new devices.
// Only one pairing runs at a time.
type Membership interface {
	// Members returns the members of the wearer's space.
	Members(ctx context.Context) ([]Member, error)
	// Where returns which members and relays have a memory. Without sync that is this
	// device alone. It returns memory.ErrNotFound if there is no such memory.
	Where(ctx context.Context, id memory.ID) (Where, error)
	// RemoveMember removes a member for good. It gets nothing new, but keeps what it has.
	// To remove a device of the wearer, the recovery phrase is needed; for other members
	// it must be empty, or the error is ErrConflict.
	RemoveMember(ctx context.Context, id memory.MemberID, phrase Secret) error
	// Rotate begins an epoch, with a key that only the present members get. It returns
	// ErrUnsupported without a relay, and ErrConflict if this device is not an owner.
	Rotate(ctx context.Context) (Rotated, error)
	// PairInvite makes a code. A pairing that is under way ends.
	PairInvite(ctx context.Context) (Pairing, error)
	// PairWait returns when the new device has come, or when the pairing
	// failed. It returns ErrConflict if no pairing is running.
	PairWait(ctx context.Context) (Pairing, error)
	// PairConfirm says whether the words on both devices are the same, and waits for the
	// answer of the other side. It can return ErrConflict.
	PairConfirm(ctx context.Context, said ConfirmRequest) (Pairing, error)
}

// Member is a member of the wearer's space.
type Member struct {
	ID   memory.MemberID `json:"id"`
	Role string          `json:"role"`
	Name string          `json:"name,omitempty"`
	Here bool            `json:"here,omitempty"` // it is this device
	// Platform is the operating system and architecture, such as linux/arm64, as the member reported
	// it when it was added.
	Platform string    `json:"platform,omitempty"`
	Added    time.Time `json:"added"` // when it was added, by the clock of the device that added it
	// LastHeard is when the newest of the data that this device has from the member
	// was made: memories, a change of the members, a snapshot, a vote on a snapshot,
	// or the heads that two devices compare. The member's clock gives the time; a time
	// in the future is shown as now. LastHeard is zero for a member that has sent
	// nothing. Reading does not count: only the relay sees it.
	LastHeard time.Time `json:"last_heard,omitzero"`
	// Sent is the number of the member's deltas that are here. It has what is in them.
	Sent uint64 `json:"sent"`
	// Reach is what the member has of the data that the others sent. It is absent for this device,
	// and if nothing is known: a member that only reads does not report it.
	Reach *Reach `json:"reach,omitempty"`
}

// Reach is how much a member has of the deltas that all others of the space sent, as far
// as this device knows. Only the member itself knows which photos and recordings it keeps,
// and which memories are cold on it.
type Reach struct {
	Has    uint64    `json:"has"`    // deltas of the others that it has, at least
	Behind uint64    `json:"behind"` // deltas of the others that are here, and that it was not known to have; it may have got them since
	At     time.Time `json:"at"`     // when that was known
	By     string    `json:"by"`     // how it is known: said (the member signed it) or met (this device met it in the same network)
}

// How it is known what a member has.
const (
	ReachSaid = "said" // it signed a snapshot, a vote on one, or the heads that two devices compare; the time is by its clock
	ReachMet  = "met"  // this device met it in the same network, and saw what it lacks
)

// MembersAnswer lists who belongs to the wearer's space.
type MembersAnswer struct {
	Members []Member `json:"members"`
}

// RemoveMemberRequest is the body of DELETE /v1/members/{id}.
type RemoveMemberRequest struct {
	Phrase Secret `json:"phrase,omitempty"`
}

// RemovedMember is the answer to DELETE /v1/members/{id}.
type RemovedMember struct {
	ID memory.MemberID `json:"id"`
}

// Rotated is the answer to POST /v1/epochs.
type Rotated struct {
	Epoch uint64 `json:"epoch"` // the new epoch
}

// The states of a pairing.
const (
	PairWaiting = "waiting" // waits for the new device
	PairCompare = "compare" // waits for a person to compare the words
	PairDone    = "done"
	PairFailed  = "failed"
)

// Pairing is the state of a pairing.
type Pairing struct {
	State string   `json:"state"`
	Code  string   `json:"code"`
	Link  string   `json:"link"`            // the content of a QR code
	Words []string `json:"words,omitempty"` // both devices must show the same words
	Name  string   `json:"name,omitempty"`  // name of the new device
	// Platform is the new device's operating system and architecture, as it reports them.
	Platform string `json:"platform,omitempty"`
	Error    string `json:"error,omitempty"`
}

// ConfirmRequest says whether both devices show the same words.
type ConfirmRequest struct {
	Same bool `json:"same"`
	// Code is the code of the pairing whose words were compared. If another pairing was begun since,
	// the answer does not count for that one. Empty: it is not checked.
	Code string `json:"code,omitempty"`
	// Passphrase is required if a page of the console says yes, as for the vault. It may be empty if
	// the keys can be opened without a passphrase.
	Passphrase Secret `json:"passphrase,omitempty"`
}

type removeMemberOf struct {
	Member memory.MemberID `path:"member" doc:"its id"`
	Body   RemoveMemberRequest
}

var membersTopic = topic[*letter]{listMembers.untyped, whereIs.untyped, removeMember.untyped, rotate.untyped, pairInvite.untyped, pairWait.untyped, pairConfirm.untyped}

// letter pairs devices. A page must give the passphrase for it, because otherwise somebody
// who has stolen its session could get all memories for good.
type letter struct {
	Membership
	keys Keys
	try  sync.Locker // so that one passphrase is tried at a time
}

func (l *letter) confirm(ctx context.Context, said ConfirmRequest) (Pairing, error) {
	if ctx.Value(fromPage{}) != nil && said.Same {
		l.try.Lock()
		err := l.keys.Unlock(ctx, said.Passphrase)
		l.try.Unlock()
		if err != nil {
			return Pairing{}, err
		}
	}
	return l.PairConfirm(ctx, said)
}

var (
	listMembers = plainList[MembersAnswer](RightOwner, spec{
		method: "GET", path: "/v1/members", id: "listMembers",
		summary: "List the members of the wearer's space: devices and others", gives: "The members",
	}, (*letter).Members)

	removeMember = jsonRoute(RightCommand, spec{
		method: "DELETE", path: "/v1/members/{member}", id: "removeMember", optional: true, alone: true,
		summary: "Remove a member for good", gives: "The removed member; it gets nothing new, and keeps what it has",
	}, func(s *letter, ctx context.Context, in removeMemberOf) (RemovedMember, error) {
		return RemovedMember{in.Member}, s.RemoveMember(ctx, in.Member, in.Body.Phrase)
	})

	rotate = plainRoute(RightCommand, spec{
		method: "POST", path: "/v1/epochs", id: "rotate",
		summary: "Begin a new epoch: seal what comes from now on with a new key", gives: "The new epoch",
	}, (*letter).Rotate)

	pairInvite = plainRoute(RightOwner, spec{
		method: "POST", path: "/v1/pairing", id: "pairInvite",
		summary: "Create a code to pair a new device", gives: "The code",
	}, (*letter).PairInvite)

	pairWait = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/pairing", id: "pairWait",
		summary: "Wait for the new device", gives: "The words to compare, or why pairing failed",
	}, (*letter).PairWait)

	pairConfirm = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/pairing/confirm", id: "pairConfirm",
		summary: "Say whether both devices show the same words", gives: "The result, after the other device has answered, too",
	}, (*letter).confirm)
)

// Members lists who belongs to the wearer's space.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	return items(ctx, c, listMembers, none{})
}

// RemoveMember removes a member.
func (c *Client) RemoveMember(ctx context.Context, id memory.MemberID, phrase Secret) error {
	_, err := call(ctx, c, removeMember, removeMemberOf{id, RemoveMemberRequest{phrase}})
	return err
}

// Rotate begins an epoch.
func (c *Client) Rotate(ctx context.Context) (Rotated, error) { return call(ctx, c, rotate, none{}) }

// PairInvite makes a code for a new device.
func (c *Client) PairInvite(ctx context.Context) (Pairing, error) {
	return call(ctx, c, pairInvite, none{})
}

// PairWait waits for the new device.
func (c *Client) PairWait(ctx context.Context) (Pairing, error) {
	return call(ctx, c, pairWait, none{})
}

// PairConfirm says whether both devices show the same words.
func (c *Client) PairConfirm(ctx context.Context, said ConfirmRequest) (Pairing, error) {
	return call(ctx, c, pairConfirm, said)
}
