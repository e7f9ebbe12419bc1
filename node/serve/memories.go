package serve

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
)

// Reader reads memories. For a vault memory it returns the label. Its sealed value
// may be set, but leaves the handler only in an export.
type Reader interface {
	resolver
	// Get returns a memory in any state but erased.
	Get(ctx context.Context, id memory.ID) (memory.Memory, error)
	// GetAt returns a memory as it was believed at knownAt. If it was not true
	// at asOf, GetAt returns what was true in its place: for today's home and
	// asOf last year, it returns last year's home. A zero time is now. It
	// returns memory.ErrNotFound if nothing was known or true.
	GetAt(ctx context.Context, id memory.ID, asOf, knownAt time.Time) (memory.Memory, error)
	// List returns memories, newest first, at most q.Limit, and the cursor of
	// the next page, which is empty at the end.
	List(ctx context.Context, q ListQuery) (ListPage, error)
	// History returns the changes of one memory, oldest first. The history of
	// an erased memory has no texts.
	History(ctx context.Context, id memory.ID) ([]memory.Change, error)
	// Follow reports when a memory that q selects was added, has changed or went.
	// The first element comes at once. It ends with ctx, without an error.
	Follow(ctx context.Context, q FollowQuery) iter.Seq2[Followed, error]
	// Why says where a memory comes from and what became of it.
	Why(ctx context.Context, id memory.ID) (Why, error)
	// Categories counts the active memories of each category, in the owner's
	// order.
	Categories(ctx context.Context) ([]CategoryCount, error)
	// Facts counts the active semantic memories by category and by slot: at most
	// q.Limit slots.
	Facts(ctx context.Context, q FactsQuery) (Facts, error)
	// Owners counts the active memories of each owner that a filter selects.
	Owners(ctx context.Context, only filter.Filter) ([]OwnerCount, error)
}

// resolver returns the id for a text: the text is the id, or a unique prefix of it
// with at least 4 characters. Errors: memory.ErrNotFound, memory.ErrAmbiguous,
// memory.ErrInvalid.
type resolver interface {
	Resolve(ctx context.Context, text string) (memory.ID, error)
}

// named is a request about one memory.
type named struct {
	ID string `path:"id" doc:"its id, or at least the first 4 characters of it"`
}

// byName is a request about something that has a name.
type byName struct {
	Name string `path:"name" doc:"its name"`
}

// byID resolves the id of a request, and calls f with it.
func byID[S resolver, A any](f func(S, context.Context, memory.ID) (A, error)) func(S, context.Context, named) (A, error) {
	return func(s S, ctx context.Context, in named) (v A, err error) {
		id, err := s.Resolve(ctx, in.ID)
		if err != nil {
			return v, err
		}
		return f(s, ctx, id)
	}
}

// ListQuery selects memories.
type ListQuery struct {
	Type    memory.Type   `query:"type" doc:"only memories of this type"`
	State   memory.State  `query:"state" enum:"active,superseded,archived,all" default:"active" doc:"all: every state except erased"`
	Since   time.Time     `query:"since" doc:"learnt at or after this time"`
	Until   time.Time     `query:"until" doc:"learnt before this time"`
	Tag     string        `query:"tag" doc:"only memories with this tag"`
	Agent   string        `query:"agent" doc:"only memories of this agent"`
	Run     string        `query:"run" doc:"only memories of this run"`
	AsOf    time.Time     `query:"as_of" doc:"what was true at this time"` // whatever its state now
	KnownAt time.Time     `query:"known_at" doc:"what was believed at this time"`
	Filters filter.Filter `query:"filters" doc:"a Filter, as JSON"`
	Limit   int           `query:"limit" min:"1" max:"500" default:"50" doc:"number of memories on a page"`
	Cursor  string        `query:"cursor" doc:"next from the previous page"` // another: memory.ErrInvalid
	Skip    int           `query:"skip" min:"0" max:"1000000000" default:"0" doc:"number of memories to skip"`
}

// AnyState as ListQuery.State selects every state except erased.
const AnyState memory.State = "all"

// Page sizes.
const (
	DefaultPage = 50
	MaxPage     = 500
)

// ListPage is one page.
type ListPage struct {
	Memories []memory.Memory `json:"memories"`
	Next     string          `json:"next,omitempty"` // cursor of the next page
	Cold     int             `json:"cold,omitempty"` // number of cold memories, which a list does not fetch
}

