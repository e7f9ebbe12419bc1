package query

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/names"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/forget"
	"github.com/locket-dev/locket/node/serve"
)

// whereabouts is a question about where the wearer was, or with whom, at a time:
// "where was I this afternoon", 昨天我见了谁. Words can't find its answer, because
// nobody says it. The records of visits and speakers have it.
type whereabouts struct {
	people   bool      // with whom; else where
	from, to time.Time // equal: at a moment
}

var (
	whereEn = []*regexp.Regexp{
		regexp.MustCompile(`^(?:and |so )?where (?:was|were|am|are) (?:i|we)\b(?: exactly)?(.*)$`),
		regexp.MustCompile(`^(?:and |so )?where (?:did|have) (?:i|we) (?:go|been|gone|visit|visited)\b(?: to\b)?(.*)$`),
		regexp.MustCompile(`^(?:and |so )?where (?:did|have) (?:i|we) (?:have|had|eat|eaten)\b(.*(?:breakfast|lunch|dinner|supper).*)$`),
		regexp.MustCompile(`^(?:and |so )?(?:which|what)(?: other)? places (?:did|have) (?:i|we) (?:visit|visited|go|gone|been|see|seen)\b(?: (?:to|at)\b)?(.*)$`),
	}
	withEn = []*regexp.Regexp{
		regexp.MustCompile(`^(?:and |so )?(?:with )?(?:who|whom|which people) (?:did|have) (?:i|we) (?:meet|met|see|seen|talk|talked|speak|spoken|chat|chatted)\b(?: (?:to|with)\b)?(.*)$`),
		regexp.MustCompile(`^(?:and |so )?(?:with )?(?:who|whom) was i\b(?: with\b)?(.*)$`),
	}
	whereHan = regexp.MustCompile(`^(?:那)?我们?都?(?:在|去过?了?|到过?了?)(?:过|了)?(?:哪里|哪儿|哪些地方|什么地方|哪)(?:吃的?(?:早饭|午饭|晚饭|饭)|了|过|呢|啊)?$`)
	withHan  = regexp.MustCompile(`^(?:那)?我们?都?(?:(?:见|遇见|遇到|碰到|碰见)(?:了|过|到)?(?:谁|哪些人|什么人)|(?:和|跟|同|与)(?:谁|哪些人)(?:说话|说过话|聊天|聊过天|聊|见面|见过面|谈话|在一起)?)(?:了|过|呢|啊)?$`)
	// timesHan are what a Chinese question may have before or inside it of time.
	timesHan = regexp.MustCompile(`^(?:我们?)?((?:今天|昨天|前天|今早|今晚|昨晚|现在|上?(?:周|星期|礼拜)[一二三四五六日天]|\d{4}-\d{2}-\d{2})?(?:的)?(?:凌晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里)?(?:\d{1,2}点半?|[一二两三四五六七八九十]{1,3}点半?)?)(?:的时候|时)?(.+)$`)
	clockEn  = regexp.MustCompile(`\bat (?:about |around )?(\d{1,2})(?::(\d{2}))?\s*(am|pm|a\.m\.|p\.m\.|o'clock)?(?:\s|$)`)
	clockHan = regexp.MustCompile(`(\d{1,2}|[一二两三四五六七八九十]{1,3})点(半)?$`)
	mealEn   = regexp.MustCompile(`\b(?:breakfast|lunch|dinner|supper)\b`)
	fillerEn = regexp.MustCompile(`\b(?:for|my|our|right|so far|all day|during|in the course of|then)\b`)
)

var mealTime = map[string]string{"breakfast": "morning", "lunch": "noon", "dinner": "evening", "supper": "evening"}

// readWhereabouts reads a question of this sort; now is when it is asked, in the
// wearer's zone. A question with other words in it ("where was I born") is none.
func readWhereabouts(question string, now time.Time) (w whereabouts, ok bool) {
	s := strings.ToLower(strings.TrimRight(strings.Join(strings.Fields(question), " "), " ?？.。!！吗"))
	if m := timesHan.FindStringSubmatch(s); m != nil && strings.ContainsAny(s, "我") {
		rest := m[2]
		if !strings.HasPrefix(rest, "我") {
			rest = "我" + rest
		}
		if w.people = withHan.MatchString(rest); w.people || whereHan.MatchString(rest) {
			return w.at(strings.ReplaceAll(m[1], "的", ""), now)
		}
	}
	for _, kind := range []struct {
		people bool
		forms  []*regexp.Regexp
	}{{false, whereEn}, {true, withEn}} {
		for _, re := range kind.forms {
			if m := re.FindStringSubmatch(s); m != nil {
				w.people = kind.people
				rest := mealEn.ReplaceAllStringFunc(m[1], func(meal string) string { return "at " + mealTime[meal] })
				return w.at(strings.Join(strings.Fields(fillerEn.ReplaceAllString(rest, " ")), " "), now)
			}
		}
	}
	return w, false
}

