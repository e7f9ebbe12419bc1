package query

import (
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// onlySound finds lines that say nothing by themselves: "Uh-huh, yeah", 嗯嗯好的.
var onlySound = lazily(`(?i)^(?:(?:h+m+|mhm+|m+|u+h+(?:[- ]?huh)?|u+m+|a+h+|o+h+|er+m?|huh|(?:ha)+|yeah|ye[sp]|no(?:pe)?|ok(?:ay)?|right|sure|well|alright|thanks|thank you)(?:[\s,.!…~-]+|$)|(?:嗯|哦|噢|喔|啊|呃|唉|哎|诶|哈|好(?:的|吧|了)?|对|是的?|行|谢谢)[\s,.!…，。！~]*)+$`)

// answering is within what time such a line answers a question.
const answering = time.Minute

// withoutSounds leaves out lines that say nothing, unless one follows a question among the hits: then it may be
// the answer.
func withoutSounds(hits []serve.Hit) []serve.Hit {
	var asked []time.Time
	for i := range hits {
		if h := &hits[i]; h.Utterance != nil && strings.HasSuffix(strings.TrimSpace(strings.ReplaceAll(h.Text, "？", "?")), "?") {
			asked = append(asked, h.At)
		}
	}
	return slices.DeleteFunc(hits, func(h serve.Hit) bool {
		return h.Utterance != nil && onlySound().MatchString(h.Text) && !slices.ContainsFunc(asked, func(at time.Time) bool { return h.At.After(at) && h.At.Sub(at) < answering })
	})
}
