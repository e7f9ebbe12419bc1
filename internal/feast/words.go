package feast

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/calendar"
)

// beginWith has, for each word, the indexes in All of the feasts whose English names begin with it.
var beginWith = func() map[string][]int {
	m := map[string][]int{}
	for i := range All {
		if first, _, _ := strings.Cut(All[i].Words, " "); first[0] < utf8.RuneSelf {
			m[first] = append(m[first], i)
		}
	}
	return m
}()

// At returns the feast whose English name begins at word k, and how many words the name takes.
func At(at calendar.Words, k int) (*Feast, int) {
	plain := func(i int) string {
		w := at(i)
		if w = strings.TrimSuffix(w, "'s"); strings.HasSuffix(w, "’s") {
			w = w[:len(w)-len("’s")]
		}
		return w
	}
	for _, i := range beginWith[plain(k)] {
		f := &All[i]
		n := 0
		for word := range strings.SplitSeq(f.Words, " ") {
			if plain(k+n) != word {
				n = 0
				break
			}
			n++
		}
		if n > 0 && !(f.OfParent() && ownWords[at(k-1)]) {
			return f, n
		}
	}
	return nil, 0
}

// ownWords before "mother's day" mean a day of somebody's mother, and not the feast: "my mother's day off".
var ownWords = map[string]bool{"my": true, "your": true, "his": true, "her": true, "our": true, "their": true}

// OfParent reports whether it is Mother's Day or Father's Day.
func (f *Feast) OfParent() bool { return f.Words == "mother day" || f.Words == "father day" }

// Beside reads "week after Easter", "weekend before Christmas", "first Monday after New Year", "two
// weeks before Christmas", "day after Thanksgiving" at word k, and returns the index after it. A
// count of weeks or months may be off by give days. It returns nil if there is nothing of the kind.
func Beside(at calendar.Words, k int) (days calendar.Yearly, next, give int) {
	n, j := calendar.Count(at(k)), k
	nth := at(k) == "first" || at(k) == "last" || at(k) == "second"
	if n > 0 || nth {
		j++
	}
	unit, by := strings.TrimSuffix(at(j), "s"), at(j+1)
	weekday := calendar.Weekdays(unit)
	switch {
	case by != "after" && by != "before":
		return nil, 0, 0
	case unit == "weekend", weekday > 0, unit == "day" && !nth, unit == "week" && !nth, unit == "month" && n > 0:
	default:
		return nil, 0, 0
	}
	f, took := At(at, j+2)
	if f == nil || unit == "day" && f.Days > 4 {
		return nil, 0, 0
	}
	side := 1
	if by == "before" {
		side = -1
	}
	if at(k) == "second" {
		n = 2
	}
	if n > 0 && (unit == "week" || unit == "month") {
		give = 1
	}
	return func(year int) (first, last int, ok bool) {
		day, _, ok := f.Alone(year)
		switch {
		case weekday > 0:
			day = beside(day, weekday, side) + 7*side*(max(n, 1)-1)
		case unit == "weekend": // a weekend without any of the feast's days
			first, last, _ = f.In(year)
			if side < 0 {
				last = first - 1 // from there the Saturday before, of a complete weekend
			}
			day = beside(last, 6, side) + 7*side*(max(n, 1)-1)
			return day, day + 1, ok
		case unit == "week" && n == 0: // seven days
			return day - 3 + 4*side, day + 3 + 4*side, ok
		case unit == "week":
			day += 7 * n * side
		case unit == "month":
			day = calendar.AddMonths(day, n*side)
		default:
			day += max(n, 1) * side
		}
		return day, day, ok
	}, j + 2 + took, give
}

// beside returns the nearest day after a day with that weekday, or the nearest before it if side is negative.
func beside(day, weekday, side int) int {
	if side < 0 {
		return day - 1 - (calendar.Weekday(day-1)-weekday+7)%7
	}
	return day + 1 + (weekday-calendar.Weekday(day+1)+7)%7
}

// HanAt returns the feast with whose Chinese name a text begins, and the name's length in characters: 国庆节, 大年初三.
func HanAt(text string) (days calendar.Yearly, f *Feast, size int) {
	for _, month := range [...]string{"大年初", "正月初"} {
		if rest, ok := strings.CutPrefix(text, month); ok {
			f = Named("春节")
			n, took := calendar.Han(rest)
			if n < 1 || n > 10 {
				return nil, nil, 0
			}
			return func(year int) (first, last int, ok bool) {
				first, _, ok = f.In(year)
				return first + n - 1, first + n - 1, ok
			}, f, 3 + took
		}
	}
	text, great := strings.CutPrefix(text, "大")
	for i := range All {
		rest, ok := strings.CutPrefix(text, All[i].Words)
		if !ok || All[i].Words[0] < 0x80 || great && All[i].Words != "年三十" {
			continue
		}
		f, size = &All[i], utf8.RuneCountInString(All[i].Words)
		if c, _ := utf8.DecodeRuneInString(rest); f.Words == "十一" || f.Words == "六一" { // and not a number
			if !startsWithAny(rest, "假期", "长假", "黄金周", "期间", "节", "放假", "那天", "儿童节", "我", "去", "带", "回") {
				continue
			}
		} else if f.Words == "五一" {
			if _, digit := calendar.Digit(c); digit || c >= '0' && c <= '9' || strings.ContainsRune("十月号日点年路广", c) {
				continue
			}
		}
		if great {
			size++
		}
		if strings.HasPrefix(rest, "节") {
			size++
		}
		return f.In, f, size
	}
	return nil, nil, 0
}

func startsWithAny(s string, heads ...string) bool {
	return slices.ContainsFunc(heads, func(head string) bool { return strings.HasPrefix(s, head) })
}

// HanBeside reads what follows the name of a feast: 前一周, 后三天, 前两个星期. It returns how many characters
// that takes; 0: there is nothing.
func (f *Feast) HanBeside(text string) (days calendar.Yearly, size int) {
	rest, before := strings.CutPrefix(text, "前")
	if !before {
		var after bool
		if rest, after = strings.CutPrefix(text, "后"); !after {
			return nil, 0
		}
	}
	n, took := calendar.Han(rest)
	if n == 0 {
		for took < len(rest) && rest[took] >= '0' && rest[took] <= '9' && took < 2 {
			n = 10*n + int(rest[took]-'0')
			took++
		}
		rest = rest[took:]
	} else {
		rest = string([]rune(rest)[took:])
	}
	for _, unit := range [...]struct {
		word string
		days int
	}{{"天", 1}, {"周", 7}, {"个星期", 7}, {"个礼拜", 7}, {"个月", 30}} {
		if n < 1 || n > 99 || !strings.HasPrefix(rest, unit.word) {
			continue
		}
		run := n * unit.days
		return func(year int) (first, last int, ok bool) {
			if first, last, ok = f.In(year); before {
				return first - run, first - 1, ok
			}
			return last + 1, last + run, ok
		}, 1 + took + utf8.RuneCountInString(unit.word)
	}
	return nil, 0
}
