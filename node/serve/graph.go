package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/memory/names"
)

// Grapher draws the graph of who and what the memories name. Merging and
// splitting entities is adding a memory that says so, by [Writer].
type Grapher interface {
	// Graph gives the part of the graph that q asks for.
	Graph(ctx context.Context, q atlas.Query) (atlas.View, error)
	// Entities gives what was decided about names, and what may be one.
	Entities(ctx context.Context) (EntitiesAnswer, error)
}

// EntitiesAnswer is the answer to GET /v1/entities.
type EntitiesAnswer struct {
	Decisions   []atlas.Decision   `json:"decisions"`   // the last of a pair holds
	Suggestions []atlas.Suggestion `json:"suggestions"` // the likeliest first
}

// DecideRequest says of two names that they are of one entity, or are not.
type DecideRequest struct {
	A string `json:"a"`
	B string `json:"b"`
}

// Decided is the memory by which two names are one, or are not.
type Decided struct {
	ID   memory.ID `json:"id"`
	Text string    `json:"text"`
}

func (h *handler) graph(w http.ResponseWriter, r *http.Request) error {
	p := readParams(r)
	q := atlas.Query{Entity: p.text("entity"), Text: p.text("q"), At: p.time("as_of"), Known: p.time("known_at"), Past: p.text("past") == "true",
		Limit: int(p.number("limit", atlas.DefaultLimit, 1, atlas.MaxLimit))}
	if s := p.text("past"); s != "" && s != "true" && s != "false" {
		p.fail("past", "past: want true or false")
	}
	if q.Entity != "" && q.Text != "" {
		p.fail("q", "q: with entity, there is nothing to ask")
	}
	f := atlas.Format(p.text("format"))
	if f == "" {
		f = atlas.JSON
	}
	if !slices.Contains(atlas.Formats, f) {
		p.fail("format", "format: want json, graphml or jsonld")
	}
	if p.err != nil {
		return p.err
	}
	v, err := h.Service.Graph(r.Context(), q)
	if err != nil {
		return err
	}
	if f == atlas.JSON {
		writeJSON(w, http.StatusOK, "application/json", v)
		return nil
	}
	var b bytes.Buffer // whole, so that what fails is a problem and no half of a graph
	if err := atlas.Write(&b, f, &v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", f.MediaType())
	w.Header().Set("Content-Disposition", `attachment; filename="locket.`+string(f)+`"`)
	w.WriteHeader(http.StatusOK)
	_, err = w.Write(b.Bytes())
	return err
}

func (h *handler) entities(r *http.Request) (any, error) {
	a, err := h.Service.Entities(r.Context())
	a.Decisions, a.Suggestions = notNil(a.Decisions), notNil(a.Suggestions)
	return a, err
}

// decide adds the memory by which two names are one, or are not.
func (h *handler) decide(same bool) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		var q DecideRequest
		if err := decodeBody(r, &q, false); err != nil {
			return nil, err
		}
		for _, n := range []struct{ field, name string }{{"a", q.A}, {"b", q.B}} {
			if len(n.name) > memory.MaxName || names.Fold(n.name) == "" {
				return nil, kindInvalid.problem(n.field, fmt.Sprintf("%s: not a name of at most %d bytes", n.field, memory.MaxName))
			}
		}
		if names.Fold(q.A) == names.Fold(q.B) {
			return nil, kindInvalid.problem("b", "b: the same name as a")
		}
		text, f := atlas.Decide(strings.TrimSpace(q.A), strings.TrimSpace(q.B), same)
		infer := false
		res, err := h.Service.Add(r.Context(), AddRequest{Text: text, Infer: &infer, Type: memory.Semantic, Tags: []string{atlas.TagDecision}, Fields: memory.Fields{Semantic: f}})
		if err != nil {
			return nil, err
		}
		for _, c := range res.Changes {
			switch c.Verdict {
			case memory.Add, memory.Update:
				return Decided{c.Memory, text}, nil
			case memory.Noop: // it was said before
				return Decided{cmpID(c.Other, c.Memory), text}, nil
			}
		}
		return nil, fmt.Errorf("%w: %q changed nothing", ErrConflict, text)
	}
}

func cmpID(a, b memory.ID) memory.ID {
	if a.IsZero() {
		return b
	}
	return a
}

// undecide erases a decision, whoever made it.
func (h *handler) undecide(ctx context.Context, id memory.ID, _ *http.Request) (any, error) {
	a, err := h.Service.Entities(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(a.Decisions, func(d atlas.Decision) bool { return d.Memory == id })
	if i < 0 {
		return nil, kindInvalid.problem("id", "id: not a decision about two names; GET /v1/entities lists them")
	}
	m, err := h.Service.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return Decided{id, m.Text}, h.Service.Delete(ctx, id)
}

// graphValues gives the parameters of a query.
func graphValues(q atlas.Query, f atlas.Format) url.Values {
	v := timesOf(q.At, q.Known)
	for name, s := range map[string]string{"entity": q.Entity, "q": q.Text, "format": string(f)} {
		if s != "" {
			v.Set(name, s)
		}
	}
	if q.Past {
		v.Set("past", "true")
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return v
}

// Graph gives a part of the graph.
func (c *Client) Graph(ctx context.Context, q atlas.Query) (v atlas.View, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/graph", graphValues(q, ""), nil, &v)
}

// WriteGraph writes it in a format, as the node has it.
func (c *Client) WriteGraph(ctx context.Context, q atlas.Query, f atlas.Format, to io.Writer) error {
	res, err := c.send(ctx, http.MethodGet, "/v1/graph", graphValues(q, f), "", nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(to, res.Body); err != nil {
		return fmt.Errorf("reading the node's answer: %w", err)
	}
	return nil
}

// Entities lists decisions and suggestions.
func (c *Client) Entities(ctx context.Context) (v EntitiesAnswer, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/entities", nil, nil, &v)
}

// MergeEntities says that two names are of one.
func (c *Client) MergeEntities(ctx context.Context, a, b string) (v Decided, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/entities/merge", nil, DecideRequest{a, b}, &v)
}

// SplitEntities says that they are not.
func (c *Client) SplitEntities(ctx context.Context, a, b string) (v Decided, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/entities/split", nil, DecideRequest{a, b}, &v)
}

// UndecideEntities takes a decision back; id may be abbreviated.
func (c *Client) UndecideEntities(ctx context.Context, id string) (v Decided, err error) {
	return v, c.call(ctx, http.MethodDelete, "/v1/entities/decisions/"+url.PathEscape(id), nil, nil, &v)
}
