package homecmd

import (
	"regexp"

	"github.com/locket-dev/locket/memory"
)

// digits are what refusals of one reason differ in: places, events, times.
var digits = regexp.MustCompile(`[0-9]+`)

// alike are refusals of one kind and reason, but for the numbers in it.
type alike struct {
	memory.Refusal // the first of them
	count          int
}

// foldRefusals takes those together that are alike, in the order of the first of each.
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