// at sets the time by what a question says of it.
func (w whereabouts) at(when string, now time.Time) (whereabouts, bool) {
	if when == "now" || when == "现在" || when == "" && !w.people {
		w.from, w.to = now, now
		return w, !w.people
	}
	clock := time.Duration(-1)
	if m := clockEn.FindStringSubmatchIndex(when); m != nil {
		part := func(i int) string {
			if m[i] < 0 {
				return ""
			}
			return when[m[i]:m[i+1]]
		}
		clock = clockOfDay(part(2), part(4), strings.HasPrefix(part(6), "p"), when)
		when = strings.TrimSpace(when[:m[0]] + " " + when[m[1]:])
	} else if m := clockHan.FindStringSubmatch(when); m != nil {
		minutes := ""
		if m[2] != "" {
			minutes = "30"
		}
		clock = clockOfDay(m[1], minutes, false, when)
		when = strings.TrimSuffix(when, m[0])
	}
	if clock >= 0 && when == "" {
		when = "today"
	}
	said, err := forget.ParseWhen(strings.TrimPrefix(when, "in the "), now)
	if err != nil || said.Place != "" {
		if said, err = forget.ParseWhen(when, now); err != nil || said.Place != "" {
			return w, false
		}
	}
	w.from, w.to = said.From, said.To
	if w.to.After(now) {
		w.to = now
	}
	if clock >= 0 {
		y, m, d := w.from.Date()
		w.from = time.Date(y, m, d, 0, 0, 0, 0, now.Location()).Add(clock)
		w.to = w.from
	}
	return w, true
}

var hanHours = map[string]int{"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "十一": 11, "十二": 12}

// clockOfDay is a time of day; below zero: none. Of an hour to 12 without more, the
// words beside it say which half of the day it is in.
func clockOfDay(hour, minutes string, pm bool, beside string) time.Duration {
	h, err := strconv.Atoi(hour)
	if err != nil {
		h = hanHours[hour]
	}
	m, _ := strconv.Atoi(minutes) // none is 0
	for _, later := range []string{"afternoon", "evening", "night", "下午", "晚上", "傍晚", "夜里"} {
		pm = pm || strings.Contains(beside, later)
	}
	early := false
	for _, sooner := range []string{"a.m", "am", "morning", "night", "凌晨", "早", "上午"} {
		early = early || strings.Contains(beside, sooner)
	}
	if (pm || !early && h < 7) && h < 12 { // "at three" is when people are awake
		h += 12
	}
	if h > 24 || m > 59 {
		return -1
	}
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
}

// stay is how long somebody is thought to be where they arrived, if no other
// arrival follows.
const stay = 18 * time.Hour

// recorded is what records answer to a question.
type recorded struct {
	hits []serve.Hit // in order of time
	text string      // "07:04 Daniel's flat; 08:06 Hengshan Road"
}

// whereabouts gives the records that answer a search, if it is of that sort.
func (qr *Query) whereabouts(ctx context.Context, r *serve.SearchRequest, choice *chooser) (got recorded, err error) {
	now := r.At
	if now.IsZero() {
		now = time.Now()
	}
	if !r.AsOf.IsZero() || !r.KnownAt.IsZero() {
		return got, nil
	}
	w, ok := readWhereabouts(r.Query, now.In(qr.c.Zone))
	if !ok || w.people && (r.Only == serve.OnlyMemories || len(r.Types) > 0) ||
		!w.people && (r.Only == serve.OnlyUtterances || len(r.Types) > 0 && !slices.Contains(r.Types, memory.Episodic)) {
		return got, nil
	}
	if !r.Since.IsZero() && r.Since.After(w.from) {
		w.from = r.Since
	}
	if !r.Until.IsZero() && r.Until.Before(w.to) {
		w.to = r.Until
	}
	var told []string
	err = qr.c.Engine.View(ctx, func(tx *store.Tx) error {
		allows := func(id memory.ID) bool { return !choice.narrows() || choice.allows(qr, tx, id) }
		layout := "15:04"
		if w.to.Sub(w.from) > 24*time.Hour {
			layout = "2006-01-02 15:04"
		}
		tell := func(at time.Time, name string) { told = append(told, at.In(qr.c.Zone).Format(layout)+" "+name) }
		if w.people {
			return qr.spoken(tx, w, allows, func(u *memory.Utterance) {
				got.hits = append(got.hits, serve.Hit{ID: u.ID, Text: u.Text, At: u.At, Utterance: u,
					Evidence: []memory.Evidence{{Event: u.Event, Utterance: u.ID, Speaker: u.Speaker, At: u.At, Excerpt: memory.Excerpt(u.Text)}}})
				tell(u.At, u.Speaker)
			})
		}
		visits, err := visitsIn(tx, w, allows)
		for _, m := range visits {
			m.Categories = qr.c.Sorter.Of(m)
			got.hits = append(got.hits, serve.Hit{ID: m.ID, Text: m.Text, At: m.When(), Memory: m, Evidence: m.Evidence})
			tell(m.Fields.Episodic.Started, m.Fields.Episodic.Place)
		}
		return err
	})
	got.text = strings.Join(told, "; ")
	return got, err
}

// visitsIn gives the arrivals in a time, and before them the place where it began.
func visitsIn(tx *store.Tx, w whereabouts, allows func(memory.ID) bool) (list []*memory.Memory, err error) {
	var first *memory.Memory
	for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Episodic}, Since: w.from.Add(-stay)}) {
		if err != nil {
			return nil, err
		}
		f := m.Fields.Episodic
		shown := m.State == memory.Active || m.State == memory.Archived && m.Into.IsZero()
		if f == nil || !shown || m.Negates || f.Place == "" || !slices.Contains(m.Tags, "visit") || !allows(m.ID) {
			continue
		}
		switch at := f.Started; {
		case at.After(w.from) && at.Before(w.to):
			list = append(list, m)
		case !at.After(w.from) && w.from.Sub(at) < stay && (f.Ended.IsZero() || f.Ended.After(w.from)):
			if first == nil || at.After(first.Fields.Episodic.Started) {
				first = m
			}
		}
	}
	sorting.Stable(list, func(a, b *memory.Memory) int {
		return a.Fields.Episodic.Started.Compare(b.Fields.Episodic.Started)
	})
	if first != nil {
		list = append([]*memory.Memory{first}, list...)
	}
	return list, nil
}

