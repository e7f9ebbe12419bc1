package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/mcp"
	"github.com/locket-dev/locket/node/serve"
)

// A list comes in pages that have each memory once; an invalid cursor is refused.
func TestPages(t *testing.T) {
	s, _ := over(t)
	for i := range 5 {
		call(t, s, "add_memory", map[string]any{"text": fmt.Sprintf("Boat number %d is red", i)}, nil)
	}
	seen, cursor := map[string]bool{}, ""
	for page := range 4 {
		args := map[string]any{"limit": 2}
		if cursor != "" {
			args["cursor"] = cursor
		}
		var got results
		call(t, s, "get_memories", args, &got)
		for _, r := range got.Results {
			if seen[r.ID] {
				t.Errorf("%s is on two pages", r.Memory)
			}
			seen[r.ID] = true
		}
		if cursor = got.Next; cursor == "" {
			if page != 2 {
				t.Errorf("%d pages", page+1)
			}
			break
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d memories", len(seen))
	}
	if text := call(t, s, "get_memories", map[string]any{"cursor": "9223372036854775808"}, nil); !strings.HasPrefix(text, "error: ") {
		t.Error(text)
	}
}

// waiting is a search that lasts until the caller gives up.
type waiting struct {
	serve.Recaller
	begun, ended chan bool
}

func (w waiting) Search(ctx context.Context, _ serve.SearchRequest) (serve.SearchResult, error) {
	close(w.begun)
	<-ctx.Done()
	close(w.ended)
	return serve.SearchResult{}, ctx.Err()
}

// A call that the host cancels also ends in the node, and the session goes on.
func TestCancel(t *testing.T) {
	services := nodetest.New(t, nodetest.Cheap).Services()
	w := waiting{services.Recaller, make(chan bool), make(chan bool)}
	services.Recaller = w
	c := serve.InProcess(serve.New(serve.Options{Services: services}))
	t.Cleanup(c.Close)
	here, there := sdk.NewInMemoryTransports()
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mcp.Run(ctx, c, "test", there) }()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	asking, cancel := context.WithCancel(ctx)
	answered := make(chan error, 1)
	go func() {
		_, err := s.CallTool(asking, &sdk.CallToolParams{Name: "search_memories", Arguments: map[string]any{"query": "tea"}})
		answered <- err
	}()
	<-w.begun
	cancel()
	if err := <-answered; err == nil {
		t.Error("a call that was cancelled is answered")
	}
	<-w.ended
	if text := call(t, s, "add_memory", map[string]any{"text": "Ana likes green tea"}, nil); !strings.Contains(text, "ADD") {
		t.Error(text)
	}
	_ = s.Close()
	end()
	<-done
}
