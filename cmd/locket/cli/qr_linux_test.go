package cli

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/terminal"
)

// A QR code is shown whole or not at all.
func TestQRInATerminal(t *testing.T) {
	const link = "mqtt://pendant:kbtxkjdjgfjfwpshqy3ytxgkga@192.168.100.100:1883"
	a := &App{Paint: Painter{on: true}}
	if got, whole := a.QR(io.Discard, link); got != "" || whole {
		t.Errorf("drawn into what is no terminal: %q", got)
	}
	_, large := terminal.Open(t, 200, 100)
	picture, whole := a.QR(large, link)
	wide, high := qrSize(picture)
	if !whole || wide < 21 || wide > 60 || high != (wide+1)/2 || strings.Contains(picture, "\t") {
		t.Fatalf("%d times %d, %v", wide, high, whole)
	}
	for _, c := range []struct {
		columns, lines int
		whole          bool
	}{{80, 24, true}, {wide, high, true}, {wide - 1, 100, false}, {200, high - 1, false}, {0, 0, true}} { // on a terminal of unknown size it is drawn
		_, at := terminal.Open(t, uint16(c.columns), uint16(c.lines))
		got, whole := a.QR(at, link)
		want := picture
		if !c.whole {
			want = fmt.Sprintf("The terminal is too small for the QR code, which needs %d columns and %d lines.\n", wide, high)
		}
		if got != want || whole != c.whole {
			t.Errorf("%d times %d: %v\n%s", c.columns, c.lines, whole, got)
		}
	}
	if got, whole := a.QR(large, strings.Repeat("x", 5000)); got != "" || whole {
		t.Errorf("%d bytes for what no code can say", len(got))
	}
	// NO_COLOR: the picture without colours, inverted for a dark terminal.
	plain, whole := (&App{}).QR(large, link)
	if w, h := qrSize(plain); !whole || w != wide || h != high || strings.Contains(plain, "\x1b") || !strings.HasPrefix(plain, "█████") {
		t.Errorf("%d times %d, %v\n%s", w, h, whole, plain)
	}
}
