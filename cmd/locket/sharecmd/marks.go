package sharecmd

import (
	"fmt"
	"io"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

// showMarks says how copies of a bundle will differ.
func showMarks(w io.Writer, m *serve.CopyMarks) {
	switch {
	case m == nil:
	case !m.Marked:
		fmt.Fprintf(w, "Not marked: copies could differ at %s alone, and %d are needed to tell who passed one on.\n", cli.Plural(m.Spots, "place", "places"), m.Least)
	case m.Robust:
		fmt.Fprintf(w, "Marked: each copy differs at %d places, so that you can tell who passed one on (--unmarked: none does).\n", m.Spots)
	default:
		fmt.Fprintf(w, "Marked: each copy differs at %d places, so that you can tell who passed one on as it is (--unmarked: none does).\n", m.Spots)
	}
}
