package homecmd

import (
	"regexp"

	"github.com/locket-dev/locket/memory"
)

// digits finds the numbers in which refusals for the same reason differ: places, events, times.
var digits = regexp.MustCompile(`[0-9]+`)

// alike is a group of refusals of one kind and reason. Numbers in the reason may differ.
type alike struct {
	memory.Refusal // the first of them
	count          int
}

// foldRefusals groups refusals that are alike, in the order of the first one of each group.
func foldRefusals(list []memory.Refusal) (out []alike) {
	at := map[[2]string]int{}
	for _, r := range list {
		key := [2]string{r.Kind, digits.ReplaceAllString(r.Reason, "0")}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, alike{Refusal: r})
		}
		out[i].count++
	}
	return out
}
