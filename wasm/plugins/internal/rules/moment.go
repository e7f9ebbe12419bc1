package rules

import (
	"strconv"

	"github.com/locket-dev/locket/internal/calendar"
)

// moment is a time as the speaker's clock shows it. The guest has no time
// zones: the offset is that of the event, also for other days, and the host puts the
// times of a candidate right (times = "local" in the manifest).
type moment struct {
	day    int // days since 1970-01-01
	minute int // of the day
	offset int // seconds east of UTC
}

func momentOf(at int64, offset int) moment {
	s := at / 1000
	if at%1000 < 0 {
		s--
	}
	s += int64(offset)
	day := s / 86400
	if s%86400 < 0 {
		day--
	}
	return moment{int(day), int(s-day*86400) / 60, offset}
}

// unix is ms since 1970-01-01 UTC.
func (m moment) unix() int64 {
	return (int64(m.day)*86400 + int64(m.minute)*60 - int64(m.offset)) * 1000
}

// weekday: 0 is Monday.
func (m moment) weekday() int { return calendar.Weekday(m.day) - 1 }

func mod(a, b int) int { return (a%b + b) % b }

func date(day int) (y, m, d int) { return calendar.Date(day) }
func dayOf(y, m, d int) int      { return calendar.Day(y, m, d) }
func addMonths(day, n int) int   { return calendar.AddMonths(day, n) }
func monthLength(y, m int) int   { return calendar.MonthLength(y, m) }

var monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
var dayNames = [...]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
var dayNamesZh = [...]string{"一", "二", "三", "四", "五", "六", "日"}

func pad2(n int) string { return strconv.Itoa(100 + n)[1:] }

// english writes a time as fine as it is known.
func (w *when) english() string {
	y, m, d := date(w.day)
	s := ""
	switch w.grain {
	case 'y':
		return strconv.Itoa(y)
	case 'M':
		if w.season != "" {
			return w.season + " " + strconv.Itoa(y)
		}
		return monthNames[m-1] + " " + strconv.Itoa(y)
	case 'w':
		s = "week of "
	}
	if s == "" {
		s = dayNames[moment{day: w.day}.weekday()] + " "
	}
	s += strconv.Itoa(d) + " " + monthNames[m-1] + " " + strconv.Itoa(y)
	if w.last > 0 {
		end := when{day: w.last, grain: 'd'}
		return s + " to " + end.english()
	}
	if w.clock {
		s += ", " + pad2(w.minute/60) + ":" + pad2(w.minute%60)
		if w.until > 0 {
			s += " to " + pad2(w.until/60) + ":" + pad2(w.until%60)
		}
	}
	return s
}

func (w *when) chinese() string {
	y, m, d := date(w.day)
	s := strconv.Itoa(y) + "年"
	if w.grain == 'y' {
		return s
	}
	if w.season != "" {
		return s + w.season
	}
	s += strconv.Itoa(m) + "月"
	if w.grain == 'M' {
		return s
	}
	s += strconv.Itoa(d) + "日"
	if w.grain == 'w' {
		return s + "那周"
	}
	s += "星期" + dayNamesZh[moment{day: w.day}.weekday()]
	if w.last > 0 {
		end := when{day: w.last, grain: 'd'}
		return s + "至" + end.chinese()
	}
	if w.clock {
		s += " " + pad2(w.minute/60) + ":" + pad2(w.minute%60)
		if w.until > 0 {
			s += "至" + pad2(w.until/60) + ":" + pad2(w.until%60)
		}
	}
	return s
}
