package sharing

import (
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// A text for the members of a community contains no word of the never list.
func TestNeverListInTextsForMembers(t *testing.T) {
	never := []string{"Project Heron", "4711"}
	for text, ok := range map[string]bool{"who knows project heron?": false, "is 4711 my number": false, "who knows herons?": true} {
		err := checkPublicText(never, "question", text)
		if ok != (err == nil) || !ok && !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
