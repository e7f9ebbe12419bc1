package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/adaptor"

	"github.com/locket-dev/locket/cloud/relay"
)

// mount mounts a net/http handler under a path, for bodies of up to limit bytes. Its callers have
// no key, so each address has its share of requests and memory.
func (s *Server) mount(h *server.Hertz, path string, handler http.Handler, limit int, methods ...string) {
	handler = http.StripPrefix(path, handler)
	for _, method := range methods {
		h.Handle(method, path+"/*path", func(ctx context.Context, c *app.RequestContext) {
			r := &request{RequestContext: c}
			r.holder.address = s.address(c)
			defer s.releaseBody(r)
			if err := s.checkMounted(r, limit); err != nil {
				s.fail(c, err)
				return
			}
			adaptor.HertzHandler(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				handler.ServeHTTP(countedWriter{w, func(n int) error { return s.countUntilWritten(ctx, r.holder, n) }, func(err error) { s.fail(c, err) }}, q)
			}))(ctx, c)
		})
	}
}

// countedWriter counts the bytes that a handler of net/http writes, as [Server.countAnswer] does.
type countedWriter struct {
	http.ResponseWriter
	hold func(n int) error
	fail func(error)
}

// Write returns an error if the bytes, which are all that a handler writes, can't be held.
func (w countedWriter) Write(b []byte) (int, error) {
	if err := w.hold(len(b)); err != nil {
		w.fail(err)
		return 0, err
	}
	return w.ResponseWriter.Write(b)
}

func (s *Server) checkMounted(r *request, limit int) error {
	size := r.Request.Header.ContentLength()
	switch {
	case size == -1: // a chunked body
		return errLength
	case size > limit:
		return fmt.Errorf("body of %d bytes: %w, which is %d here", size, relay.ErrTooLarge, limit)
	}
	if wait, ok := s.traders.Take(r.holder.address); !ok {
		return &relay.QuotaError{What: "requests a minute to the market", Limit: s.traders.PerMinute, Wait: wait}
	}
	if size <= 0 {
		return nil
	}
	if err := s.readBody(r, size); err != nil {
		return err
	}
	r.Request.SetBody(r.body)
	return nil
}
