package query

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node/serve"
)

// Times that only the wearer's memories make days: "in the week before my birthday", "on our
// wedding day", 搬家那天. The groups are the words before the event, the event, and the words after
// it.
var (
	handleEn  = regexp.MustCompile(`(?i)\b(on |(?:(?:in|on|during) )?(?:the|a|one|two|three|four) (?:day|week|month)s? )((?:my|our|[a-z]+['’]s) (?:birthday|wedding day|anniversary)\b|(?:i|we|(?:before|after|of) (?:my|our|the|[a-z]+['’]s)) [a-z' ]+)()`)
	handleHan = regexp.MustCompile(`在?()((?:我的?)?(?:生日|纪念日|婚礼|结婚|搬家|考试|毕业|手术|面试|入职|离职|旅行|聚会|比赛|开学))(的?[之以]?[前后]的?[一两二三四]?个?(?:天|周|星期|礼拜|月)|[那当]天)`)
	yearly    = regexp.MustCompile(`(?i)birthday|anniversary|生日|纪念`)
	beside    = regexp.MustCompile(`(?i)^(before|after|of) `)
)

// leapYear is the end of a year that has every day.
var leapYear = time.Date(2024, 12, 31, 0, 0, 0, 0, time.UTC)

// resolveHandle takes a time out of the query that depends on an event whose day a memory has, and
// adds the days that it means. Of what comes every year, it is the last day before now that the
// calendar has. If no memory that the caller may see has the day, nothing changes.
func (qr *Query) resolveHandle(ctx context.Context, r *serve.SearchRequest, choice *chooser, q *recall.Query) error {
	ask, feast := *r, "圣诞节"
	var m []string
	if strings.ContainsAny(q.Text, "前后天") { // one of them is in each match, and most questions have none
		m = handleHan.FindStringSubmatch(q.Text)
	}
	if m != nil {
		ask.Query = strings.Replace(m[2], "我生", "我的生", 1) + "是什么时候"
	} else if m = handleEn.FindStringSubmatch(q.Text); m != nil {
		side := beside.FindString(m[2])
		ask.Query, feast = "when is "+m[2][len(side):], side+"christmas"
	}
	if m == nil || q.Own != "" && q.Own != q.Text {
		return nil
	}
	ask.Own, ask.K, ask.Only, ask.Types, ask.Threshold = "", 3, "", nil, 0
	res, err := qr.find(ctx, ask, choice)
	if err != nil || !res.Known {
		return err
	}
	// The days are counted from the event as from a feast whose day is known: 25 December 2024.
	counted, _ := recall.Days(m[1]+feast+m[3], leapYear)
	days, _ := recall.Days(res.Hits[0].Text, res.Hits[0].At.In(qr.c.Zone))
	if len(counted) == 0 || len(days) == 0 || days[0][0].AddDate(0, 0, 1) != days[0][1] {
		return nil
	}
	day := days[0][0]
	if yearly.MatchString(m[2]) {
		if leap, _ := recall.Days(res.Hits[0].Text, leapYear); day.YearDay() == 60 && len(leap) > 0 && leap[0][0].YearDay() == 60 {
			day = leap[0][0] // a 29 February was read as 1 March, because the year has none
		}
		_, month, d := day.Date()
		y := q.Now.In(qr.c.Zone).Year()
		for day = time.Date(y, month, d, 0, 0, 0, 0, qr.c.Zone); day.Day() != d || day.After(q.Now); y-- {
			day = time.Date(y-1, month, d, 0, 0, 0, 0, qr.c.Zone)
		}
	}
	after := func(t time.Time) time.Time { return day.AddDate(0, 0, int(t.Sub(leapYear)/(24*time.Hour))+6) }
	q.Days = [][2]time.Time{{after(counted[0][0]), after(counted[0][1])}}
	q.Text, q.Own = strings.Replace(q.Text, m[0], " ", 1), ""
	return nil
}
