package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Settler shows conflicts between devices, or between a machine and the wearer, and
// lets the wearer settle them.
type Settler interface {
	// Conflicts returns all open conflicts, the latest first. It reads every
	// memory with more than one assertion.
	Conflicts(ctx context.Context) ([]Conflict, error)
	// Settle ends a conflict, on every device after they have synced. id is the
	// conflict's id or at least its first 4 characters. The id covers exactly the
	// sides that were shown, in their order and with their texts: if any of that is another by
	// now, Settle returns memory.ErrNotFound.
	Settle(ctx context.Context, id string, s SettleRequest) (Settled, error)
	// Settlements returns the settlements of any device that are still in effect,
	// the latest first. It reads every assertion.
	Settlements(ctx context.Context) ([]Settlement, error)
	// Unsettle takes a settlement back, on every device after they have synced: the
	// conflict is open again. id is the conflict's, or at least its first 4
	// characters. It returns ErrConflict if the wearer has said something since
	// about what was settled.
	Unsettle(ctx context.Context, id string) (Settled, error)
}

// Conflict is a disagreement. The first side is the one that is shown.
type Conflict struct {
	ID    string         `json:"id"`
	Kind  string         `json:"kind"`            // field, slot or pin
	Field string         `json:"field,omitempty"` // the disputed field of one memory; absent if whole memories contradict each other
	Slot  *memory.Slot   `json:"slot,omitempty"`  // the slot of the values, without its value
	Sides []ConflictSide `json:"sides"`
	Why   string         `json:"why"` // why the first side is shown
}

// ConflictSide is one side of a conflict.
type ConflictSide struct {
	Memory  memory.ID       `json:"memory"`
	Value   string          `json:"value"`
	Text    string          `json:"text"`
	Negates bool            `json:"negates,omitempty"` // it says that the value is no longer true
	Member  memory.MemberID `json:"member"`
	Device  string          `json:"device,omitempty"` // name of the member, if known
	Here    bool            `json:"here,omitempty"`   // it is this device
	By      memory.Source   `json:"by"`
	Rank    memory.Rank     `json:"rank"`
	At      time.Time       `json:"at"`
}

// ConflictsAnswer lists conflicts.
type ConflictsAnswer struct {
	Conflicts []Conflict `json:"conflicts"`
}

// SettleRequest has exactly one of Choose, Both and Write.
type SettleRequest struct {
	Choose int    `json:"choose,omitempty"` // number of the chosen side, from 1
	Both   bool   `json:"both,omitempty"`   // keep all sides
	Write  string `json:"write,omitempty"`  // neither side: the new value of the field or slot
	Text   string `json:"text,omitempty"`   // with Write, for a slot: the statement, if it can't be derived from the shown one
}

// Settled is what a settlement changed.
type Settled struct {
	ID      string          `json:"id"`
	Changes []memory.Change `json:"changes"`
}

// Settlement is how the wearer settled a conflict.
type Settlement struct {
	ID     string    `json:"id"` // id of the conflict
	At     time.Time `json:"at"`
	Memory memory.ID `json:"memory"` // the memory that was chosen or written, or whose field was disputed
	Text   string    `json:"text"`
}

// SettlementsAnswer lists settlements.
type SettlementsAnswer struct {
	Settled []Settlement `json:"settled"`
}

type conflictOf struct {
	Conflict string `path:"conflict" min:"4" doc:"its id, or at least the first 4 characters of it"`
}

type settleOf struct {
	Conflict string `path:"conflict" min:"4" doc:"its id, or at least the first 4 characters of it"`
	Body     SettleRequest
}

var conflictsTopic = topic[Settler]{listConflicts.untyped, settle.untyped, listSettled.untyped, unsettle.untyped}

var (
	listConflicts = plainList[ConflictsAnswer](RightOwner, spec{
		method: "GET", path: "/v1/conflicts", id: "conflicts",
		summary: "List conflicts between devices, or between a machine and the wearer, latest first", gives: "The conflicts; the first side of each is the one that is shown",
	}, Settler.Conflicts)

	settle = fieldsRoute[settleOf](RightOwner, spec{
		method: "POST", path: "/v1/conflicts/{conflict}", id: "settle",
		summary: "Settle a conflict, on every device", gives: "The changes that this made",
	}, Settler.Settle)

	listSettled = plainList[SettlementsAnswer](RightOwner, spec{
		method: "GET", path: "/v1/conflicts/settled", id: "settlements",
		summary: "List how conflicts were settled, latest first", gives: "The settlements that were not taken back",
	}, Settler.Settlements)

	unsettle = fieldRoute[conflictOf](RightOwner, spec{
		method: "DELETE", path: "/v1/conflicts/{conflict}", id: "unsettle",
		summary: "Undo the settlement of a conflict, on every device", gives: "The changes that this made; the conflict is open again",
	}, Settler.Unsettle)
)

// Conflicts lists the open conflicts.
func (c *Client) Conflicts(ctx context.Context) ([]Conflict, error) {
	return items(ctx, c, listConflicts, none{})
}

// Settle ends a conflict.
func (c *Client) Settle(ctx context.Context, id string, s SettleRequest) (Settled, error) {
	return call(ctx, c, settle, settleOf{id, s})
}

// Settlements lists how conflicts were settled.
func (c *Client) Settlements(ctx context.Context) ([]Settlement, error) {
	return items(ctx, c, listSettled, none{})
}

// Unsettle takes a settlement back.
func (c *Client) Unsettle(ctx context.Context, id string) (Settled, error) {
	return call(ctx, c, unsettle, conflictOf{id})
}
