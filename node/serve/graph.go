package serve

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/names"
)

// Grapher returns the graph of the people and things in memories. Entities are
// merged or split by adding a memory that says so.
type Grapher interface {
	Writer
	// Graph returns the part of the graph that q asks for.
	Graph(ctx context.Context, q atlas.Query) (atlas.View, error)
	// Entities returns the decisions about names, and suggestions for further
	// ones.
	Entities(ctx context.Context) (EntitiesAnswer, error)
	// Get returns a memory in any state but erased.
	Get(ctx context.Context, id memory.ID) (memory.Memory, error)
	// List returns memories, newest first.
	List(ctx context.Context, q ListQuery) (ListPage, error)
}

// EntitiesAnswer is the answer to GET /v1/entities.
type EntitiesAnswer struct {
	Decisions   []atlas.Decision   `json:"decisions"`   // for each pair of names, only the last decision is in force
	Suggestions []atlas.Suggestion `json:"suggestions"` // likeliest first
}

// DecideRequest has two names that mean the same entity, or do not.
type DecideRequest struct {
	A string `json:"a"`
	B string `json:"b"`
}

// Decided is the memory that records a decision.
type Decided struct {
	ID     memory.ID   `json:"id"`
	Text   string      `json:"text"`
	Differ []Differing `json:"differ,omitempty"` // after a merge; what both names have, of which there is one at a time
}

// Differing are the current memories of two names that fill the same slot with different values.
// Memories are reconciled by the name that was said, so a merge ends none of them.
type Differing struct {
	Attribute string          `json:"attribute"` // "home"
	Memories  []memory.Memory `json:"memories"`  // newest first
}

type graphQuery struct {
	Entity  string       `query:"entity" doc:"the part around the entities that this name may mean, by personalised PageRank"`
	Text    string       `query:"q" doc:"the relations that match this text best"`
	AsOf    time.Time    `query:"as_of" doc:"only relations that were true at this time"`
	KnownAt time.Time    `query:"known_at" doc:"only relations that were believed at this time"`
	Past    bool         `query:"past" doc:"also relations that are no longer true"`
	Limit   int          `query:"limit" min:"1" max:"10000" default:"100" doc:"number of entities"` // atlas.MaxLimit, atlas.DefaultLimit
	Format  atlas.Format `query:"format" enum:"json,graphml,jsonld" default:"json"`
}

func (q *graphQuery) check() error {
	if q.Entity != "" && q.Text != "" {
		return kindInvalid.problem("q", "q: can't be combined with entity")
	}
	return nil
}

func graphQueryOf(q atlas.Query, f atlas.Format) graphQuery {
	return graphQuery{q.Entity, q.Text, q.At, q.Known, q.Past, q.Limit, f}
}

var graphTopic = topic[Grapher]{drawGraph.untyped, entities.untyped, mergeEntities.untyped, splitEntities.untyped, undecideEntities.untyped}

var (
	drawGraph = rawRoute[Grapher, graphQuery, atlas.View](RightRead, spec{
		method: "GET", path: "/v1/graph", id: "graph",
		summary: "Get the graph of the people and things in the memories",
		about:   "The graph has entities with all their names, relations between them with their four times, links between entities that memories name together, and communities. The answer has the part around the requested entity, or the relations that match q; without both, it has the entities that most memories name. Without as_of and known_at, it shows the present state.",
		gives:   "The part of the graph that was asked for",
	}, []Format{jsonOf[atlas.View]("application/json"), schema(atlas.GraphML.MediaType(), "type", "string"), schema(atlas.JSONLD.MediaType(), "type", "object")}, writeGraph)

	entities = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/entities", id: "entities",
		summary: "List the decisions about names, and names that may mean the same entity", gives: "Decisions and suggestions",
	}, Grapher.Entities)

	mergeEntities = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/entities/merge", id: "mergeEntities",
		summary: "Say that two names mean the same entity", about: "The decision is a memory: it syncs, can be found and can be erased like any other.", gives: "The memory that says so",
	}, decide(true))

	splitEntities = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/entities/split", id: "splitEntities",
		summary: "Say that two names mean different entities", gives: "The memory that says so",
	}, decide(false))

	undecideEntities = jsonRoute(RightOwner, spec{
		method: "DELETE", path: "/v1/entities/decisions/{id}", id: "undecideEntities",
		summary: "Take back a decision about two names", gives: "The erased decision",
	}, byID(undecide))
)

