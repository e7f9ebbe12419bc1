package forget

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node/config"
)

// When is a time as a person says it.
type When struct {
	From, To time.Time // To is not included
	Received bool      // "the last ten minutes" also means what was received then
	Place    string    // "yesterday in the office"
}

// part is a part of a day, in hours from its midnight.
type part struct{ from, to int }

var parts = map[string]part{
	"morning": {5, 12}, "noon": {11, 14}, "lunchtime": {11, 14}, "afternoon": {12, 18}, "evening": {17, 24}, "night": {20, 29},
	"凌晨": {0, 6}, "早上": {5, 12}, "早晨": {5, 12}, "上午": {5, 12}, "中午": {11, 14}, "下午": {12, 18}, "傍晚": {17, 20}, "晚上": {18, 28}, "夜里": {20, 29},
}

// hanParts are the Chinese ones; hanWhole name both a day and its part.
var (
	hanParts = []string{"凌晨", "早上", "早晨", "上午", "中午", "下午", "傍晚", "晚上", "夜里"}
	hanWhole = map[string]string{"昨晚": "昨天晚上", "今晚": "今天晚上", "今早": "今天早上"}
)

var (
	lastText  = regexp.MustCompile(`^(?:the )?(?:last|past) (\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty-five|half an) ?(s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?|d|days?|w|weeks?)$`)
	lastHan   = regexp.MustCompile(`^(?:最近|过去|刚才)(\d+|[一二两三四五六七八九十半]+)(?:个)?(秒钟?|分钟|小时|钟头|天|周|星期)$`)
	clockText = regexp.MustCompile(`(\d{1,2}):(\d{2})\s*(?:-|–|to|until|till|and|到|至)\s*(\d{1,2}):(\d{2})`)
	sinceText = regexp.MustCompile(`^since (\d{1,2}):(\d{2})$`)
	isoDay    = regexp.MustCompile(`\b(\d{4})-(\d{2})-(\d{2})\b`)
	ago       = regexp.MustCompile(`^(\d+) days? ago$`)
	placeText = regexp.MustCompile(`(?:^| )(?:in|at) (.+)$`)
	placeHan  = regexp.MustCompile(`在(.+)$`)
)

var counts = map[string]float64{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty-five": 45, "half an": .5,
	"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "半": .5, "十五": 15, "二十": 20, "三十": 30, "四十": 40, "四十五": 45}

// oneOf are times that reach until now, and contain no number.
var oneOf = map[string]string{"last minute": "last 1 minute", "past minute": "last 1 minute", "last hour": "last 1 hour", "past hour": "last 1 hour", "past day": "last 1 day", "past week": "last 7 days",
	"最近一个半小时": "last 90 minutes", "过去一个半小时": "last 90 minutes"}

var units = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": config.Day, "w": 7 * config.Day,
	"秒": time.Second, "分": time.Minute, "小": time.Hour, "钟": time.Hour, "天": config.Day, "周": 7 * config.Day, "星": 7 * config.Day}

// ParseWhen reads a time in the past as a person says it, relative to now and in
// its zone: "last 10 minutes", "yesterday", "yesterday in the office", "today
// 14:00-15:30", "since 14:00", "last Tuesday evening", "2025-03-03", 昨天下午. Words
// that it can't read cause an error that names them, because nothing must be
// forgotten on a guess.
func ParseWhen(text string, now time.Time) (When, error) {
	s := strings.Join(strings.Fields(strings.ToLower(hans.Fold(text))), " ")
	bad := func(what string) (When, error) {
		return When{}, fmt.Errorf("%w: when: %q: %s; want such as \"last 10 minutes\", \"yesterday\", \"yesterday in the office\", \"today 14:00-15:30\"", memory.ErrInvalid, text, what)
	}
	if s == "" {
		return bad("empty")
	}
	if d, ok := lastOf(s); ok {
		return When{From: now.Add(-d), To: now, Received: true}, nil
	}
	if m := sinceText.FindStringSubmatch(s); m != nil {
		at, ok := clockOf(midnight(now), m[1], m[2])
		if !ok || at.After(now) {
			return bad("not a time of today that has passed")
		}
		return When{From: at, To: now}, nil
	}
	var w When
	var clock []string
	if m := clockText.FindStringSubmatch(s); m != nil {
		clock, s = m, strings.TrimSpace(strings.Replace(s, m[0], "", 1))
		s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(s, " from"), " between"))
	}
	for whole, by := range hanWhole {
		s = strings.ReplaceAll(s, whole, by)
	}
	if strings.HasPrefix(s, "last night") {
		s = "yesterday night" + strings.TrimPrefix(s, "last night")
	}
	if s == "tonight" {
		s = "today night"
	}
	var of *part
	s = takePart(s, &of)
	from, to, rest := dayOf(s, now)
	for _, re := range []*regexp.Regexp{placeText, placeHan} {
		if rest == "" && !from.IsZero() {
			break
		}
		if m := re.FindStringSubmatchIndex(s); m != nil {
			place := s[m[2]:m[3]]
			if f, t, r := dayOf(strings.TrimSpace(s[:m[0]]), now); !f.IsZero() && r == "" {
				from, to, rest = f, t, ""
				w.Place = strings.TrimPrefix(strings.TrimPrefix(place, "the "), "my ")
			}
		}
	}
	switch {
	case from.IsZero() && s == "" && (clock != nil || of != nil): // "14:00-15:30", "this morning"
		from, to = midnight(now), midnight(now).AddDate(0, 0, 1)
	case from.IsZero():
		return bad("no time is given")
	case rest != "":
		return bad(fmt.Sprintf("%q is not understood", rest))
	}
	oneDay := from.AddDate(0, 0, 1).Equal(to)
	if (clock != nil || of != nil) && !oneDay {
		return bad("a time of day needs a single day")
	}
	if clock != nil {
		a, ok1 := clockOf(from, clock[1], clock[2])
		b, ok2 := clockOf(from, clock[3], clock[4])
		if !ok1 || !ok2 || !a.Before(b) {
			return bad("the clock times are not in order")
		}
		from, to = a, b
	} else if of != nil {
		from, to = hour(from, of.from), hour(from, of.to)
	}
	if !from.Before(now) {
		return bad("it is in the future")
	}
	w.From, w.To = from, to
	return w, nil
}

