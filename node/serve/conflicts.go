package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Settler shows what devices disagree about, or a machine and the wearer, and
// lets the wearer settle it.
type Settler interface {
	// Conflicts returns all that are open, the latest first. It reads every
	// memory of which more was said than one thing.
	Conflicts(ctx context.Context) ([]Conflict, error)
	// Settle ends one, on every device once they have synced. The id, whole or
	// the first 4 characters or more of it, stands for exactly the sides that
	// were shown: once one has come or gone, it is memory.ErrNotFound.
	Settle(ctx context.Context, id string, s SettleRequest) (Settled, error)
}

// Conflict is what stands against each other; the first side is shown.
type Conflict struct {
	ID    string         `json:"id"`
	Kind  string         `json:"kind"`            // field, slot, pin
	Field string         `json:"field,omitempty"` // of one memory; absent where whole memories stand against each other
	Slot  *memory.Slot   `json:"slot,omitempty"`  // that they are values of, without one
	Sides []ConflictSide `json:"sides"`
	Why   string         `json:"why"` // the first is shown
}

// ConflictSide is one of them.
type ConflictSide struct {
	Memory  memory.ID       `json:"memory"`
	Value   string          `json:"value"`
	Text    string          `json:"text"`
	Negates bool            `json:"negates,omitempty"` // it says that the value is no longer so
	Member  memory.MemberID `json:"member"`
	Device  string          `json:"device,omitempty"` // the member's name, where it is known
	Here    bool            `json:"here,omitempty"`   // it is this device
	By      memory.Source   `json:"by"`
	Rank    memory.Rank     `json:"rank"`
	At      time.Time       `json:"at"`
}

// ConflictsAnswer lists them.
type ConflictsAnswer struct {
	Conflicts []Conflict `json:"conflicts"`
}

// SettleRequest says one of three things: Choose, Both or Write.
type SettleRequest struct {
	Choose int    `json:"choose,omitempty"` // this side, from 1
	Both   bool   `json:"both,omitempty"`   // all of them stand
	Write  string `json:"write,omitempty"`  // neither: the field's value, or the slot's
	Text   string `json:"text,omitempty"`   // with Write, of a slot: the statement, where it can't be made from the shown one
}

// Settled is what it changed.
type Settled struct {
	ID      string          `json:"id"`
	Changes []memory.Change `json:"changes"`
}

type settleOf struct {
	Conflict string `path:"conflict" min:"4" doc:"its id, or the first 4 characters or more of it"`
	Body     SettleRequest
}

var settling = topic[Settler]{listConflicts, settle}

var (
	listConflicts = asks(RightOwner, spec{
		method: "GET", path: "/v1/conflicts", id: "conflicts",
		summary: "What devices disagree about, or a machine and the wearer, the latest first", gives: "The conflicts, of each what is shown first",
	}, func(s Settler, ctx context.Context) (ConflictsAnswer, error) {
		list, err := s.Conflicts(ctx)
		return ConflictsAnswer{list}, err
	})

	settle = takes(RightOwner, spec{
		method: "POST", path: "/v1/conflicts/{conflict}", id: "settle",
		summary: "Settle a conflict, on every device", gives: "What it changed",
	}, func(s Settler, ctx context.Context, in settleOf) (Settled, error) {
		return s.Settle(ctx, in.Conflict, in.Body)
	})
)

// Conflicts lists what is open.
func (c *Client) Conflicts(ctx context.Context) ([]Conflict, error) {
	v, err := listConflicts.call(ctx, c, none{})
	return v.Conflicts, err
}

// Settle ends one.
func (c *Client) Settle(ctx context.Context, id string, s SettleRequest) (Settled, error) {
	return settle.call(ctx, c, settleOf{id, s})
}