func writeGraph(w http.ResponseWriter, r *http.Request, s Grapher, in graphQuery) error {
	v, err := s.Graph(r.Context(), atlas.Query{Entity: in.Entity, Text: in.Text, At: in.AsOf, Known: in.KnownAt, Past: in.Past, Limit: in.Limit})
	if err != nil {
		return err
	}
	f := cmp.Or(in.Format, atlas.JSON)
	if f == atlas.JSON {
		writeJSON(w, http.StatusOK, "application/json", v)
		return nil
	}
	var b bytes.Buffer // buffered, so that an error becomes a problem and not half of a graph
	if err := atlas.Write(&b, f, &v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", f.MediaType())
	w.Header().Set("Content-Disposition", `attachment; filename="locket.`+string(f)+`"`)
	w.WriteHeader(http.StatusOK)
	_, err = w.Write(b.Bytes())
	return err
}

func (r *DecideRequest) check() error {
	for _, n := range []struct{ field, name string }{{"a", r.A}, {"b", r.B}} {
		if len(n.name) > memory.MaxName || names.Fold(n.name) == "" {
			return kindInvalid.problem(n.field, fmt.Sprintf("%s: not a name of at most %d bytes", n.field, memory.MaxName))
		}
	}
	if names.Fold(r.A) == names.Fold(r.B) {
		return kindInvalid.problem("b", "b: it is the same name as a")
	}
	return nil
}

// decide adds the memory which says that two names are one entity, or are not.
func decide(same bool) func(Grapher, context.Context, DecideRequest) (Decided, error) {
	return func(s Grapher, ctx context.Context, q DecideRequest) (Decided, error) {
		text, f := atlas.Decide(strings.TrimSpace(q.A), strings.TrimSpace(q.B), same)
		infer := false
		res, err := s.Add(ctx, AddRequest{Text: text, Infer: &infer, Type: memory.Semantic, Tags: []string{atlas.TagDecision}, Fields: memory.Fields{Semantic: f}})
		if err != nil {
			return Decided{}, err
		}
		for _, c := range res.Changes {
			switch c.Verdict {
			case memory.Add, memory.Update, memory.Noop: // NOOP: the decision was made before
				d := Decided{ID: c.Memory, Text: text}
				if c.Verdict == memory.Noop {
					d.ID = cmp.Or(c.Other, c.Memory)
				}
				if same {
					d.Differ, err = differing(ctx, s, q.A, q.B)
				}
				return d, err
			}
		}
		return Decided{}, fmt.Errorf("%w: %q changed nothing", ErrConflict, text)
	}
}

// differing finds the slots with one value at a time that two names fill differently.
func differing(ctx context.Context, s Grapher, a, b string) ([]Differing, error) {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	page, err := s.List(ctx, ListQuery{Limit: MaxPage, Filters: filter.Only(func(it *filter.Item) bool {
		if it.Memory == nil || it.Memory.Slot == nil {
			return false
		}
		slot := it.Memory.Slot
		return !slot.Many && slot.Value != "" && (strings.EqualFold(slot.Subject, a) || strings.EqualFold(slot.Subject, b))
	})})
	if err != nil {
		return nil, err
	}
	of := map[string][]memory.Memory{}
	for _, m := range page.Memories {
		of[m.Slot.Attribute] = append(of[m.Slot.Attribute], m)
	}
	var all []Differing
	for _, attribute := range slices.Sorted(maps.Keys(of)) {
		ms := of[attribute]
		if slices.ContainsFunc(ms, func(m memory.Memory) bool {
			return m.Slot.Subject != ms[0].Slot.Subject && !strings.EqualFold(m.Slot.Value, ms[0].Slot.Value)
		}) {
			all = append(all, Differing{attribute, ms})
		}
	}
	return all, nil
}

// undecide erases a decision, whoever made it.
func undecide(s Grapher, ctx context.Context, id memory.ID) (Decided, error) {
	a, err := s.Entities(ctx)
	if err != nil {
		return Decided{}, err
	}
	if !slices.ContainsFunc(a.Decisions, func(d atlas.Decision) bool { return d.Memory == id }) {
		return Decided{}, kindInvalid.problem("id", "id: not a decision about two names; GET /v1/entities lists them")
	}
	m, err := s.Get(ctx, id)
	if err != nil {
		return Decided{}, err
	}
	return Decided{ID: id, Text: m.Text}, s.Delete(ctx, id)
}

// Graph returns a part of the graph.
func (c *Client) Graph(ctx context.Context, q atlas.Query) (atlas.View, error) {
	return call(ctx, c, drawGraph, graphQueryOf(q, ""))
}

// WriteGraph writes the graph in a format.
func (c *Client) WriteGraph(ctx context.Context, q atlas.Query, f atlas.Format, to io.Writer) error {
	res, err := send(ctx, c, drawGraph, graphQueryOf(q, f), "", nil)
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
func (c *Client) Entities(ctx context.Context) (EntitiesAnswer, error) {
	return call(ctx, c, entities, none{})
}

// MergeEntities says that two names mean the same entity.
func (c *Client) MergeEntities(ctx context.Context, a, b string) (Decided, error) {
	return call(ctx, c, mergeEntities, DecideRequest{a, b})
}

// SplitEntities says that two names mean different entities.
func (c *Client) SplitEntities(ctx context.Context, a, b string) (Decided, error) {
	return call(ctx, c, splitEntities, DecideRequest{a, b})
}

// UndecideEntities removes a decision; id may be abbreviated.
func (c *Client) UndecideEntities(ctx context.Context, id string) (Decided, error) {
	return call(ctx, c, undecideEntities, named{id})
}
