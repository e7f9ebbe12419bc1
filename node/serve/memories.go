package serve

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
)

func (h *handler) add(w http.ResponseWriter, r *http.Request) error {
	var req AddRequest
	if err := decodeBody(r, &req, false); err != nil {
		return err
	}
	if err := checkAdd(&req); err != nil {
		return err
	}
	res, err := h.Service.Add(r.Context(), req)
	if err != nil {
		return err
	}
	res.Changes, res.Refusals = notNil(res.Changes), notNil(res.Refusals)
	writeJSON(w, http.StatusCreated, "application/json", res)
	return nil
}

func checkAdd(r *AddRequest) error {
	switch {
	case strings.TrimSpace(r.Text) == "":
		return kindInvalid.problem("text", "text: empty")
	case len(r.Text) > memory.MaxText:
		return kindInvalid.problem("text", fmt.Sprintf("text: %d bytes, at most %d", len(r.Text), memory.MaxText))
	case len(r.Key) > memory.MaxName:
		return kindInvalid.problem("key", fmt.Sprintf("key: %d bytes, at most %d", len(r.Key), memory.MaxName))
	case r.Type == memory.Vault || r.Fields.Vault != nil:
		return kindInvalid.problem("type", "type: a vault memory comes of a secret that is said; add it as text with infer")
	case r.Infers() && (r.Type != "" || r.Slot != nil || r.Fields != (memory.Fields{}) || len(r.Tags) > 0):
		return kindInvalid.problem("infer", "infer: type, fields, slot and tags are for a memory that is added as it stands: set infer to false")
	case r.Infers() && (r.Sensitivity != nil || !r.Expires.IsZero()):
		return kindInvalid.problem("infer", "infer: sensitivity and expires are for a memory that is added as it stands: set infer to false")
	}
	return checkType("type", r.Type)
}

func checkType(field string, t memory.Type) error {
	if t != "" && !slices.Contains(memory.Types[:], t) {
		return kindInvalid.problem(field, wantType(field, t))
	}
	return nil
}

func wantType(field string, t memory.Type) string {
	return fmt.Sprintf("%s: %.40q: want core, episodic, semantic, procedural, resource or vault", field, t)
}

// list gives a page, or with "Accept: application/jsonl" every memory, one a
// line.
func (h *handler) list(w http.ResponseWriter, r *http.Request) error {
	p := readParams(r)
	q := ListQuery{
		Type: p.types("type"), State: memory.State(p.text("state")), Since: p.time("since"), Until: p.time("until"),
		Tag: p.text("tag"), Agent: p.text("agent"), Run: p.text("run"), AsOf: p.time("as_of"), KnownAt: p.time("known_at"),
		Limit: int(p.number("limit", DefaultPage, 1, MaxPage)), Cursor: p.text("cursor"),
	}
	if s := p.text("filters"); s != "" {
		if err := q.Filters.UnmarshalJSON([]byte(s)); err != nil {
			return err
		}
	}
	if !slices.Contains([]memory.State{"", AnyState, memory.Active, memory.Superseded, memory.Archived}, q.State) {
		p.fail("state", "state: want active, superseded, archived or all")
	}
	if q.State != "" && (!q.AsOf.IsZero() || !q.KnownAt.IsZero()) {
		return kindInvalid.problem("state", "state: is of today; with as_of and known_at what held then is given")
	}
	if p.err != nil {
		return p.err
	}
	if !strings.Contains(r.Header.Get("Accept"), MediaTypeLines) {
		page, err := h.Service.List(r.Context(), q)
		if err != nil {
			return err
		}
		page.Memories = bare(page.Memories...)
		writeJSON(w, http.StatusOK, "application/json", page)
		return nil
	}
	q.Limit = MaxPage
	return writeLines(w, h.all(r.Context(), q))
}

