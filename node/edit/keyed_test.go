package edit_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/serve"
)

func TestMain(m *testing.M) { nodetest.Main(m) }

// A text with a key is added once, whoever else uses that key at the same time.
func TestIdempotencyKey(t *testing.T) {
	n := nodetest.New(t, nil)
	api := serve.InProcess(serve.New(serve.Options{Services: n.Services()}))
	defer api.Close()
	ctx := t.Context()
	no := false
	conflict := func(err error) bool {
		p, ok := errors.AsType[*serve.Problem](err)
		return ok && p.Status == 409 && p.Field == "key"
	}
	one := serve.AddRequest{Text: "The boat is red", Infer: &no, Key: "k"}
	first, err := api.Add(ctx, one)
	if err != nil || len(first.Changes) != 1 || first.Repeated {
		t.Fatalf("%+v, %v", first, err)
	}
	id := first.Changes[0].Memory
	if again, err := api.Add(ctx, one); err != nil || !again.Repeated || len(again.Changes) != 0 || again.Memory != id {
		t.Errorf("again: %+v, %v", again, err)
	}
	other := one
	other.Text = "The boat is green"
	if res, err := api.Add(ctx, other); !conflict(err) {
		t.Errorf("another text: %+v, %v", res, err)
	}
	other.Infer = nil
	if res, err := api.Add(ctx, other); err != nil || !res.Repeated || len(res.Changes)+len(res.Refusals) != 0 {
		t.Errorf("another text, with infer: %+v, %v", res, err)
	}
	if _, err := api.Delete(ctx, id.String()); err != nil {
		t.Fatal(err)
	}
	if again, err := api.Add(ctx, one); err != nil || !again.Repeated || !again.Memory.IsZero() {
		t.Errorf("again, after it was erased: %+v, %v", again, err)
	}

	said := serve.AddRequest{Text: "I live in Ghent.", Key: "said"}
	heard, err := api.Add(ctx, said)
	if err != nil || heard.Repeated || heard.Line.IsZero() {
		t.Fatalf("%+v, %v", heard, err)
	}
	if again, err := api.Add(ctx, said); err != nil || !again.Repeated || again.Line != heard.Line {
		t.Errorf("a line again: %+v, %v", again, err)
	}
	said.Infer = &no
	if res, err := api.Add(ctx, said); !conflict(err) {
		t.Errorf("a line as it stands: %+v, %v", res, err)
	}

	var made, refused atomic.Int32
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			res, err := api.Add(ctx, serve.AddRequest{Text: fmt.Sprintf("The bench %d is wet", i), Infer: &no, Key: "at once"})
			switch {
			case err == nil && len(res.Changes) == 1:
				made.Add(1)
			case conflict(err):
				refused.Add(1)
			default:
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
	if all.Wait(); made.Load() != 1 || refused.Load() != 11 {
		t.Errorf("%d were added, and %d refused", made.Load(), refused.Load())
	}
}
