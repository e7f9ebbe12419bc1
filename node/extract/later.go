package extract

import (
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
)

// leastWords is how many words of meaning a line has that is looked at again.
const leastWords = 2

// worthLater reports whether a line may hold more than the plugins found: not
// what recall has just given out, nor what they refused as a whole.
func (p *pending) worthLater(u *memory.Utterance) bool {
	if u.Source.App() != "" {
		return false // what a model makes of it would be said with a device's rank
	}
	for _, r := range p.refusals {
		if slices.Contains([]string{"feedback", "boilerplate", "unscanned"}, r.Kind) {
			return false
		}
	}
	return len(recall.Content(u.Text)) >= leastWords
}
