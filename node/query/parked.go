package query

import "github.com/locket-dev/locket/node/serve"

// asksCar finds a question where a car is. Who says where they left it says "parked" or 停, and seldom "car".
var (
	asksCarEn = lazily(`(?i)^((?:and |so )?where)(?:['’]s| is) (?:my|our|the) (?:car|van|truck|camper)\W*$`)
	asksCarZh = lazily(`^((?:那)?(?:我(?:们|家|们家)?的?)?车(?:子)?(?:现在)?)(在[哪什])`)
	tellsPark = lazily(`(?i)\bparked\b|停[在到放]|停好?了?车|车停`)
)

// withParked makes of such a question one that asks where the car was parked.
func withParked(question string) string {
	if asksCarEn().MatchString(question) {
		return asksCarEn().ReplaceAllString(question, "$1 did we park the car")
	}
	return asksCarZh().ReplaceAllString(question, "${1}停$2")
}

// parkedFirst puts the hit that says where something was parked last before the others, if the question is where a
// car is.
func parkedFirst(question string, hits []serve.Hit) {
	if !asksCarEn().MatchString(question) && !asksCarZh().MatchString(question) {
		return
	}
	last := -1
	for i := range hits {
		if tellsPark().MatchString(hits[i].Text) && (last < 0 || hits[i].At.After(hits[last].At)) {
			last = i
		}
	}
	moveFirst(hits, last)
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
