package query_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// leaving is the context of a client that goes away after it has been checked that many times.
type leaving struct {
	context.Context
	asked int
}

func (l *leaving) Err() error {
	if l.asked--; l.asked < 0 {
		return context.Canceled
	}
	return nil
}

// A list that a filter leaves empty stops reading once its client has gone.
func TestListStopsForAGoneClient(t *testing.T) {
	n := nodetest.New(t, nodetest.Cheap)
	no := false
	for i := range 20 {
		if _, err := n.Add(t.Context(), serve.AddRequest{Infer: &no, Type: memory.Semantic, Text: fmt.Sprintf("Tree %d is tall.", i)}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := filter.Equal("metadata.k", "none")
	if err != nil {
		t.Fatal(err)
	}
	if page, err := n.List(t.Context(), serve.ListQuery{Filters: f, Limit: 10}); err != nil || len(page.Memories) != 0 {
		t.Fatal(page, err)
	}
	l := &leaving{t.Context(), 10}
	if _, err := n.List(l, serve.ListQuery{Filters: f, Limit: 10}); !errors.Is(err, context.Canceled) || l.asked != -1 {
		t.Errorf("%v, asked %d times more", err, -l.asked)
	}
}
