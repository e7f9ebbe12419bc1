package query

import (
	"regexp"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// asksOfSelf finds a question whose subject is the wearer: "where do I live", 我住在哪里, or
// what is the wearer's: "when is my birthday", and not "when is my sister's birthday".
var asksOfSelf = regexp.MustCompile(`(?i)\b(?:do|did|am|was|have|had|can|should|will)\s+i\b|\bmy(?: [a-z]+){1,2}\W*$` +
	`|^(?:请问)?我(?:现在|目前|以前)?(?:不?喜欢|不?爱|讨厌|住|对|有|是|在|会|吃)|^(?:请问)?我的[^的]+$`)

// ownFirst puts what the wearer said of themselves before the same of somebody whom the
// question does not name: where the wearer lives before where an ex lives, and that the
// wearer hates coriander before that Tom likes it.
func ownFirst(question string, hits []serve.Hit) {
	if !asksOfSelf.MatchString(question) {
		return
	}
	slot := func(i int) *memory.Slot {
		if m := hits[i].Memory; m != nil && m.State == memory.Active {
			return m.Slot
		}
		return nil
	}
	isOwn := func(s *memory.Slot) bool { return memory.Normal(s.Subject) == "user" }
	for i := range hits {
		other := slot(i)
		if other == nil || isOwn(other) || shared(question, other.Subject) > 0 {
			continue
		}
		for j := i + 1; j < len(hits); j++ {
			own := slot(j)
			if own == nil || !isOwn(own) || memory.Opposed(own.Attribute) != memory.Opposed(other.Attribute) ||
				own.Many && memory.SameValue(own.Value) != memory.SameValue(other.Value) {
				continue
			}
			h := hits[j]
			h.Score = hits[i].Score
			copy(hits[i+1:j+1], hits[i:j])
			hits[i] = h
			break
		}
	}
}
