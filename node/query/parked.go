package query

import (
	"slices"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

const carEn = `(?:car|van|truck|camper)`

// asksCar finds a question where a car is. Who says where they left it says "parked" or 停, and seldom "car".
var (
	asksCarEn = lazily(`(?i)^((?:and |so )?where)(?:['’]s| is) (?:my|our|the) ` + carEn + `\W*$`)
	asksCarZh = lazily(`^((?:那)?(?:我(?:们|家|们家)?的?)?车(?:子)?(?:现在)?)(在[哪什])`)
	tellsPark = lazily(`(?i)\bparked\b|停[在到放]|停好?了?车|车停`)
	// parksOwn finds that the speaker parked something, or somebody else the speaker's car. parksYours finds that
	// for whoever is spoken to, or lives with the speaker.
	parksOwn   = lazily(`(?i)\b(?:i|we)\b[^.!?;]{0,30}\bparked\b|^parked\b|\b(?:my|our|the) ` + carEn + `\b[^.!?;]{0,30}\bparked\b|\bparked (?:my|our) ` + carEn + `\b|(?:[我咱]|\bI)(?:们|家)?[^，。；！？]{0,12}停|^把?(?:车子?)?(?:现在|就|先)?停`)
	parksYours = lazily(`(?i)\b(?:your|our) ` + carEn + `\b|[你咱]的?车|我们的?车`)
	noCar      = lazily(`(?i)\b(?:bike|bicycle|scooter|motorbike|motorcycle|moped|boat|caravan|trailer|pram|buggy|stroller)\b|自行车|单车|摩托车|电瓶车|婴儿车|童车`)
	saysCar    = lazily(`(?i)\b` + carEn + `\b`)
)

// withParked makes of such a question one that asks where the car was parked.
func withParked(question string) string {
	if asksCarEn().MatchString(question) {
		return asksCarEn().ReplaceAllString(question, "$1 did we park the car")
	}
	return asksCarZh().ReplaceAllString(question, "${1}停$2")
}

// parkedFirst puts the hit that says where the wearer's car was parked last before the others, if the question is
// where it is. Hits that say where a bike or the car of somebody else was parked come last, and are no evidence.
func parkedFirst(question, wearer string, hits []serve.Hit) {
	if !asksCarEn().MatchString(question) && !asksCarZh().MatchString(question) {
		return
	}
	wearer = hans.Fold(wearer)
	var own, rest, not []serve.Hit
	for _, h := range hits {
		switch {
		case !tellsPark().MatchString(h.Text):
			rest = append(rest, h)
		case parkedOwn(&h, wearer):
			own = append(own, h)
		default:
			h.Minor = true
			not = append(not, h)
		}
	}
	copy(hits, slices.Concat(own, rest, not))
	if len(own) == 0 {
		return
	}
	last := 0
	for i := range own {
		if own[i].At.After(own[last].At) {
			last = i
		}
	}
	hits[last].Minor = false
	moveFirst(hits, last)
}

// parkedOwn reports whether a hit says where the wearer's car was parked, and still holds. wearer is folded
// ([hans.Fold]).
func parkedOwn(h *serve.Hit, wearer string) bool {
	d := document{m: h.Memory, u: h.Utterance}
	text, speaker := said(d, wearer)
	text = hans.Fold(text)
	switch {
	case !h.Until.IsZero(), h.Memory != nil && h.Memory.State != memory.Active, noCar().MatchString(text) && !saysCar().MatchString(text):
		return false
	case speaker != "" && memory.Normal(speaker) != memory.Normal(wearer):
		return parksYours().MatchString(text)
	}
	return parksOwn().MatchString(text)
}

// moveFirst makes hit i the first one, if there is one.
func moveFirst(hits []serve.Hit, i int) {
	if i <= 0 {
		return
	}
	h := hits[i]
	h.Score, h.Minor = hits[0].Score, false
	copy(hits[1:i+1], hits[:i])
	hits[0] = h
}
