package extract

import (
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
)

// leastWords is how many meaningful words a line must have to be looked at again.
const leastWords = 2

// worthLater reports whether a line may contain more than the plugins found. That
// is not so for a line that recall has just given out, or one that the plugins
// refused as a whole.
func (p *pending) worthLater(u *memory.Utterance) bool {
	if u.Source.App() != "" {
		return false // a model's findings would be asserted with the rank of a device
	}
	for _, r := range p.refusals {
		if slices.Contains([]string{"feedback", "boilerplate", "unscanned"}, r.Kind) {
			return false
		}
	}
	return len(recall.ContentWords(u.Text)) >= leastWords
}
