package mcp

import (
	"context"
	"errors"
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
// what was learnt on a day.
func (t *server) resources(s *sdk.Server) {
	s.AddResource(&sdk.Resource{URI: coreURI, Name: "core", Title: "Core blocks", MIMEType: "text/plain", Description: "Who the wearer is, and how they want to be treated"}, t.read)
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: dayPrefix + "{date}", Name: "day", Title: "A day", MIMEType: "text/plain", Description: "What was learnt on a day, such as memory://day/2026-09-14 (UTC)"}, t.read)
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: scheme + "{id}", Name: "memory", Title: "A memory", MIMEType: "text/plain", Description: "One memory by its id or cite"}, t.read)
}

func (t *server) read(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := r.Params.URI
	var items []item
	from, isDay, err := dayOf(uri)
	if err != nil {
		return nil, err
	}
	if isDay {
		items, err = t.learntOn(ctx, from)
	} else if uri == coreURI {
		items, err = t.all(ctx, serve.ListQuery{Type: memory.Core})
	} else {
		id, wrong := idOf(uri)
		if wrong != nil {
			return nil, wrong
		}
		var m memory.Memory
		if m, err = t.of(ctx).Get(ctx, id); err == nil {
			it := itemOf(&m)
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

// dayOf returns the day in a URI, from its midnight in UTC.
func dayOf(uri string) (day time.Time, ok bool, err error) {
	text, ok := strings.CutPrefix(uri, dayPrefix)
	if !ok {
		return day, false, nil
	}
	if day, err = time.Parse(time.DateOnly, text); err != nil {
		return day, true, sdk.ResourceNotFoundError(uri)
	}
	return day, true, nil
}

// learntOn lists what was learnt on the day that begins at from.
func (t *server) learntOn(ctx context.Context, from time.Time) ([]item, error) {
	return t.all(ctx, serve.ListQuery{State: serve.AnyState, Since: from, Until: from.AddDate(0, 0, 1)})
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
