package calendar

// Part is a part of a month; false: the month has no such part.
type Part func(y, m int) (first, last int, ok bool)

// Of returns the part of month m in every year.
func (p Part) Of(m int) Yearly {
	return func(y int) (int, int, bool) { return p(y, m) }
}

// days returns the days between two days of a month; 0 and below count back from its last.
func days(first, last int) Part {
	return func(y, m int) (int, int, bool) {
		before, next := Day(y, m, 0), Day(y, m+1, 0)
		at := func(d int) int {
			if d > 0 {
				return before + d
			}
			return next + d
		}
		return at(first), at(last), true
	}
}

// The named parts of a month. The end is its last seven days, and late is from the 21st on.
var (
	early  = days(1, 10)
	middle = days(11, 20)
	late   = days(21, 0)
	end    = days(-6, 0)
)

// half returns the first half of a month, or the second.
func half(n int) Part {
	if n == 1 {
		return days(1, 15)
	}
	return days(16, 0)
}

// nth returns the n-th day, week or weekend of a month, or the n-th Monday; with n -1 the last one. A weekend
// belongs to the month of its Saturday; the first week is the first seven days. Nil: there is no such thing.
func nth(n int, what string) Part {
	weekday := Weekdays(what)
	switch {
	case n > 5:
		return nil
	case what == "day" && n < 0:
		return days(0, 0)
	case what == "day":
		return days(n, n)
	case what == "week" && n < 0:
		return end
	case what == "week" && n < 5:
		return days(7*n-6, 7*n)
	case what == "weekend":
		weekday = 6
	case weekday == 0:
		return nil
	}
	return func(y, m int) (first, last int, ok bool) {
		last = Day(y, m+1, 0)
		at := Day(y, m, 1) + 7*(n-1)
		if n < 0 {
			at = last - 6
		}
		at += (weekday - Weekday(at) + 7) % 7
		if what == "weekend" {
			return at, at + 1, at <= last
		}
		return at, at, at <= last
	}
}

// Months is a named part of a year: its first month, and how many it has.
type Months struct {
	Name         string
	First, Count int
}

// Days returns its days; a winter ends in the next year.
func (p Months) Days(y int) (first, last int, ok bool) {
	return Day(y, p.First, 1), Day(y, p.First+p.Count, 0), true
}

// Season reports whether it is a season.
func (p Months) Season() bool { return p.Count == 3 && p.First%3 == 0 }

// Quarter returns the days of this quarter, or of another one step quarters away.
func Quarter(today, step int) (first, last int) {
	y, m, _ := Date(today)
	m += 3*step - (m-1)%3
	return Day(y, m, 1), Day(y, m+3, 0)
}

// Season returns the season with an English name; nil: there is none.
func Season(name string) *Months {
	return among(ofYear[:5], name)
}

// ofYear are the parts of a year by name, the English seasons first.
var ofYear = [...]Months{
	{"spring", 3, 3}, {"summer", 6, 3}, {"autumn", 9, 3}, {"fall", 9, 3}, {"winter", 12, 3},
	{"春天", 3, 3}, {"夏天", 6, 3}, {"秋天", 9, 3}, {"冬天", 12, 3}, {"春季", 3, 3}, {"夏季", 6, 3}, {"秋季", 9, 3}, {"冬季", 12, 3},
	{"上半年", 1, 6}, {"下半年", 7, 6}, {"年初", 1, 1}, {"年中", 6, 2}, {"年底", 12, 1}, {"年末", 12, 1},
	{"第一季度", 1, 3}, {"第二季度", 4, 3}, {"第三季度", 7, 3}, {"第四季度", 10, 3}, {"一季度", 1, 3}, {"二季度", 4, 3}, {"三季度", 7, 3}, {"四季度", 10, 3},
	{"q1", 1, 3}, {"q2", 4, 3}, {"q3", 7, 3}, {"q4", 10, 3},
}

// Named returns the part of a year with this name; nil: there is none.
func Named(name string) *Months {
	return among(ofYear[:], name)
}

func among(parts []Months, name string) *Months {
	for i := range parts {
		if parts[i].Name == name {
			return &parts[i]
		}
	}
	return nil
}
