// Package calendar finds the days that are meant by names of parts of a month and of a year: "late
// May", 五月的最后一个周五, "the summer". The rules, which read what is said, and recall, which reads
// questions, both use it, so that they agree.
//
// A day is a number of days since 1970-01-01, in the speaker's calendar. A weekday is 1 for Monday
// to 7 for Sunday.
package calendar

// Date returns the year, month and day of the month (Hinnant, chrono-compatible low-level date algorithms).
func Date(day int) (y, m, d int) {
	z := day + 719468
	era := floor(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = doy - (153*mp+2)/5 + 1
	m = mp + 3
	if m > 12 {
		m -= 12
	}
	y = yoe + era*400
	if m <= 2 {
		y++
	}
	return y, m, d
}

// Day is the inverse of [Date]. A month or day above its range belongs to the next year or month,
// one below 1 to the one before.
func Day(y, m, d int) int {
	m -= 3 // counted from March
	y += floor(m, 12)
	m -= 12 * floor(m, 12)
	era := floor(y, 400)
	yoe := y - era*400
	doy := (153*m+2)/5 + d - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

func floor(a, b int) int {
	if a < 0 {
		a -= b - 1
	}
	return a / b
}

// Weekday returns the weekday of a day.
func Weekday(day int) int { return day + 4 - 7*floor(day+3, 7) }

// MonthLength returns how many days a month has.
func MonthLength(y, m int) int { return Day(y, m+1, 1) - Day(y, m, 1) }

// AddMonths keeps the day of the month if the new month has it, and otherwise takes that month's last.
func AddMonths(day, n int) int {
	y, m, d := Date(day)
	return Day(y, m+n, min(d, MonthLength(y, m+n)))
}

// DayOfMonth returns the next day with that number in its month, from today on, or the last one up
// to today. A month without it is skipped; n is at most 31.
func DayOfMonth(today, n int, ahead bool) int {
	y, m, d := Date(today)
	step := -1
	if ahead {
		step = 1
	}
	if ahead && n < d || !ahead && n > d {
		m += step
	}
	for n > MonthLength(y, m) {
		m += step
	}
	return Day(y, m, n)
}

// Yearly returns the first and the last day of something yearly, in a given year. It reports false
// if they are not known, or if that year has none.
type Yearly func(year int) (first, last int, ok bool)

// Next returns the first period that is not over before today.
func (days Yearly) Next(today int) (first, last int, ok bool) {
	y, _, _ := Date(today)
	for k := -1; k <= 1; k++ { // last winter may not be over yet
		if first, last, ok = days(y + k); ok && last >= today || !ok && k == 0 {
			break
		}
	}
	return first, last, ok
}

// Last returns the last period that began by today. over: it must have ended before today, too.
func (days Yearly) Last(today int, over bool) (first, last int, ok bool) {
	y, _, _ := Date(today)
	for k := range 4 {
		if first, last, ok = days(y - k); ok && first <= today && (!over || last < today) {
			return first, last, true
		}
	}
	return 0, 0, false
}