func (q *ListQuery) check() error {
	if q.State != "" && (!q.AsOf.IsZero() || !q.KnownAt.IsZero()) {
		return kindInvalid.problem("state", "state: can't be combined with as_of or known_at")
	}
	return nil
}

type getQuery struct {
	ID      string    `path:"id" doc:"its id, or at least the first 4 characters of it"`
	AsOf    time.Time `query:"as_of" doc:"what was true at this time"`
	KnownAt time.Time `query:"known_at" doc:"what was believed at this time"`
}

// HistoryAnswer is a memory's changes, oldest first.
type HistoryAnswer struct {
	Changes []memory.Change `json:"changes"`
}

// Why is a memory's story.
type Why struct {
	Memory   memory.Memory     `json:"memory"`
	Verdict  memory.Verdict    `json:"verdict"` // how it was derived
	Reason   string            `json:"reason"`
	By       memory.Source     `json:"by"`
	Rank     memory.Rank       `json:"rank"`
	Evidence []memory.Evidence `json:"evidence"`       // what was said, by whom and when
	From     []Related         `json:"from,omitempty"` // memories from which it was made, for example of a summary
	Replaced []Related         `json:"replaced,omitempty"`
	Into     *Related          `json:"into,omitempty"`   // the memory that replaced it
	Spared   []memory.Change   `json:"spared,omitempty"` // changes that were prevented because it is pinned or the wearer said it
	History  []memory.Change   `json:"history"`          // oldest first
}

