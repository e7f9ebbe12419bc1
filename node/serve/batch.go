package serve

import (
	"context"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
)

// MaxBatch is how many operations one batch may hold.
const MaxBatch = 1000

// BatchRequest is the body of POST /v1/memories/batch. The operations are done
// one after another and independently. If one fails, its result says so, and
// the others are still done.
type BatchRequest struct {
	Operations []Operation `json:"operations"`
}

// Operation is one change. Exactly one of Add, Update, Delete and Pin is set.
type Operation struct {
	Add    *AddRequest    `json:"add,omitempty"`
	Update *UpdateRequest `json:"update,omitempty"` // of ID
	Delete bool           `json:"delete,omitempty"` // ID, for good
	Pin    *bool          `json:"pin,omitempty"`    // pin ID, or with false unpin it
	ID     string         `json:"id,omitempty"`     // may be abbreviated
}

// BatchAnswer has a result for each operation, in their order.
type BatchAnswer struct {
	Results []BatchResult `json:"results"`
	Failed  int           `json:"failed"` // how many have a problem
}

// BatchResult is what became of one operation.
type BatchResult struct {
	Added   *AddResult     `json:"added,omitempty"`
	Memory  *memory.Memory `json:"memory,omitempty"`  // as it is after an update or a pin
	Deleted *Deleted       `json:"deleted,omitempty"` // what was erased
	Problem *Problem       `json:"problem,omitempty"`
}

// batcher does batches: a [Writer], with the words for what fails in one.
type batcher struct {
	Writer
	problem func(ctx context.Context, route string, err error) *Problem
}

var batching = topic[*batcher]{batchMemories.untyped}

var batchMemories = jsonRoute(RightWrite, spec{
	method: "POST", path: "/v1/memories/batch", id: "batchMemories",
	summary: "Do many changes, each by itself",
	about:   "The operations are done in order. One that fails is told in its place, as a problem, and the rest goes on. A batch with a malformed operation is refused whole.",
	gives:   "A result for each operation",
}, (*batcher).all)

func (s *batcher) all(ctx context.Context, req BatchRequest) (BatchAnswer, error) {
	out := BatchAnswer{Results: make([]BatchResult, 0, len(req.Operations))}
	for i := range req.Operations {
		res, err := s.one(ctx, &req.Operations[i])
		if err != nil {
			if ctx.Err() != nil {
				return BatchAnswer{}, err
			}
			res = BatchResult{Problem: s.problem(ctx, "/v1/memories/batch", err)}
			out.Failed++
		}
		out.Results = append(out.Results, res)
	}
	return out, nil
}

func (r *BatchRequest) check() error {
	if n := len(r.Operations); n == 0 || n > MaxBatch {
		return kindInvalid.problem("operations", fmt.Sprintf("operations: %d, want 1 to %d", n, MaxBatch))
	}
	for i := range r.Operations {
		place, op := fmt.Sprintf("operations[%d]", i), &r.Operations[i]
		switch {
		case countTrue(op.Add != nil, op.Update != nil, op.Delete, op.Pin != nil) != 1:
			return kindInvalid.problem(place, place+": want one of add, update, delete and pin")
		case (op.Add == nil) == (op.ID == ""):
			return kindInvalid.problem(place+".id", place+".id: wanted with update, delete and pin only")
		}
	}
	return nil
}

func (s *batcher) one(ctx context.Context, op *Operation) (BatchResult, error) {
	if op.Add != nil {
		if err := op.Add.check(); err != nil {
			return BatchResult{}, err
		}
		res, err := s.Add(ctx, *op.Add)
		res.Changes, res.Refusals = Some(res.Changes), Some(res.Refusals)
		return BatchResult{Added: &res}, err
	}
	id, err := s.Resolve(ctx, op.ID)
	if err != nil {
		return BatchResult{}, err
	}
	if op.Delete {
		return BatchResult{Deleted: &Deleted{id, memory.Erased}}, s.Delete(ctx, id)
	}
	var m memory.Memory
	if op.Update != nil {
		if err := op.Update.check(); err != nil {
			return BatchResult{}, err
		}
		m, err = bareOne(s.Update(ctx, id, *op.Update))
	} else {
		m, err = bareOne(s.Pin(ctx, id, *op.Pin))
	}
	return BatchResult{Memory: &m}, err
}

// Batch does several changes, each by itself.
func (c *Client) Batch(ctx context.Context, ops []Operation) (BatchAnswer, error) {
	return call(ctx, c, batchMemories, BatchRequest{ops})
}

// Eraser erases memories by a filter.
type Eraser interface {
	// Erase erases all memories that a filter finds, as one order: if the node
	// is killed in between, it erases the rest when it is opened again. An app
	// erases what it may see, and nothing if the wearer pinned one of them.
	Erase(ctx context.Context, r EraseRequest) (EraseAnswer, error)
}

// EraseRequest is the body of POST /v1/memories/erase.
type EraseRequest struct {
	Filters filter.Filter `json:"filters"` // may not be empty
}

// EraseAnswer has the ids of the memories that were erased.
type EraseAnswer struct {
	Erased []memory.ID `json:"erased"`
}

var erasing = topic[Eraser]{eraseMemories.untyped}

var eraseMemories = jsonRoute(RightForget, spec{
	method: "POST", path: "/v1/memories/erase", id: "eraseMemories",
	summary: "Erase all memories that a filter finds, for good",
	about:   "It takes memories in any state. They are one order, which is carried out to its end even if the node is killed in between. An app needs the right to read, too, and erases nothing if one of them is pinned.",
	gives:   "The ids of what was erased",
}, Eraser.Erase)

func (r *EraseRequest) check() error {
	if r.Filters.IsZero() {
		return kindInvalid.problem("filters", "filters: empty: all memories are erased with POST /v1/forget")
	}
	return nil
}

// Erase erases all memories that a filter finds.
func (c *Client) Erase(ctx context.Context, f filter.Filter) (EraseAnswer, error) {
	return call(ctx, c, eraseMemories, EraseRequest{f})
}
