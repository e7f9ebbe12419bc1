package query

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/names"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// whereabouts is a question about where the wearer was, or whom they met, at a time:
// "where was I this afternoon", 昨天我见了谁. A search for words can't find the answer,
// because nobody says it. The records of visits and speakers have it.
type whereabouts struct {
	people   bool      // the question is with whom; otherwise where
	han      bool      // the question is in Chinese
	from, to time.Time // equal: a single moment
}

var (
	whereEn = []*regexp.Regexp{
		regexp.MustCompile(`^(?:and |so )?where (?:was|were) (?:i|we)\b(?: exactly)?(.*)$`),
		regexp.MustCompile(`^(?:and |so )?where (?:did|have) (?:i|we) (?:go|been|gone|visit|visited)\b(?: to\b)?(.*)$`),
		regexp.MustCompile(`^(?:and |so )?where (?:did|have) (?:i|we) (?:have|had|eat|eaten)\b(.*(?:breakfast|lunch|dinner|supper).*)$`),
		regexp.MustCompile(`^(?:and |so )?(?:which|what)(?: other)? places (?:did|have) (?:i|we) (?:visit|visited|go|gone|been|see|seen)\b(?: (?:to|at)\b)?(.*)$`),
	}
	withEn = []*regexp.Regexp{
		regexp.MustCompile(`^(?:and |so )?(?:with )?(?:who|whom|which people) (?:did|have) (?:i|we) (?:meet|met|see|seen|talk|talked|speak|spoken|chat|chatted)\b(?: (?:to|with)\b)?(.*)$`),
		regexp.MustCompile(`^(?:and |so )?(?:with )?(?:who|whom) was i\b(?: with\b)?(.*)$`),
	}
	whereHan = regexp.MustCompile(`^(?:那)?我们?都?(?:在|去过?了?|到过?了?)(?:过|了)?(?:哪里|哪儿|哪些地方|什么地方|哪)(?:吃的?(?:早饭|午饭|晚饭|饭)|了|过|呢|啊)?$`)
	// hereEn and hereHan ask about the present if they do not mention a time.
	hereEn  = []*regexp.Regexp{regexp.MustCompile(`^(?:and |so )?where (?:am|are) (?:i|we)\b(?: exactly)?(.*)$`)}
	hereHan = regexp.MustCompile(`^(?:那)?我们?都?在(?:哪里|哪儿|什么地方|哪)(?:呢|啊)?$`)
	withHan = regexp.MustCompile(`^(?:那)?我们?都?(?:(?:见|遇见|遇到|碰到|碰见)(?:了|过|到)?(?:谁|哪些人|什么人)|(?:和|跟|同|与)(?:谁|哪些人)(?:说话|说过话|聊天|聊过天|聊|见面|见过面|谈话|在一起)?)(?:了|过|呢|啊)?$`)
	// timesHan is a time at the beginning of a Chinese question, or inside it.
	timesHan = regexp.MustCompile(`^(?:我们?)?((?:今天|昨天|前天|今早|今晚|昨晚|现在|上?(?:周|星期|礼拜)[一二三四五六日天]|\d{4}-\d{2}-\d{2})?(?:的)?(?:凌晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里)?(?:\d{1,2}点半?|[一二两三四五六七八九十]{1,3}点半?)?)(?:的时候|时)?(.+)$`)
	mealEn   = regexp.MustCompile(`\b(?:breakfast|lunch|dinner|supper)\b`)
	fillerEn = regexp.MustCompile(`\b(?:for|my|our|right|so far|all day|during|in the course of|then)\b`)
)

var mealTime = map[string]string{"breakfast": "morning", "lunch": "noon", "dinner": "evening", "supper": "evening"}

// readWhereabouts reads such a question; now is when it is asked, in the wearer's
// zone. A question with other words in it ("where was I born") is not one.
func readWhereabouts(question string, now time.Time) (w whereabouts, ok bool) {
	s := strings.ToLower(strings.TrimRight(strings.Join(strings.Fields(hans.Fold(question)), " "), " ?？.。!！吗"))
	if m := timesHan.FindStringSubmatch(s); m != nil && (m[1] != "" || strings.Contains(s, "我")) { // 今天去了哪里 is about the wearer, too
		rest := m[2]
		if !strings.HasPrefix(rest, "我") {
			rest = "我" + rest
		}
		if w.people = withHan.MatchString(rest); w.people || whereHan.MatchString(rest) {
			w.han = true
			return w.withTime(strings.ReplaceAll(m[1], "的", ""), now, hereHan.MatchString(rest))
		}
	}
	for _, kind := range []struct {
		people, here bool
		forms        []*regexp.Regexp
	}{{false, false, whereEn}, {false, true, hereEn}, {true, false, withEn}} {
		for _, re := range kind.forms {
			if m := re.FindStringSubmatch(s); m != nil {
				w.people = kind.people
				rest := mealEn.ReplaceAllStringFunc(m[1], func(meal string) string { return "at " + mealTime[meal] })
				return w.withTime(strings.Join(strings.Fields(fillerEn.ReplaceAllString(rest, " ")), " "), now, kind.here)
			}
		}
	}
	return w, false
}

// withTime sets the time by what a question says about it. here: without a word about time,
// the question is about now.
func (w whereabouts) withTime(when string, now time.Time, here bool) (whereabouts, bool) {
	if when == "now" || when == "现在" || when == "" {
		w.from, w.to = now, now
		return w, !w.people && (when != "" || here)
	}
	if c, of, said := readClock(when); said {
		at, ok := c.last(of, now)
		w.from, w.to = at, at
		return w, ok
	}
	said, err := parseWhen(when, now)
	w.from, w.to = said.From, said.To
	if w.to.After(now) {
		w.to = now
	}
	return w, err == nil
}

