package serve_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/locket-dev/locket/node/serve"
)

// A stream that is read in this process ends when the caller's context does, like one over
// a connection: at once, with the context's error, and the handler is notified.
func TestInProcessStreamEndsWithItsContext(t *testing.T) {
	told := make(chan struct{})
	c := serve.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(told)
		line := []byte(`{"kind":"utterance","data":{}}` + "\n")
		for {
			if _, err := w.Write(line); err != nil {
				<-r.Context().Done()
				return
			}
		}
	}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read := 0
	for _, err := range c.Export(ctx, serve.ExportOptions{}) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v", err)
			}
			break
		}
		if read++; read == 3 {
			cancel()
		}
		if read > 1_000_000 {
			t.Fatal("the stream goes on after its context was cancelled")
		}
	}
	<-told
	if read < 3 {
		t.Errorf("%d records", read)
	}
}
