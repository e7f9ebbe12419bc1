package foreign

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// every are the words for how often something is repeated: English once, English with a number, Chinese
// once, Chinese with a number.
var every = map[string][4]string{
	"DAILY":   {"every day", "every %d days", "每天", "每%d天"},
	"WEEKLY":  {"every week", "every %d weeks", "每", "每%d周的"},
	"MONTHLY": {"every month", "every %d months", "每个月", "每%d个月的"},
	"YEARLY":  {"every year", "every %d years", "每年", "每%d年的"},
}

// whole are the parts of a rule that repeats puts into words.
var whole = []string{"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYMONTH", "UNTIL", "COUNT", "WKST"}

var weekdays = map[string]time.Weekday{"SU": 0, "MO": 1, "TU": 2, "WE": 3, "TH": 4, "FR": 5, "SA": 6}

// repeats puts a rule of RFC 5545 (3.3.10) into words: "every week on Tuesday, 18:00 to 19:30, since
// 6 January 2026". over is when the last one has been, if the rule says it, else zero. Of a rule with other
// parts it says only that the event is repeated.
func (c *calendar) repeats(rule string, start, end moment, han bool) (words string, over time.Time) {
	parts := map[string]string{}
	known := true
	for part := range strings.SplitSeq(strings.ToUpper(rule), ";") {
		key, value, _ := strings.Cut(part, "=")
		parts[key] = value
		known = known && slices.Contains(whole, key)
	}
	n := 1
	if s, ok := parts["INTERVAL"]; ok {
		var err error
		n, err = strconv.Atoi(s)
		known = known && err == nil && n > 0
	}
	often, ok := every[parts["FREQ"]]
	known = known && ok
	var on string
	if known {
		on, known = days(parts, start, han)
	}
	say := func(en, zh string, args ...any) string {
		if han {
			en = zh
		}
		return fmt.Sprintf(en, args...)
	}
	switch {
	case !known:
		words = say("repeatedly", "定期")
	case n == 1:
		words = say(often[0], often[2]) + on
	default:
		words = say(often[1], often[3], n) + on
	}
	if start.clock {
		words += say(", ", " ") + start.Format("15:04")
		if !end.IsZero() {
			words += say(" to ", "到") + end.Format("15:04")
		}
	}
	if start.Year() > 1904 { // a birthday without its year begins in 1604 or 1900
		words += say(", since %s", "，从%s开始", moment{start.Time, false}.show(han))
	}
	if s := parts["COUNT"]; s != "" {
		if _, err := strconv.Atoi(s); err == nil {
			words += say(", %s times", "，共%s次", s)
		}
	}
	for layout, day := range map[string]bool{"20060102T150405Z": false, "20060102T150405": false, "20060102": true} {
		if t, err := time.ParseInLocation(layout, parts["UNTIL"], time.UTC); err == nil {
			if over = t.In(c.own); day || !strings.HasSuffix(layout, "Z") {
				over = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, c.own)
			}
			words += say(", until %s", "，到%s为止", moment{over, false}.show(han))
			if day {
				over = over.AddDate(0, 0, 1).Add(-time.Minute)
			}
		}
	}
	if over.Before(start.Time) {
		over = time.Time{}
	}
	return words, over
}

// days says on which days something is repeated. ok is false if a rule names them in a way without words.
func days(parts map[string]string, start moment, han bool) (on string, ok bool) {
	named := func(d time.Weekday) string {
		if han {
			return "周" + string([]rune("日一二三四五六")[d])
		}
		return d.String()
	}
	join := func(list []string) string {
		if han {
			return strings.Join(list, "、")
		}
		return strings.Join(list, " and ")
	}
	freq, byDay, byDate, byMonth := parts["FREQ"], parts["BYDAY"], parts["BYMONTHDAY"], parts["BYMONTH"]
	if freq != "YEARLY" && byMonth != "" || byDay != "" && byDate != "" {
		return "", false
	}
	date := strconv.Itoa(start.Day())
	if byDate != "" {
		if n, err := strconv.Atoi(byDate); err != nil || n < 1 || n > 31 {
			return "", false
		}
		date = byDate
	}
	switch {
	case freq == "DAILY":
		return "", byDay == "" && byDate == ""
	case freq == "WEEKLY":
		list := []string{named(start.Weekday())}
		if byDay != "" {
			list = nil
			for s := range strings.SplitSeq(byDay, ",") {
				d, ok := weekdays[s]
				if !ok {
					return "", false
				}
				list = append(list, named(d))
			}
		}
		if byDate != "" {
			return "", false
		}
		if han {
			return join(list), true
		}
		return " on " + join(list), true
	case freq == "MONTHLY" && byDay != "":
		if len(byDay) < 3 {
			return "", false
		}
		d, ok := weekdays[byDay[len(byDay)-2:]]
		n, err := strconv.Atoi(byDay[:len(byDay)-2])
		if !ok || err != nil || n < -1 || n == 0 || n > 5 {
			return "", false
		}
		if n < 0 {
			n = 0
		}
		if han {
			return []string{"最后一个", "第一个", "第二个", "第三个", "第四个", "第五个"}[n] + named(d), true
		}
		return " on the " + []string{"last", "first", "second", "third", "fourth", "fifth"}[n] + " " + d.String(), true
	case freq == "MONTHLY":
		if han {
			return date + "号", true
		}
		return " on day " + date, true
	case byDay != "":
		return "", false
	}
	month := start.Month()
	if byMonth != "" {
		n, err := strconv.Atoi(byMonth)
		if err != nil || n < 1 || n > 12 {
			return "", false
		}
		month = time.Month(n)
	}
	if han {
		return fmt.Sprintf("%d月%s日", int(month), date), true
	}
	return " on " + date + " " + month.String(), true
}
