package apps

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/node/serve"
)

// mediaTokens is how many of a day's tokens a photo or a recording takes. It is
// roughly what a vision model uses for a photo of one megapixel.
const mediaTokens = 1000

// mediaReader is serve.MediaReader, for the owner and for apps.
type mediaReader struct {
	in     serve.MediaReader
	reader serve.Reader
}

func (r *mediaReader) Resolve(ctx context.Context, text string) (memory.ID, error) {
	if v := visitOf(ctx); v != nil {
		return v.resolve(ctx, r.in, r.reader, text)
	}
	return r.in.Resolve(ctx, text)
}

func (r *mediaReader) Media(ctx context.Context, id memory.ID) (serve.Media, error) {
	v := visitOf(ctx)
	if v == nil {
		return r.in.Media(ctx, id)
	}
	if _, err := v.read(ctx, r.reader, id); err != nil {
		return serve.Media{}, err
	}
	if err := v.book.note(ctx, v, serve.AppUse{Did: "media", Shown: []memory.ID{id}, Tokens: mediaTokens}); err != nil {
		return serve.Media{}, err
	}
	return r.in.Media(ctx, id)
}

func (r *mediaReader) Fetch(ctx context.Context, id memory.ID) (serve.Fetched, error) {
	return owners(ctx, r.in.Fetch, id)
}

// grapher is serve.Grapher, for the owner and for apps. An app's graph is drawn
// only from what the app sees.
type grapher struct {
	in     serve.Grapher
	reader serve.Reader
	wearer string
}

func (g *grapher) Graph(ctx context.Context, q atlas.Query) (atlas.View, error) {
	v := visitOf(ctx)
	if v == nil {
		return g.in.Graph(ctx, q)
	}
	if err := v.present(ctx, "graph", q.Known); err != nil {
		return atlas.View{}, err
	}
	done, err := v.draws()
	if err != nil {
		return atlas.View{}, err
	}
	defer done()
	var ms []memory.Memory
	for l := (serve.ListQuery{State: serve.AnyState, Limit: serve.MaxPage, Filters: v.scope.filter()}); ; {
		page, err := g.reader.List(ctx, l)
		if err != nil {
			return atlas.View{}, err
		}
		for _, m := range v.onlySeen(page.Memories) {
			if m.State != memory.Archived {
				ms = append(ms, m)
			}
		}
		if l.Cursor = page.Next; l.Cursor == "" {
			break
		}
		if wait := v.book.pace(v.Name(), v.app.Requests); wait > 0 {
			return atlas.View{}, fmt.Errorf("%w: a graph counts as one request for each %d memories, and %d requests a minute are not enough for it", serve.ErrLimit, serve.MaxPage, v.app.Requests)
		}
	}
	a, err := atlas.Draw(ctx, ms, atlas.Options{Wearer: g.wearer})
	if err != nil {
		return atlas.View{}, err
	}
	if err := a.Group(ctx); err != nil {
		return atlas.View{}, err
	}
	q.Now = v.book.now()
	view := a.View(q)
	return view, v.logShown(ctx, "graph", relationSources(ms, &view)...)
}

// relationSources returns the memories from which the relations in a view are made.
func relationSources(ms []memory.Memory, view *atlas.View) (out []memory.Memory) {
	in := map[memory.ID]bool{}
	for i := range view.Relations {
		in[view.Relations[i].Memory] = true
	}
	for i := range ms {
		if in[ms[i].ID] {
			out = append(out, ms[i])
		}
	}
	return out
}

// Only the owner may use the rest of a graph.

func (g *grapher) Entities(ctx context.Context) (serve.EntitiesAnswer, error) {
	return ownersOf(ctx, g.in.Entities)
}

func (g *grapher) Get(ctx context.Context, id memory.ID) (memory.Memory, error) {
	return owners(ctx, g.in.Get, id)
}

func (g *grapher) List(ctx context.Context, q serve.ListQuery) (serve.ListPage, error) {
	return owners(ctx, g.in.List, q)
}

func (g *grapher) Resolve(ctx context.Context, text string) (memory.ID, error) {
	return owners(ctx, g.in.Resolve, text)
}

func (g *grapher) Add(ctx context.Context, r serve.AddRequest) (serve.AddResult, error) {
	return owners(ctx, g.in.Add, r)
}

func (g *grapher) Update(ctx context.Context, id memory.ID, p serve.UpdateRequest) (memory.Memory, error) {
	return ownersBy(ctx, g.in.Update, id, p)
}

func (g *grapher) Delete(ctx context.Context, ids ...memory.ID) error {
	if visitOf(ctx) != nil {
		return errOwners
	}
	return g.in.Delete(ctx, ids...)
}

func (g *grapher) Pin(ctx context.Context, id memory.ID, pinned bool) (memory.Memory, error) {
	return ownersBy(ctx, g.in.Pin, id, pinned)
}

// exchange is serve.Exchange, for the owner and for apps.
type exchange struct {
	in     serve.Exchange
	reader serve.Reader
}

func (e *exchange) Export(ctx context.Context, opt serve.ExportOptions) iter.Seq2[serve.ExportRecord, error] {
	if visitOf(ctx) != nil {
		return func(yield func(serve.ExportRecord, error) bool) { yield(serve.ExportRecord{}, errOwners) }
	}
	return e.in.Export(ctx, opt)
}

func (e *exchange) Import(ctx context.Context, records iter.Seq2[serve.ExportRecord, error], opt serve.ImportOptions) (serve.ImportResult, error) {
	return ownersBy(ctx, e.in.Import, records, opt)
}

func (e *exchange) Foreign(ctx context.Context, q serve.ForeignQuery, body io.Reader) (serve.Foreign, error) {
	return ownersBy(ctx, e.in.Foreign, q, body)
}

// Changes returns for an app the changes of memories that it sees now. The
// numbers have gaps where other memories changed.
func (e *exchange) Changes(ctx context.Context, after uint64, follow bool) iter.Seq2[memory.Change, error] {
	v := visitOf(ctx)
	if v == nil {
		return e.in.Changes(ctx, after, follow)
	}
	return func(yield func(memory.Change, error) bool) {
		if err := v.can(serve.RightRead); err != nil {
			yield(memory.Change{}, err)
			return
		}
		for c, err := range e.in.Changes(ctx, after, follow) {
			if err != nil {
				yield(c, err)
				return
			}
			s, err := v.scopeNow(ctx)
			if err != nil {
				yield(memory.Change{}, err)
				return
			}
			m, err := s.get(ctx, e.reader, c.Memory)
			if err != nil {
				continue
			}
			c = s.change(c, &m)
			if err := v.book.note(ctx, v, serve.AppUse{Did: "changes", Shown: []memory.ID{c.Memory}, Tokens: tokens(memory.Memory{Candidate: memory.Candidate{Text: c.New}})}); err != nil {
				yield(memory.Change{}, err)
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}
