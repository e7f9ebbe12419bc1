package mcp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// scheme begins the URI of a memory.
const scheme = "memory://"

const (
	coreURI   = scheme + "core"
	dayPrefix = scheme + "day/"
)

// resources adds what a host may read without a tool: core blocks, a memory, and
// what is known of a day.
func (t *server) resources(s *sdk.Server) {
	s.AddResource(&sdk.Resource{URI: coreURI, Name: "core", Title: "Core blocks", MIMEType: "text/plain", Description: "Who the wearer is, and how they want to be treated"}, t.read)
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: dayPrefix + "{date}", Name: "day", Title: "A day", MIMEType: "text/plain", Description: "What was learnt or said on a day, or begins on it, such as memory://day/2026-09-14"}, t.read)
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: scheme + "{id}", Name: "memory", Title: "A memory", MIMEType: "text/plain", Description: "One memory by its id or cite"}, t.read)
}

func (t *server) read(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := r.Params.URI
	var items []item
	from, isDay, err := dayOf(uri, t.zone(ctx))
	if err != nil {
		return nil, err
	}
	if isDay {
		items, err = t.onDay(ctx, from)
	} else if uri == coreURI {
		items, err = t.all(ctx, serve.ListQuery{Type: memory.Core})
	} else {
		id, wrong := idOf(uri)
		if wrong != nil {
			return nil, wrong
		}
		var m memory.Memory
		if m, err = t.of(ctx).Get(ctx, id); err == nil {
			it := itemOf(&m, t.zone(ctx))
			it.Memory = fullText(&m)
			items = []item{it}
		}
	}
	if errors.Is(err, memory.ErrNotFound) || errors.Is(err, memory.ErrInvalid) {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: fenced(items, "Nothing is remembered here.")}}}, nil
}

// dayOf returns the day in a URI, from its midnight in zone.
func dayOf(uri string, zone *time.Location) (day time.Time, ok bool, err error) {
	text, ok := strings.CutPrefix(uri, dayPrefix)
	if !ok {
		return day, false, nil
	}
	if day, err = time.ParseInLocation(time.DateOnly, text, zone); err != nil {
		return day, true, sdk.ResourceNotFoundError(uri)
	}
	return day, true, nil
}

// onDay lists what was learnt or said on the day that begins at from, or begins on it: an imported memory was
// learnt later, and an appointment before.
func (t *server) onDay(ctx context.Context, from time.Time) ([]item, error) {
	to := from.AddDate(0, 0, 1)
	var of []any
	for _, field := range []string{"learnt", "said", "started"} {
		of = append(of, map[string]any{field: map[string]any{"gte": from.Format(time.RFC3339), "lt": to.Format(time.RFC3339)}})
	}
	f, err := new(owners).filter(map[string]any{"OR": of}, nil)
	if err != nil {
		return nil, err
	}
	page, err := t.of(ctx).List(ctx, serve.ListQuery{State: serve.AnyState, Filters: f, Limit: serve.MaxPage})
	out := []item{}
	for i := range page.Memories {
		m := &page.Memories[i]
		times := []time.Time{m.Learnt}
		if e := m.Fields.Episodic; e != nil {
			times = append(times, e.Started)
		}
		for _, e := range m.Evidence { // one piece may be from before the day, and another from after it
			times = append(times, e.At)
		}
		if slices.ContainsFunc(times, func(at time.Time) bool { return !at.Before(from) && at.Before(to) }) {
			out = append(out, itemOf(m, from.Location()))
		}
	}
	return out, err
}

// idOf returns the id of a memory in a URI, or its beginning.
func idOf(uri string) (string, error) {
	id, ok := strings.CutPrefix(uri, scheme)
	if !ok || id == "" {
		return "", sdk.ResourceNotFoundError(uri)
	}
	return id, nil
}

// all returns one page of at most 500. A model can't read more of a day.
func (t *server) all(ctx context.Context, q serve.ListQuery) ([]item, error) {
	q.Limit = serve.MaxPage
	f, err := t.page(ctx, q)
	return f.Results, err
}
