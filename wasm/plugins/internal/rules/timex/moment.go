package timex

import (
	"strconv"

	"github.com/locket-dev/locket/internal/calendar"
)

// Moment is a time as the speaker's clock shows it. The guest has no time zones: the offset is that
// of the event, also for other days, and the host corrects the times of a candidate (times =
// "local" in the manifest).
type Moment struct {
	Day    int // days since 1970-01-01
	Minute int // minute of the day
	Offset int // seconds east of UTC
}

// MomentOf returns a moment in ms since 1970, in a zone that is offset minutes east of UTC.
func MomentOf(at int64, offset int) Moment {
	s := at / 1000
	if at%1000 < 0 {
		s--
	}
	s += int64(offset)
	day := s / 86400
	if s%86400 < 0 {
		day--
	}
	return Moment{int(day), int(s-day*86400) / 60, offset}
}

// Unix returns ms since 1970-01-01 UTC.
func (m Moment) Unix() int64 {
	return (int64(m.Day)*86400 + int64(m.Minute)*60 - int64(m.Offset)) * 1000
}

// Begins returns when a day begins on the same clock, in ms since 1970-01-01 UTC.
func (m Moment) Begins(day int) int64 { return Moment{Day: day, Offset: m.Offset}.Unix() }

// Weekday returns the day of the week: 0 is Monday.
func (m Moment) Weekday() int { return calendar.Weekday(m.Day) - 1 }

// Mod returns the remainder of a by b, which is never negative.
func Mod(a, b int) int { return (a%b + b) % b }

// Date returns the date of a day that is counted as in [DayOf].
func Date(day int) (y, m, d int) { return calendar.Date(day) }

// DayOf converts a date to a number of days.
func DayOf(y, m, d int) int { return calendar.Day(y, m, d) }

// AddMonths returns the day n months later, or the last of that month.
func AddMonths(day, n int) int { return calendar.AddMonths(day, n) }

// MonthLength returns the number of days of a month.
func MonthLength(y, m int) int { return calendar.MonthLength(y, m) }

// MonthNames are the names of the months, from January.
var MonthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}

// DayNames are the names of the weekdays, from Monday.
var DayNames = [...]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
var dayNamesZh = [...]string{"一", "二", "三", "四", "五", "六", "日"}

// Pad2 writes a number from 0 to 99 with two digits.
func Pad2(n int) string { return strconv.Itoa(100 + n)[1:] }

// English returns a time in English, as precisely as it is known.
func (w *When) English() string {
	y, m, d := Date(w.Day)
	s := ""
	switch w.Grain {
	case 'y':
		return strconv.Itoa(y)
	case 'M':
		if w.Season != "" {
			return w.Season + " " + strconv.Itoa(y)
		}
		return MonthNames[m-1] + " " + strconv.Itoa(y)
	case 'w':
		s = "week of "
	}
	if s == "" {
		s = DayNames[Moment{Day: w.Day}.Weekday()] + " "
	}
	s += strconv.Itoa(d) + " " + MonthNames[m-1] + " " + strconv.Itoa(y)
	if w.Last > 0 {
		end := When{Day: w.Last, Grain: 'd'}
		return s + " to " + end.English()
	}
	if w.Clock {
		s += ", " + w.clock(" to ")
	}
	return s
}

// Chinese returns the time in Chinese.
func (w *When) Chinese() string {
	y, m, d := Date(w.Day)
	s := strconv.Itoa(y) + "年"
	if w.Grain == 'y' {
		return s
	}
	if w.Season != "" {
		return s + w.Season
	}
	s += strconv.Itoa(m) + "月"
	if w.Grain == 'M' {
		return s
	}
	s += strconv.Itoa(d) + "日"
	if w.Grain == 'w' {
		return s + "那周"
	}
	s += "星期" + dayNamesZh[Moment{Day: w.Day}.Weekday()]
	if w.Last > 0 {
		end := When{Day: w.Last, Grain: 'd'}
		return s + "至" + end.Chinese()
	}
	if w.Clock {
		s += " " + w.clock("至")
	}
	return s
}

// clock returns the time of day, and its end if that was said.
func (w *When) clock(to string) string {
	s := Pad2(w.Minute/60) + ":" + Pad2(w.Minute%60)
	if w.Until > 0 {
		s += to + Pad2(w.Until/60) + ":" + Pad2(w.Until%60)
	}
	return s
}
