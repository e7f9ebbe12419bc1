package serve

import (
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

func TestQR(t *testing.T) {
	c := InProcess(New(Options{}))
	defer c.Close()
	q, err := c.QR(t.Context(), "locket:pair?code=k7qf-2mxp")
	if err != nil || len(q.Rows) < 21+8 || len(q.Rows[0]) != len(q.Rows) || strings.Trim(q.Rows[0], "0") != "" || !strings.HasPrefix(q.Rows[4], "00001111111") {
		t.Errorf("%+v, %v", q, err)
	}
	for _, bad := range []string{"", strings.Repeat("x", maxQR+1)} {
		if _, err := c.QR(t.Context(), bad); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
}
