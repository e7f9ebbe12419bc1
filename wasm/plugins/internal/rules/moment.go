package rules

import "strconv"

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
func (m moment) weekday() int { return mod(m.day+3, 7) }

func mod(a, b int) int { return (a%b + b) % b }

// date gives the calendar day (Hinnant, chrono-compatible low-level date
// algorithms).
func date(day int) (y, m, d int) {
	z := day + 719468
	era := z / 146097
	if z < 0 {
		era = (z - 146096) / 146097
	}
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

// dayOf is the inverse of date.
func dayOf(y, m, d int) int {
	if m <= 2 {
		y--
	}
	era := y / 400
	if y < 0 {
		era = (y - 399) / 400
	}
	yoe := y - era*400
	mp := mod(m-3, 12)
	doy := (153*mp+2)/5 + d - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

// addMonths keeps the day of the month where that month has it.
func addMonths(day, n int) int {
	y, m, d := date(day)
	m += n
	y += (m - 1) / 12
	if m <= 0 {
		y += (m - 12) / 12
		y -= (m - 1) / 12
	}
	m = mod(m-1, 12) + 1
	return dayOf(y, m, min(d, monthLength(y, m)))
}

func monthLength(y, m int) int {
	if m == 12 {
		return 31
	}
	return dayOf(y, m+1, 1) - dayOf(y, m, 1)
}

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
