package serve

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
)

// MaxBatch is how many operations one batch may hold.
const MaxBatch = 1000

// BatchRequest is the body of POST /v1/memories/batch: operations that are
// done one after the other, each by itself. One that fails is told in its
// place, and the rest goes on.
type BatchRequest struct {
	Operations []Operation `json:"operations"`
}

// Operation is one change; one of the four is set.
type Operation struct {
	Add    *AddRequest    `json:"add,omitempty"`
	Update *UpdateRequest `json:"update,omitempty"` // of ID
	Delete bool           `json:"delete,omitempty"` // ID, for good
	Pin    *bool          `json:"pin,omitempty"`    // ID, or end that
	ID     string         `json:"id,omitempty"`     // may be abbreviated
}

// BatchAnswer has a result for each operation, in their order.
type BatchAnswer struct {
	Results []BatchResult `json:"results"`
	Failed  int           `json:"failed"` // how many hold a problem
}

// BatchResult is what became of one operation.
type BatchResult struct {
	Added   *AddResult     `json:"added,omitempty"`
	Memory  *memory.Memory `json:"memory,omitempty"`  // as it is after an update or a pin
	Deleted *Deleted       `json:"deleted,omitempty"` // what was erased
	Problem *Problem       `json:"problem,omitempty"`
}

func (h *handler) batch(r *http.Request) (any, error) {
	var req BatchRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	if n := len(req.Operations); n == 0 || n > MaxBatch {
		return nil, kindInvalid.problem("operations", fmt.Sprintf("operations: %d, want 1 to %d", n, MaxBatch))
	}
	for i := range req.Operations {
		if err := checkOperation(fmt.Sprintf("operations[%d]", i), &req.Operations[i]); err != nil {
			return nil, err
		}
	}
	out := BatchAnswer{Results: make([]BatchResult, 0, len(req.Operations))}
	for i := range req.Operations {
		res, err := h.do(r.Context(), &req.Operations[i])
		if err != nil {
			if r.Context().Err() != nil {
				return nil, err
			}
			res = BatchResult{Problem: h.problemOf(r.Context(), "/v1/memories/batch", err)}
			out.Failed++
		}
		out.Results = append(out.Results, res)
	}
	return out, nil
}

// checkOperation finds what is wrong with a batch before any of it is done.
func checkOperation(place string, op *Operation) error {
	n := 0
	for _, set := range []bool{op.Add != nil, op.Update != nil, op.Delete, op.Pin != nil} {
		if set {
			n++
		}
	}
	switch {
	case n != 1:
		return kindInvalid.problem(place, place+": want one of add, update, delete and pin")
	case (op.Add == nil) == (op.ID == ""):
		return kindInvalid.problem(place+".id", place+".id: wanted with update, delete and pin, and with them alone")
	}
	return nil
}

func (h *handler) do(ctx context.Context, op *Operation) (BatchResult, error) {
	if op.Add != nil {
		if err := checkAdd(op.Add); err != nil {
			return BatchResult{}, err
		}
		res, err := h.Service.Add(ctx, *op.Add)
		res.Changes, res.Refusals = notNil(res.Changes), notNil(res.Refusals)
		return BatchResult{Added: &res}, err
	}
	id, err := h.Service.Resolve(ctx, op.ID)
	if err != nil {
		return BatchResult{}, err
	}
	if op.Delete {
		return BatchResult{Deleted: &Deleted{id, memory.Erased}}, h.Service.Delete(ctx, id)
	}
	var m memory.Memory
	if op.Update != nil {
		if err := checkUpdate(op.Update); err != nil {
			return BatchResult{}, err
		}
		m, err = bareOne(h.Service.Update(ctx, id, *op.Update))
	} else {
		m, err = bareOne(h.Service.Pin(ctx, id, *op.Pin))
	}
	return BatchResult{Memory: &m}, err
}

func checkUpdate(r *UpdateRequest) error {
	switch {
	case r.Text != nil && strings.TrimSpace(*r.Text) == "":
		return kindInvalid.problem("text", "text: empty")
	case r.Fields != nil && r.Fields.Vault != nil:
		return kindInvalid.problem("fields.vault", "fields.vault: can't be changed")
	}
	return nil
}

// CategoriesAnswer counts the active memories of each category.
type CategoriesAnswer struct {
	Categories []CategoryCount `json:"categories"`
}

// CategoryCount is one category. A memory may be in several.
type CategoryCount struct {
	Name     string `json:"name"`
	Memories int    `json:"memories"`
}

func (h *handler) categories(r *http.Request) (any, error) {
	list, err := h.Service.Categories(r.Context())
	return CategoriesAnswer{notNil(slices.Clone(list))}, err
}

// Batch does several changes, each by itself.
func (c *Client) Batch(ctx context.Context, ops []Operation) (v BatchAnswer, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/memories/batch", nil, BatchRequest{ops}, &v)
}

// Categories counts the active memories of each category.
func (c *Client) Categories(ctx context.Context) ([]CategoryCount, error) {
	var v CategoriesAnswer
	err := c.call(ctx, http.MethodGet, "/v1/categories", nil, nil, &v)
	return v.Categories, err
}
