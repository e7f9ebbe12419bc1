package share

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// An invalid reader's key is named by its beginning, if the reader has no name.
func TestPartiesNameTheKey(t *testing.T) {
	for to, want := range map[string]string{"xyz": `the reader's key "xyz": `, "Ann=xyz": `key of "Ann": `} {
		if _, _, err := parties([]string{to}, memory.SpaceID{}, time.Time{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", to, err)
		}
	}
}
