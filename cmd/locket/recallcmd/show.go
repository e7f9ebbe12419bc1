package recallcmd

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/term"

	"github.com/locket-dev/locket/cmd/locket/cli"
)

// NewPainter paints on a terminal where NO_COLOR is not set (no-color.org).
func NewPainter(w io.Writer, environ []string) cli.Painter {
	f, ok := w.(*os.File)
	on := ok && term.IsTerminal(int(f.Fd())) && !slices.Contains(environ, "TERM=dumb")
	for _, e := range environ {
		if v, found := strings.CutPrefix(e, "NO_COLOR="); found && v != "" {
			on = false
		}
	}
	return cli.Painter{On: on}
}

// Padded fills a text with spaces to at least n columns of a terminal, where Chinese,
// Japanese and Korean characters and most pictures take two.
func Padded(s string, n int) string {
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f,
			r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd: // Unicode's EastAsianWidth, W and F
			n -= 2
		default:
			n--
		}
	}
	return s + strings.Repeat(" ", max(0, n))
}

// Size is a number of bytes for people.
func Size(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	v, i := float64(n), 0
	for v >= 1000 && i < len(units)-1 {
		v, i = v/1000, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}
