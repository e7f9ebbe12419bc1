package transfer

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// One file is read at a time, and a caller that waits can give up. The node's lock does
// not wait for a body that does not end.
func TestOneForeignImportAtATime(t *testing.T) {
	used := make(chan struct{}, 8)
	a := NewArchives(opened.From(func() (*Transfer, *opened.Life, func(), error) {
		used <- struct{}{}
		return nil, nil, nil, errors.New("locked")
	}))
	body, writer := io.Pipe()
	first := make(chan error, 1)
	go func() {
		_, err := a.Foreign(context.WithoutCancel(t.Context()), serve.ForeignQuery{}, body)
		first <- err
	}()
	if _, err := writer.Write([]byte("- tea\n")); err != nil { // which the first one reads
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Foreign(ctx, serve.ForeignQuery{}, strings.NewReader("- milk")); !errors.Is(err, context.Canceled) {
		t.Errorf("a second one: %v", err)
	}
	if len(used) != 0 {
		t.Error("the node is kept open for a body that has not come")
	}
	writer.Close()
	if err := <-first; err == nil || err.Error() != "locked" || len(used) != 1 {
		t.Errorf("%v, used %d times", err, len(used))
	}
}
