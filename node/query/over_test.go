package query_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A session that is over does not set the topic of a context: in the morning, the context is
// not about "Good night".
func TestEndedSessionSetsNoTopic(t *testing.T) {
	api, ahead := aheadNode(t)
	ctx := t.Context()
	if _, err := api.Add(ctx, serve.AddRequest{Text: "The red kayak lies in Lindau"}); err != nil {
		t.Fatal(err)
	}
	if res, err := api.Context(ctx, serve.ContextRequest{}); err != nil || !strings.Contains(res.Topic, "kayak") {
		t.Errorf("while it goes on: %+v, %v", res, err)
	}
	ahead.Store(int64(memory.SessionGap + time.Minute))
	if res, err := api.Context(ctx, serve.ContextRequest{}); err != nil || res.Topic != "" || len(res.Items) != 0 {
		t.Errorf("when it is over: %+v, %v", res, err)
	}
}
