package console

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/iotest"
)

// A refusal is one, even if the connection ends before its reason was read. Of a locked node it may be the
// vault alone that is locked.
func TestRefusalWithoutAReason(t *testing.T) {
	broken := errors.New("connection reset")
	for status, want := range map[int]error{http.StatusUnauthorized: ErrEnded, http.StatusLocked: broken} {
		err := endOf(&http.Response{StatusCode: status, Body: io.NopCloser(iotest.ErrReader(broken))})
		if !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", status, err, want)
		}
	}
}