// all goes through the pages.
func (h *handler) all(ctx context.Context, q ListQuery) iter.Seq2[memory.Memory, error] {
	return func(yield func(memory.Memory, error) bool) {
		for {
			page, err := h.Service.List(ctx, q)
			if err != nil {
				yield(memory.Memory{}, err)
				return
			}
			for _, m := range bare(page.Memories...) {
				if !yield(m, nil) {
					return
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				return
			}
		}
	}
}

func (h *handler) update(ctx context.Context, id memory.ID, r *http.Request) (any, error) {
	var req UpdateRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	if err := checkUpdate(&req); err != nil {
		return nil, err
	}
	ways := 0
	for _, set := range []bool{req.Text != nil, req.Append != nil, req.Replace != nil} {
		if set {
			ways++
		}
	}
	if ways > 1 {
		return nil, kindInvalid.problem("text", "text: want one of text, append and replace")
	}
	if len(req.Steps) > 0 && req.Fields != nil {
		return nil, kindInvalid.problem("steps", "steps: want steps or fields")
	}
	return bareOne(h.Service.Update(ctx, id, req))
}

// Deleted is the answer to DELETE /v1/memories/{id}.
type Deleted struct {
	ID    memory.ID    `json:"id"`
	State memory.State `json:"state"` // erased
}

func (h *handler) delete(ctx context.Context, id memory.ID, _ *http.Request) (any, error) {
	return Deleted{id, memory.Erased}, h.Service.Delete(ctx, id)
}

// HistoryAnswer is a memory's changes, oldest first.
type HistoryAnswer struct {
	Changes []memory.Change `json:"changes"`
}

func (h *handler) history(ctx context.Context, id memory.ID, _ *http.Request) (any, error) {
	list, err := h.Service.History(ctx, id)
	return HistoryAnswer{notNil(list)}, err
}

func (h *handler) why(ctx context.Context, id memory.ID, _ *http.Request) (any, error) {
	why, err := h.Service.Why(ctx, id)
	why.Memory = bare(why.Memory)[0]
	why.Evidence, why.History = notNil(why.Evidence), notNil(why.History)
	return why, err
}

func (h *handler) pin(pinned bool) func(context.Context, memory.ID, *http.Request) (any, error) {
	return func(ctx context.Context, id memory.ID, _ *http.Request) (any, error) {
		return bareOne(h.Service.Pin(ctx, id, pinned))
	}
}

func (h *handler) search(r *http.Request) (any, error) {
	var req SearchRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	if err := checkSearch(&req); err != nil {
		return nil, err
	}
	res, err := h.Service.Search(r.Context(), req)
	if err != nil {
		return nil, err
	}
	res.Hits = notNil(slices.Clone(res.Hits))
	for i := range res.Hits {
		if m := res.Hits[i].Memory; m != nil {
			res.Hits[i].Memory = &bare(*m)[0]
		}
	}
	return res, nil
}

// MaxHits is the most that a search gives.
const MaxHits = 100

func checkSearch(r *SearchRequest) error {
	switch {
	case strings.TrimSpace(r.Query) == "":
		return kindInvalid.problem("query", "query: empty")
	case len(r.Query) > memory.MaxText:
		return kindInvalid.problem("query", fmt.Sprintf("query: %d bytes, at most %d", len(r.Query), memory.MaxText))
	case r.K < 0 || r.K > MaxHits:
		return kindInvalid.problem("k", fmt.Sprintf("k: %d, want 1 to %d", r.K, MaxHits))
	case r.Threshold < 0:
		return kindInvalid.problem("threshold", "threshold: below 0")
	case !slices.Contains([]string{"", OnlyMemories, OnlyUtterances}, r.Only):
		return kindInvalid.problem("only", "only: want memories or utterances")
	}
	if r.K == 0 {
		r.K = 10
	}
	for _, t := range r.Types {
		if err := checkType("types", cmpType(t)); err != nil {
			return err
		}
	}
	return nil
}

// cmpType has an empty type among several refused.
func cmpType(t memory.Type) memory.Type {
	if t == "" {
		return "(empty)"
	}
	return t
}

// bare gives copies without sealed values, which are of use in an export only.
func bare(list ...memory.Memory) []memory.Memory {
	out := notNil(slices.Clone(list))
	for i := range out {
		if v := out[i].Fields.Vault; v != nil {
			label := *v
			label.Sealed = nil
			out[i].Fields.Vault = &label
		}
	}
	return out
}

func bareOne(m memory.Memory, err error) (memory.Memory, error) { return bare(m)[0], err }

// notNil makes an empty list [] in JSON.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