func lastOf(s string) (time.Duration, bool) {
	if of, ok := oneOf[strings.TrimPrefix(s, "the ")]; ok { // "last week" is the one of the calendar
		s = of
	}
	m := lastText.FindStringSubmatch(s)
	if m == nil {
		m = lastHan.FindStringSubmatch(s)
	}
	if m == nil {
		return 0, false
	}
	n, known := counts[m[1]]
	if !known {
		v, err := strconv.ParseUint(m[1], 10, 16)
		if err != nil || v == 0 {
			return 0, false
		}
		n = float64(v)
	}
	unit := units[string([]rune(m[2])[:1])]
	return time.Duration(n * float64(unit)), true
}

// takePart takes a part of the day out of a phrase: "yesterday in the morning
// in the office" has one.
func takePart(s string, of **part) string {
	for _, h := range hanParts {
		if strings.Contains(s, h) {
			p := parts[h]
			*of = &p
			return strings.TrimSpace(strings.Replace(s, h, "", 1))
		}
	}
	words := strings.Fields(s)
	for i, w := range words {
		p, ok := parts[w]
		if !ok {
			continue
		}
		*of = &p
		from := i
		for from > 0 && slices.Contains([]string{"in", "the", "at", "this"}, words[from-1]) {
			from--
		}
		return strings.Join(append(slices.Clone(words[:from]), words[i+1:]...), " ")
	}
	return s
}

// dayOf reads days, and returns the words that it can't read.
func dayOf(s string, now time.Time) (from, to time.Time, rest string) {
	s = strings.TrimSpace(strings.TrimPrefix(s, "on "))
	switch {
	case s == "":
		return from, to, ""
	case s == "the day before yesterday":
		from = midnight(now).AddDate(0, 0, -2)
		return from, from.AddDate(0, 0, 1), ""
	case ago.MatchString(s):
		n, err := strconv.Atoi(ago.FindStringSubmatch(s)[1])
		if err != nil || n > 100_000 {
			return from, to, s
		}
		from = midnight(now).AddDate(0, 0, -n)
		return from, from.AddDate(0, 0, 1), ""
	}
	if m := isoDay.FindString(s); m == s {
		from, err := time.ParseInLocation(time.DateOnly, s, now.Location())
		if err != nil {
			return time.Time{}, to, s
		}
		return from, from.AddDate(0, 0, 1), ""
	}
	days, left := recall.Days(s, now)
	if len(days) == 0 {
		return from, to, s
	}
	han := strings.IndexFunc(s, func(r rune) bool { return r >= 0x2e80 }) >= 0
	if han { // Chinese words overlap, so the rest is returned by its characters
		left = nil
		if r := strings.Trim(s, " 今昨前明后天上下这本周末个星期礼拜月年日号一二三四五六七八九十0123456789"); r != "" {
			left = []string{r}
		}
	}
	left = slices.DeleteFunc(left, func(w string) bool {
		return slices.Contains([]string{"the", "of", "on", "in", "this", "last", "past"}, w)
	})
	return days[0][0], days[0][1], strings.Join(left, " ")
}

func midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
}

func hour(day time.Time, h int) time.Time {
	y, m, d := day.Date()
	return time.Date(y, m, d, h, 0, 0, 0, day.Location())
}

func clockOf(day time.Time, h, m string) (time.Time, bool) {
	hours, err1 := strconv.Atoi(h)
	minutes, err2 := strconv.Atoi(m)
	if err1 != nil || err2 != nil || hours > 24 || minutes > 59 {
		return day, false
	}
	y, mo, d := day.Date()
	return time.Date(y, mo, d, hours, minutes, 0, 0, day.Location()), true
}
