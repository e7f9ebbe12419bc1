package serve

import (
	"context"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
)

// MaxBatch is how many operations one batch may have.
const MaxBatch = 1000

// BatchRequest is the body of POST /v1/memories/batch. The operations are
// carried out one after another, independently of each other. If one fails, its
// result says so, and the others are still done.
type BatchRequest struct {
	Operations []Operation `json:"operations"`
}

// Operation is one change. Exactly one of Add, Update, Delete and Pin is set.
type Operation struct {
	Add    *AddRequest    `json:"add,omitempty"`
	Update *UpdateRequest `json:"update,omitempty"` // changes the memory ID
	Delete bool           `json:"delete,omitempty"` // erases the memory ID for good
	Pin    *bool          `json:"pin,omitempty"`    // true: pin the memory ID; false: unpin it
	ID     string         `json:"id,omitempty"`     // may be abbreviated
}

// BatchAnswer has a result for each operation, in the same order.
type BatchAnswer struct {
	Results []BatchResult `json:"results"`
	Failed  int           `json:"failed"` // number of operations that failed
}

// BatchResult is the result of one operation.
type BatchResult struct {
	Added   *AddResult     `json:"added,omitempty"`
	Memory  *memory.Memory `json:"memory,omitempty"`  // the memory after an update or a pin
	Deleted *Deleted       `json:"deleted,omitempty"` // what was erased
	Problem *Problem       `json:"problem,omitempty"`
}

// batcher carries out batches: it is a [Writer] that can also describe what
// failed in one.
type batcher struct {
	Writer
	problem func(ctx context.Context, route string, err error) *Problem
}

var batchTopic = topic[*batcher]{batchMemories.untyped}

var batchMemories = jsonRoute(RightWrite, spec{
	method: "POST", path: "/v1/memories/batch", id: "batchMemories",
	summary: "Make many changes, independent of each other",
	about:   "Operations run in order. A failed operation has a problem in its place in the answer, and the others still run. If any operation is malformed, the whole batch is refused.",
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
		res.Changes, res.Refusals = NonNil(res.Changes), NonNil(res.Refusals)
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
		m, err = withoutSealedOne(s.Update(ctx, id, *op.Update))
	} else {
		m, err = withoutSealedOne(s.Pin(ctx, id, *op.Pin))
	}
	return BatchResult{Memory: &m}, err
}

// Batch makes several changes, each independently.
func (c *Client) Batch(ctx context.Context, ops []Operation) (BatchAnswer, error) {
	return call(ctx, c, batchMemories, BatchRequest{ops})
}

// Eraser erases memories by a filter.
type Eraser interface {
	// Erase erases all memories that a filter selects, as one order: if the
	// node is killed in between, it erases the rest when it is opened again.
	// For an app it erases what the app may see, and nothing if the wearer
	// pinned one of these memories.
	Erase(ctx context.Context, r EraseRequest) (EraseAnswer, error)
}

// EraseRequest is the body of POST /v1/memories/erase.
type EraseRequest struct {
	Filters filter.Filter `json:"filters"` // must not be empty
}

// EraseAnswer has the ids of the memories that were erased.
type EraseAnswer struct {
	Erased []memory.ID `json:"erased"`
}

var eraseTopic = topic[Eraser]{eraseMemories.untyped}

var eraseMemories = jsonRoute(RightForget, spec{
	method: "POST", path: "/v1/memories/erase", id: "eraseMemories",
	summary: "Erase all memories that a filter finds, for good",
	about:   "Memories in any state are erased, as one operation: if the node is killed in between, it erases the rest when it is opened again. An app also needs the right to read, and erases nothing if one of the memories is pinned.",
	gives:   "The ids of the erased memories",
}, Eraser.Erase)

func (r *EraseRequest) check() error {
	if r.Filters.IsZero() {
		return kindInvalid.problem("filters", "filters: empty: all memories are erased with POST /v1/forget")
	}
	return nil
}

// Erase erases all memories that a filter selects.
func (c *Client) Erase(ctx context.Context, f filter.Filter) (EraseAnswer, error) {
	return call(ctx, c, eraseMemories, EraseRequest{f})
}
