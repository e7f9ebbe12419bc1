package servetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

var _ serve.Modeller = (*Node)(nil)

var errModelless = fmt.Errorf("%w: this node asks no language model", serve.ErrUnsupported)

// Model implements serve.Modeller: this node has none.
func (n *Node) Model(ctx context.Context) (serve.ModelStatus, error) {
	done, err := n.open(ctx)
	if err == nil {
		done()
	}
	return serve.ModelStatus{}, err
}

// ParkedMessages implements serve.Modeller.
func (n *Node) ParkedMessages(ctx context.Context, _ int) ([]serve.ParkedMessage, error) {
	_, err := n.Model(ctx)
	return nil, err
}

// RetryParked implements serve.Modeller.
func (n *Node) RetryParked(ctx context.Context) (serve.ModelStatus, error) {
	if _, err := n.Model(ctx); err != nil {
		return serve.ModelStatus{}, err
	}
	return serve.ModelStatus{}, errModelless
}

// RunModel implements serve.Modeller.
func (n *Node) RunModel(ctx context.Context) (serve.ModelRun, error) {
	_, err := n.RetryParked(ctx)
	return serve.ModelRun{}, err
}

// Instructions implements serve.Modeller.
func (n *Node) Instructions(ctx context.Context) (string, error) {
	done, err := n.open(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	return n.s.Wishes, nil
}

// SetInstructions implements serve.Modeller.
func (n *Node) SetInstructions(ctx context.Context, text string) error {
	done, err := n.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	n.s.Wishes = text
	return nil
}

// modelless is what a node says that asks no model; its instructions are kept
// all the same.
func modelless(t *testing.T, c *serve.Client, _ Subject) {
	ctx := t.Context()
	if st, err := c.Model(ctx); err != nil || st.URL != "" || st.Waiting+st.Parked != 0 {
		t.Fatalf("%+v, %v", st, err)
	}
	if list, err := c.ParkedMessages(ctx, 5); err != nil || len(list) != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	_, err := c.RetryParked(ctx)
	want(t, err, serve.ErrUnsupported)
	_, err = c.RunModel(ctx)
	want(t, err, serve.ErrUnsupported)
	if err := c.SetInstructions(ctx, "  Leave out work.\n"); err != nil {
		t.Fatal(err)
	}
	if text, err := c.Instructions(ctx); err != nil || text != "Leave out work." {
		t.Fatalf("%q, %v", text, err)
	}
	want(t, c.SetInstructions(ctx, strings.Repeat("x", serve.MaxInstructions+1)), memory.ErrInvalid)
	if err := c.SetInstructions(ctx, ""); err != nil {
		t.Fatal(err)
	}
	if text, err := c.Instructions(ctx); err != nil || text != "" {
		t.Fatalf("%q, %v", text, err)
	}
}
