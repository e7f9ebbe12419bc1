package api

import (
	"context"
	"strings"
	"testing"

	"github.com/cloudwego/hertz/pkg/app"
)

// A handler that panics is answered by 500. The memory of its body must not stay reserved, because
// strangers have 8 MiB in all.
func TestPanicReleasesTheBody(t *testing.T) {
	s := New(Config{})
	c := app.NewContext(0)
	c.Request.SetBodyStream(strings.NewReader(strings.Repeat("x", 100)), 100)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the handler was not reached")
			}
		}()
		s.unsigned(1000, func(context.Context, *request) error { panic("here") })(t.Context(), c)
	}()
	if n := s.bodies.strangers.sum(); n != 0 {
		t.Errorf("%d bytes stay reserved", n)
	}
}
