package console

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/iotest"
)

// A node that answers 401 has refused the key, even if the connection ends before the reason is read. 423 may
// also mean that only the vault is locked.
func TestRefusalWithoutAReason(t *testing.T) {
	broken := errors.New("connection reset")
	for status, want := range map[int]error{http.StatusUnauthorized: ErrEnded, http.StatusLocked: broken} {
		err := endOf(&http.Response{StatusCode: status, Body: io.NopCloser(iotest.ErrReader(broken))})
		if !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", status, err, want)
		}
	}
}
