package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// direct is an http.RoundTripper that calls a handler in this process. The body of the answer
// arrives as the handler writes it. Closing the body ends the request's context for the handler,
// and waits until the handler returns.
type direct struct{ h http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	req := r.Clone(ctx)
	req.RequestURI = r.URL.RequestURI()
	req.RemoteAddr = "in-process"
	req.Host = r.URL.Host
	if req.Body == nil {
		req.Body = http.NoBody
	}
	pr, pw := io.Pipe()
	w := &pipeWriter{header: http.Header{}, pipe: pw, ready: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer req.Body.Close()
		defer func() {
			// As in net/http, a panic in a handler affects only its own answer.
			if v := recover(); v != nil {
				w.begin(http.StatusInternalServerError)
				pw.CloseWithError(fmt.Errorf("handler panicked: %v", v))
				return
			}
			w.begin(http.StatusOK)
			pw.Close()
		}()
		d.h.ServeHTTP(w, req)
	}()
	select {
	case <-w.ready:
	case <-r.Context().Done():
		pr.CloseWithError(r.Context().Err())
		cancel()
		<-done
		return nil, r.Context().Err()
	}
	// As with a connection, a read after the caller has ended gives an error and no further part of
	// the answer.
	unhook := context.AfterFunc(r.Context(), func() { pw.CloseWithError(r.Context().Err()) })
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: &pipeBody{pr, func() { unhook(); cancel() }, done}, ContentLength: -1, Request: r,
	}, nil
}

// pipeWriter is the handler's side.
type pipeWriter struct {
	header, sent http.Header
	status       int
	pipe         *io.PipeWriter
	once         sync.Once
	ready        chan struct{} // closed when status and sent are set
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) { w.begin(status) }

func (w *pipeWriter) begin(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.ready)
	})
}

func (w *pipeWriter) Write(b []byte) (int, error) {
	w.begin(http.StatusOK)
	return w.pipe.Write(b)
}

// Flush implements http.Flusher; a pipe holds nothing back.
func (w *pipeWriter) Flush() {}

// pipeBody is the caller's side.
type pipeBody struct {
	*io.PipeReader
	cancel func()
	done   chan struct{}
}

func (b *pipeBody) Close() error {
	err := b.PipeReader.Close()
	b.cancel()
	<-b.done
	return err
}
