// Package trial has what an engine is tried with: three seconds of speech, and
// a page of print. Both are of the fixed day in testdata/day, whose LICENSES.md
// says where they are from.
package trial

import (
	"time"

	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/testdata/day"
)

// Said is what is said in [Speech].
const Said = "and so my fellow Americans"

// spoken is how much of the recording is used.
const spoken = 3300 * time.Millisecond

// Speech returns a WAV file of [Said], as engines take it.
func Speech() ([]byte, error) {
	b, err := day.Files.ReadFile("jfk.wav")
	if err != nil {
		return nil, err
	}
	return speech.Beginning(b, spoken)
}

// Page returns a PNG of a handbill.
func Page() ([]byte, error) { return day.Files.ReadFile("note.png") }