// spoken calls give with the first line of each person in a time.
func (qr *Query) spoken(tx *store.Tx, w whereabouts, allows func(memory.ID) bool, give func(*memory.Utterance)) error {
	had := map[string]bool{"": true, names.Fold(qr.c.Wearer): true, "locket": true}
	for u, err := range tx.Utterances(w.from, w.to) {
		if err != nil {
			return err
		}
		if who := names.Fold(u.Speaker); !had[who] && allows(u.ID) {
			had[who] = true
			give(u)
		}
	}
	return nil
}

// addWhereabouts puts the records before what was found by words.
func (qr *Query) addWhereabouts(ctx context.Context, r *serve.SearchRequest, choice *chooser, k int, res *serve.SearchResult) error {
	got, err := qr.whereabouts(ctx, r, choice)
	if err != nil || len(got.hits) == 0 {
		return err
	}
	top := 1.
	if len(res.Hits) > 0 {
		top += res.Hits[0].Score
	}
	for i := range got.hits {
		got.hits[i].Score, got.hits[i].Parts = top, map[string]float64{"time_match": top}
	}
	for _, h := range res.Hits {
		if !slices.ContainsFunc(got.hits, func(g serve.Hit) bool { return g.ID == h.ID }) {
			got.hits = append(got.hits, h)
		}
	}
	res.Hits = got.hits[:min(k, len(got.hits))]
	res.Known, res.Confidence = true, 1
	return nil
}

// answerByRecords is the answer of records to a question, and what it is from.
func (qr *Query) answerByRecords(ctx context.Context, r *serve.AskRequest, res *serve.AskResult) error {
	q := serve.SearchRequest{Query: r.Question, At: r.At, Agent: r.Agent, Run: r.Run, Filters: r.Filters, Sees: r.Sees}
	choice, err := chooserOf(&q)
	if err != nil {
		return err
	}
	got, err := qr.whereabouts(ctx, &q, choice)
	if err != nil || len(got.hits) == 0 {
		return err
	}
	for _, it := range res.Evidence {
		if slices.ContainsFunc(got.hits, func(h serve.Hit) bool { return h.ID == it.ID }) {
			res.Citations = append(res.Citations, it)
		}
	}
	if len(res.Citations) == len(got.hits) {
		res.Answer, res.Cited = got.text, true
		return nil
	}
	res.Citations = []serve.ContextItem{}
	if n := len(got.hits); n > 0 { // there is no room for all: say how many there are
		res.Answer = fmt.Sprintf("%s (%d)", got.text, n)
	}
	return nil
}
