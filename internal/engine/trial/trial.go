// Package trial has test input for engines: three seconds of speech, and a printed page. Both are
// from the fixed day in testdata/day, whose LICENSES.md names their sources.
package trial

import (
	"time"

	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/testdata/day"
)

// Said is the text of [Speech].
const Said = "and so my fellow Americans"

// spoken is how much of the recording is used.
const spoken = 3300 * time.Millisecond

// Speech returns a WAV file of [Said], in the format for engines.
func Speech() ([]byte, error) {
	b, err := day.Files.ReadFile("jfk.wav")
	if err != nil {
		return nil, err
	}
	return speech.Beginning(b, spoken)
}

// Printed is the text of [Page].
const Printed = "LANE 128 BOOK SWAP Saturday 26 September Open from two until five in the courtyard Bring two books, take two home. Tea from Mrs. Shen"

// Page returns a PNG of a handbill.
func Page() ([]byte, error) { return day.Files.ReadFile("note.png") }
