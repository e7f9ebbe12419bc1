package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Membership manages the members of the wearer's space, and pairs new devices.
// Only one pairing runs at a time.
type Membership interface {
	// Members returns the members of the wearer's space.
	Members(ctx context.Context) ([]Member, error)
	// RemoveMember removes a member for good. It gets nothing new and keeps
	// what it has. To remove a device of the wearer, the recovery phrase is
	// needed; for others none may be given: ErrConflict.
	RemoveMember(ctx context.Context, id memory.MemberID, phrase Secret) error
	// Rotate begins an epoch whose key only the present members get. It returns
	// ErrUnsupported without a relay, and ErrConflict if this device is no
	// owner.
	Rotate(ctx context.Context) (Rotated, error)
	// PairInvite makes a code. A running pairing ends.
	PairInvite(ctx context.Context) (Pairing, error)
	// PairWait returns when the new device has come, or when the pairing
	// failed. It returns ErrConflict if no pairing is running.
	PairWait(ctx context.Context) (Pairing, error)
	// PairConfirm says whether the words on both devices are the same, and
	// waits for the other side's answer. It can return ErrConflict.
	PairConfirm(ctx context.Context, same bool) (Pairing, error)
}

// Member is a member of the wearer's space.
type Member struct {
	ID   memory.MemberID `json:"id"`
	Role string          `json:"role"`
	Name string          `json:"name,omitempty"`
	Here bool            `json:"here,omitempty"` // it is this device
	// Platform is what it runs on, such as linux/arm64, as it reported when it
	// was added.
	Platform string    `json:"platform,omitempty"`
	Added    time.Time `json:"added"` // when it was added, by the clock of the device that added it
	// LastHeard is when the newest of the data that this device has from the member
	// was made: memories, a change of the members, a snapshot, a vote on a snapshot,
	// or the heads that two devices compare. The member's clock gives the time; a time
	// in the future is shown as now. LastHeard is zero for a member that has sent
	// nothing. Reading does not count: only the relay sees it.
	LastHeard time.Time `json:"last_heard,omitzero"`
}

// MembersAnswer lists who belongs to the wearer's space.
type MembersAnswer struct {
	Members []Member `json:"members"`
}

// RemoveMemberRequest goes with DELETE /v1/members/{id}.
type RemoveMemberRequest struct {
	Phrase Secret `json:"phrase,omitempty"`
}

// RemovedMember is its answer.
type RemovedMember struct {
	ID memory.MemberID `json:"id"`
}

// Rotated is the answer to POST /v1/epochs.
type Rotated struct {
	Epoch uint64 `json:"epoch"` // the one that has begun
}

// The states of a pairing.
const (
	PairWaiting = "waiting" // for the new device
	PairCompare = "compare" // for a person to compare the words
	PairDone    = "done"
	PairFailed  = "failed"
)

// Pairing is the state of a pairing.
type Pairing struct {
	State string   `json:"state"`
	Code  string   `json:"code"`
	Link  string   `json:"link"`            // the content of a QR code
	Words []string `json:"words,omitempty"` // both devices must show the same
	Name  string   `json:"name,omitempty"`  // of the new device
	// Platform is what it runs on, as it reports.
	Platform string `json:"platform,omitempty"`
	Error    string `json:"error,omitempty"`
}

// ConfirmRequest says whether both devices show the same words.
type ConfirmRequest struct {
	Same bool `json:"same"`
}

type removeMemberOf struct {
	Member memory.MemberID `path:"member" doc:"its id"`
	Body   RemoveMemberRequest
}

var belonging = topic[Membership]{listMembers.of, removeMember.of, rotate.of, pairInvite.of, pairWait.of, pairConfirm.of}

var (
	listMembers = asks(RightOwner, spec{
		method: "GET", path: "/v1/members", id: "listMembers",
		summary: "List the devices and others of the wearer's space", gives: "The members",
	}, func(s Membership, ctx context.Context) (MembersAnswer, error) {
		list, err := s.Members(ctx)
		return MembersAnswer{list}, err
	})

	removeMember = takes(RightOwner, spec{
		method: "DELETE", path: "/v1/members/{member}", id: "removeMember", optional: true, alone: true,
		summary: "Put a member out for good", gives: "It gets nothing new, and keeps what it has",
	}, func(s Membership, ctx context.Context, in removeMemberOf) (RemovedMember, error) {
		return RemovedMember{in.Member}, s.RemoveMember(ctx, in.Member, in.Body.Phrase)
	})

	rotate = asks(RightOwner, spec{
		method: "POST", path: "/v1/epochs", id: "rotate",
		summary: "Seal what comes from now on under a new key", gives: "The epoch that has begun",
	}, Membership.Rotate)

	pairInvite = asks(RightOwner, spec{
		method: "POST", path: "/v1/pairing", id: "pairInvite",
		summary: "Make a code that lets a new device in", gives: "The code",
	}, Membership.PairInvite)

	pairWait = asks(RightOwner, spec{
		method: "GET", path: "/v1/pairing", id: "pairWait",
		summary: "Wait for the new device", gives: "The words to compare, or why it failed",
	}, Membership.PairWait)

	pairConfirm = takes(RightOwner, spec{
		method: "POST", path: "/v1/pairing/confirm", id: "pairConfirm",
		summary: "Say whether both devices show the same words", gives: "How it ended, after the other side's word",
	}, func(s Membership, ctx context.Context, req ConfirmRequest) (Pairing, error) {
		return s.PairConfirm(ctx, req.Same)
	})
)

// Members lists who belongs to the wearer's space.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	v, err := listMembers.call(ctx, c, none{})
	return v.Members, err
}

// RemoveMember puts one out.
func (c *Client) RemoveMember(ctx context.Context, id memory.MemberID, phrase Secret) error {
	_, err := removeMember.call(ctx, c, removeMemberOf{id, RemoveMemberRequest{phrase}})
	return err
}

// Rotate begins an epoch.
func (c *Client) Rotate(ctx context.Context) (Rotated, error) { return rotate.call(ctx, c, none{}) }

// PairInvite makes a code for a new device.
func (c *Client) PairInvite(ctx context.Context) (Pairing, error) {
	return pairInvite.call(ctx, c, none{})
}

// PairWait waits for the new device.
func (c *Client) PairWait(ctx context.Context) (Pairing, error) {
	return pairWait.call(ctx, c, none{})
}

// PairConfirm says whether both devices show the same words.
func (c *Client) PairConfirm(ctx context.Context, same bool) (Pairing, error) {
	return pairConfirm.call(ctx, c, ConfirmRequest{same})
}
