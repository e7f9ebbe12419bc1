// Package trial has test input for engines: speech, and a printed page. Both are
// from the fixed day in testdata/day, whose LICENSES.md names their sources.
package trial

import (
	"time"

	"github.com/locket-dev/locket/testdata/day"
)

// Said is what is spoken in the first [Spoken] of [Speech].
const Said = "and so my fellow Americans"

// Spoken is how much of the recording a trial uses.
const Spoken = 3300 * time.Millisecond

// Speech returns an Ogg Opus file whose beginning is [Said].
func Speech() ([]byte, error) { return day.Files.ReadFile("jfk.opus") }

// Printed is the text of [Page].
const Printed = "LANE 128 BOOK SWAP Saturday 26 September Open from two until five in the courtyard Bring two books, take two home. Tea from Mrs. Shen"

// Page returns a PNG of a handbill.
func Page() ([]byte, error) { return day.Files.ReadFile("note.png") }