// Related is another memory in a memory's story.
type Related struct {
	ID   memory.ID `json:"id"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
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

// OwnersAnswer counts the active memories of each owner.
type OwnersAnswer struct {
	Owners []OwnerCount `json:"owners"`
}

// OwnerCount is one user, agent and run with what is theirs.
type OwnerCount struct {
	memory.Owner
	Memories int       `json:"memories"`
	First    time.Time `json:"first"` // when the first of these memories was learnt
	Last     time.Time `json:"last"`
}

// NewOwners counts the owners of memories, sorted by user, agent and run.
func NewOwners(ms iter.Seq[*memory.Memory]) []OwnerCount {
	by := map[memory.Owner]*OwnerCount{}
	for m := range ms {
		o := by[m.Owner]
		if o == nil {
			o = &OwnerCount{Owner: m.Owner, First: m.Learnt}
			by[m.Owner] = o
		}
		o.Memories++
		if m.Learnt.Before(o.First) {
			o.First = m.Learnt
		}
		if m.Learnt.After(o.Last) {
			o.Last = m.Learnt
		}
	}
	out := []OwnerCount{}
	for _, o := range by {
		out = append(out, *o)
	}
	sorting.Sort(out, func(a, b OwnerCount) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Run, b.Run))
	})
	return out
}

var memoriesTopic = topic[Reader]{listMemories.untyped, follow.untyped, getMemory.untyped, memoryHistory.untyped, memoryWhy.untyped, listCategories.untyped, listFacts.untyped, listOwners.untyped}

var (
	listMemories = rawRoute[Reader, ListQuery, ListPage](RightRead, spec{
		method: "GET", path: "/v1/memories", id: "listMemories",
		summary: "List memories, newest learnt first",
		gives:   "A page; with Accept application/jsonl, all memories, one per line, whatever the limit",
	}, []Format{jsonOf[ListPage]("application/json"), jsonOf[memory.Memory](MediaTypeLines)},
		func(w http.ResponseWriter, r *http.Request, s Reader, q ListQuery) error {
			if strings.Contains(r.Header.Get("Accept"), MediaTypeLines) {
				q.Limit = MaxPage
				return writeLines(w, allPages(r.Context(), s, q))
			}
			page, err := s.List(r.Context(), q)
			if err != nil {
				return err
			}
			page.Memories = withoutSealed(page.Memories...)
			writeJSON(w, http.StatusOK, "application/json", page)
			return nil
		})

	getMemory = jsonRoute(RightRead, spec{
		method: "GET", path: "/v1/memories/{id}", id: "getMemory",
		summary: "Get a memory", gives: "The memory",
	}, func(s Reader, ctx context.Context, in getQuery) (memory.Memory, error) {
		id, err := s.Resolve(ctx, in.ID)
		if err != nil {
			return memory.Memory{}, err
		}
		if in.AsOf.IsZero() && in.KnownAt.IsZero() {
			return withoutSealedOne(s.Get(ctx, id))
		}
		return withoutSealedOne(s.GetAt(ctx, id, in.AsOf, in.KnownAt))
	})

	memoryHistory = listRoute[HistoryAnswer](RightRead, spec{
		method: "GET", path: "/v1/memories/{id}/history", id: "memoryHistory",
		summary: "List the changes of a memory, oldest first", gives: "The changes",
	}, byID(Reader.History))

	memoryWhy = jsonRoute(RightRead, spec{
		method: "GET", path: "/v1/memories/{id}/why", id: "memoryWhy",
		summary: "Explain where a memory comes from", gives: "How it came to be, its evidence and its history",
	}, byID(func(s Reader, ctx context.Context, id memory.ID) (Why, error) {
		why, err := s.Why(ctx, id)
		why.Memory = withoutSealed(why.Memory)[0]
		return why, err
	}))

	listCategories = plainList[CategoriesAnswer](RightOwner, spec{
		method: "GET", path: "/v1/categories", id: "listCategories",
		summary: "Count the active memories of each category",
		gives:   "The categories in their owner's order; a memory may be in several",
	}, Reader.Categories)
)

var listOwners = listRoute[OwnersAnswer](RightRead, spec{
	method: "GET", path: "/v1/owners", id: "owners",
	summary: "Count the active memories of each user, agent and run", gives: "The owners, sorted",
}, func(s Reader, ctx context.Context, q ownersQuery) ([]OwnerCount, error) {
	return s.Owners(ctx, q.Filters)
})

type ownersQuery struct {
	Filters filter.Filter `query:"filters" doc:"a Filter, as JSON"`
}

// allPages returns the memories of all pages.
func allPages(ctx context.Context, s Reader, q ListQuery) iter.Seq2[memory.Memory, error] {
	return func(yield func(memory.Memory, error) bool) {
		for {
			page, err := s.List(ctx, q)
			if err != nil {
				yield(memory.Memory{}, err)
				return
			}
			for _, m := range withoutSealed(page.Memories...) {
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

// withoutSealed returns copies without sealed values, which are needed only in an
// export.
func withoutSealed(list ...memory.Memory) []memory.Memory {
	out := NonNil(slices.Clone(list))
	for i := range out {
		if v := out[i].Fields.Vault; v != nil {
			label := *v
			label.Sealed = nil
			out[i].Fields.Vault = &label
		}
	}
	return out
}

func withoutSealedOne(m memory.Memory, err error) (memory.Memory, error) {
	return withoutSealed(m)[0], err
}

// List returns one page. The zero Limit is DefaultPage.
func (c *Client) List(ctx context.Context, q ListQuery) (ListPage, error) {
	return call(ctx, c, listMemories, q)
}

// All returns every memory that q selects, and ignores q.Limit.
func (c *Client) All(ctx context.Context, q ListQuery) iter.Seq2[memory.Memory, error] {
	return linesOf[memory.Memory](ctx, func(ctx context.Context) (*http.Response, error) {
		return send(ctx, c, listMemories, q, MediaTypeLines, nil)
	})
}

// Get returns one memory. Here and below, id may be abbreviated.
func (c *Client) Get(ctx context.Context, id string) (memory.Memory, error) {
	return call(ctx, c, getMemory, getQuery{ID: id})
}

// GetAt returns a memory as of another time.
func (c *Client) GetAt(ctx context.Context, id string, asOf, knownAt time.Time) (memory.Memory, error) {
	return call(ctx, c, getMemory, getQuery{id, asOf, knownAt})
}

// History returns a memory's changes, oldest first.
func (c *Client) History(ctx context.Context, id string) ([]memory.Change, error) {
	return items(ctx, c, memoryHistory, named{id})
}

// Why returns a memory's story.
func (c *Client) Why(ctx context.Context, id string) (Why, error) {
	return call(ctx, c, memoryWhy, named{id})
}

// Owners counts, for each owner, the active memories that a filter selects.
func (c *Client) Owners(ctx context.Context, only filter.Filter) ([]OwnerCount, error) {
	return items(ctx, c, listOwners, ownersQuery{only})
}

// Categories counts the active memories of each category.
func (c *Client) Categories(ctx context.Context) ([]CategoryCount, error) {
	return items(ctx, c, listCategories, none{})
}