// stay is how long somebody is assumed to stay where they arrived, if no other arrival
// follows.
const stay = 18 * time.Hour

// recorded is what the records answer to a question.
type recorded struct {
	w    whereabouts
	hits []serve.Hit // in order of time
	told []string    // for each hit: "07:04 Daniel's flat"
}

// askedAt returns when a question is asked, in the wearer's zone.
func (qr *Query) askedAt(at time.Time) time.Time {
	if at.IsZero() {
		at = qr.c.Now()
	}
	return at.In(qr.c.Zone)
}

// whereabouts returns the records that answer a search, if it is such a question. The
// searches of one request read them only once.
func (qr *Query) whereabouts(ctx context.Context, r *serve.SearchRequest, choice *chooser) (got recorded, err error) {
	if !r.AsOf.IsZero() || !r.KnownAt.IsZero() {
		return got, nil
	}
	w, ok := readWhereabouts(r.Query, qr.askedAt(r.At))
	if !ok || w.people && (r.Only == serve.OnlyMemories || len(r.Types) > 0) ||
		!w.people && (r.Only == serve.OnlyUtterances || len(r.Types) > 0 && !slices.Contains(r.Types, memory.Episodic)) {
		return got, nil
	}
	if choice.records != nil {
		return *choice.records, nil
	}
	if !r.Since.IsZero() && r.Since.After(w.from) {
		w.from = r.Since
	}
	if !r.Until.IsZero() && r.Until.Before(w.to) {
		w.to = r.Until
	}
	got.w = w
	kind := recall.Memory
	if w.people {
		kind = recall.Utterance
	}
	err = qr.c.Engine.View(ctx, func(tx *store.Tx) error {
		allows := func(id memory.ID) bool { return !choice.narrows() || choice.allows(qr, tx, id, kind) }
		layout := "15:04"
		if w.to.Sub(w.from) > 24*time.Hour {
			layout = "2006-01-02 15:04"
		}
		tell := func(at time.Time, name string) {
			got.told = append(got.told, at.In(qr.c.Zone).Format(layout)+" "+name)
		}
		if w.people {
			return qr.spoken(ctx, tx, w, allows, func(u *memory.Utterance) {
				got.hits = append(got.hits, serve.Hit{ID: u.ID, Text: u.Text, At: u.At, Utterance: u,
					Evidence: []memory.Evidence{{Event: u.Event, Utterance: u.ID, Speaker: u.Speaker, At: u.At, Excerpt: memory.Excerpt(u.Text)}}})
				tell(u.At, u.Speaker)
			})
		}
		visits, err := visitsIn(ctx, tx, w, allows)
		for _, m := range visits {
			m.Categories = qr.c.Sorter.Of(m)
			got.hits = append(got.hits, serve.Hit{ID: m.ID, Text: m.Text, At: m.When(), Memory: m, Evidence: m.Quotes()})
			tell(m.Fields.Episodic.Started, m.Fields.Episodic.Place)
		}
		return err
	})
	if err = errors.Join(err, choice.err); err != nil {
		return recorded{}, err
	}
	choice.records = &got
	return got, nil
}

// visitsIn returns the arrivals in a time span, and before them the place where the
// wearer was at its beginning.
func visitsIn(ctx context.Context, tx *store.Tx, w whereabouts, allows func(memory.ID) bool) (list []*memory.Memory, err error) {
	var first *memory.Memory
	for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Episodic}, Since: w.from.Add(-stay)}) {
		if err = errors.Join(err, ctx.Err()); err != nil {
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

// spoken calls give with the first line of each person in a time span.
func (qr *Query) spoken(ctx context.Context, tx *store.Tx, w whereabouts, allows func(memory.ID) bool, give func(*memory.Utterance)) error {
	had := map[string]bool{"": true, names.Fold(qr.c.Wearer): true, "locket": true}
	for u, err := range tx.Utterances(w.from, w.to) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if who := names.Fold(u.Speaker); !had[who] && allows(u.ID) {
			had[who] = true
			give(u)
		}
	}
	return nil
}

// addWhereabouts puts the records before the hits that were found by words.
func (qr *Query) addWhereabouts(ctx context.Context, r *serve.SearchRequest, choice *chooser, k int, res *serve.SearchResult) error {
	got, err := qr.whereabouts(ctx, r, choice)
	if err != nil || len(got.hits) == 0 {
		return err
	}
	top := 1.
	if len(res.Hits) > 0 {
		top += res.Hits[0].Score
	}
	got.hits = slices.Clone(got.hits)
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

// answer sets in a result what the records answer to the question: the records that
// are in its evidence, and how many more there are.
func (got *recorded) answer(res *serve.AskResult) {
	var told []string
	for i := range got.hits {
		if j := slices.IndexFunc(res.Evidence, func(it serve.ContextItem) bool { return it.ID == got.hits[i].ID }); j >= 0 {
			told, res.Citations = append(told, got.told[i]), append(res.Citations, res.Evidence[j])
		}
	}
	if len(told) == 0 {
		return
	}
	res.Answer, res.Cited = strings.Join(told, "; "), true
	switch all := len(got.hits); {
	case all == len(told):
	case got.w.han && got.w.people:
		res.Answer += fmt.Sprintf("等%d人", all)
	case got.w.han:
		res.Answer += fmt.Sprintf("等%d处", all)
	default:
		res.Answer += fmt.Sprintf("; and %d more", all-len(told))
	}
}
