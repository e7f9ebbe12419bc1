package serve

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/memory/names"
)

// Grapher returns the graph of the people and things in memories. To merge or
// split entities means to add a memory that says so.
type Grapher interface {
	Writer
	// Graph returns the part of the graph that q asks for.
	Graph(ctx context.Context, q atlas.Query) (atlas.View, error)
	// Entities returns the decisions about names, and suggestions for further
	// ones.
	Entities(ctx context.Context) (EntitiesAnswer, error)
	// Get returns a memory in any state but erased.
	Get(ctx context.Context, id memory.ID) (memory.Memory, error)
}

// EntitiesAnswer is the answer to GET /v1/entities.
type EntitiesAnswer struct {
	Decisions   []atlas.Decision   `json:"decisions"`   // the last decision about a pair counts
	Suggestions []atlas.Suggestion `json:"suggestions"` // the likeliest first
}

// DecideRequest names two names that mean the same entity, or do not.
type DecideRequest struct {
	A string `json:"a"`
	B string `json:"b"`
}

// Decided is the memory that says so.
type Decided struct {
	ID   memory.ID `json:"id"`
	Text string    `json:"text"`
}

type graphQuery struct {
	Entity  string       `query:"entity" doc:"around whoever this name may mean, by personalised PageRank"`
	Text    string       `query:"q" doc:"the relations whose words answer this best"`
	AsOf    time.Time    `query:"as_of" doc:"relations that were so then"`
	KnownAt time.Time    `query:"known_at" doc:"relations that were believed then"`
	Past    bool         `query:"past" doc:"those that are no longer so, too"`
	Limit   int          `query:"limit" min:"1" max:"10000" default:"100" doc:"entities"` // atlas.MaxLimit, atlas.DefaultLimit
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

var graphing = topic[Grapher]{drawGraph.untyped, entities.untyped, mergeEntities.untyped, splitEntities.untyped, undecideEntities.untyped}

var (
	drawGraph = rawRoute[Grapher, graphQuery, atlas.View](RightRead, spec{
		method: "GET", path: "/v1/graph", id: "graph",
		summary: "Draw the graph of who and what the memories name",
		about:   "Entities under all their names, the relations between them with the four times, what memories name together, and communities. Around an entity, by the words of relations, or, with neither, those that most memories name. Without as_of and known_at it is what is so.",
		gives:   "The part that was asked for",
	}, []Format{jsonOf[atlas.View]("application/json"), schema(atlas.GraphML.MediaType(), "type", "string"), schema(atlas.JSONLD.MediaType(), "type", "object")}, writeGraph)

	entities = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/entities", id: "entities",
		summary: "List what was decided about names, and what may be one", gives: "Decisions and suggestions",
	}, Grapher.Entities)

	mergeEntities = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/entities/merge", id: "mergeEntities",
		summary: "Say that two names are of one", about: "It is a memory, and syncs, is found and is taken back as one.", gives: "The memory that says so",
	}, decide(true))

	splitEntities = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/entities/split", id: "splitEntities",
		summary: "Say that two names are not of one", gives: "The memory that says so",
	}, decide(false))

	undecideEntities = jsonRoute(RightOwner, spec{
		method: "DELETE", path: "/v1/entities/decisions/{id}", id: "undecideEntities",
		summary: "Take a decision about two names back", gives: "It is erased",
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
	var b bytes.Buffer // complete, so that an error is a problem, and no half of a graph
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

// decide adds the memory by which two names are one, or are not.
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
			case memory.Add, memory.Update:
				return Decided{c.Memory, text}, nil
			case memory.Noop: // it was decided before
				return Decided{cmp.Or(c.Other, c.Memory), text}, nil
			}
		}
		return Decided{}, fmt.Errorf("%w: %q changed nothing", ErrConflict, text)
	}
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
	return Decided{id, m.Text}, s.Delete(ctx, id)
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

// MergeEntities says that two names are of one.
func (c *Client) MergeEntities(ctx context.Context, a, b string) (Decided, error) {
	return call(ctx, c, mergeEntities, DecideRequest{a, b})
}

// SplitEntities says that they are not.
func (c *Client) SplitEntities(ctx context.Context, a, b string) (Decided, error) {
	return call(ctx, c, splitEntities, DecideRequest{a, b})
}

// UndecideEntities takes a decision back; id may be abbreviated.
func (c *Client) UndecideEntities(ctx context.Context, id string) (Decided, error) {
	return call(ctx, c, undecideEntities, named{id})
}
