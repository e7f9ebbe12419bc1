package query

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// todo is a question about what the wearer has to do: "what do I still need to buy", 今天要做什么. Its
// words appear in few of the answers, and in many other texts.
type todo struct {
	only     *regexp.Regexp // what an answer must contain; nil: anything
	from, to time.Time      // when the task is due; zero: at any time
	trips    bool           // the question is where somebody goes: trips come first
}

// whenTail is what may follow such a question, and whoHan what may precede a Chinese one.
const (
	whenTail  = `(?: (?:for|on|by|this|next|today|tonight|tomorrow|now|soon|week|weekend|morning|evening|(?:mon|tues|wednes|thurs|fri|satur|sun)day))*\W*$`
	aheadTail = `(?: (?:in|at|on|over|for|the|this|next|today|tonight|tomorrow|week(?:end)?|month|year|january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter|new year(?:['’]s)?(?: eve| day)?|spring|summer|autumn|fall|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d+(?:st|nd|rd|th)?|of))+\W*$`
	whoHan    = `(?:我们?|还|现在|今天|明天|后天|今晚|周末|[这本下]?(?:周|星期|礼拜)[一二三四五六日天]?)*`
)

var (
	asksToBuy = lazily(`(?i)^(?:and |so )?(?:what|which|anything)\b.* (?:i|we)\b.*\b(?:buy|need)(?: (?:at|from) the (?:shop|store|supermarket))?` + whenTail + `|\b(?:shopping|grocery) list\b|^what groceries do (?:i|we) need\W*$|^what (?:are|have) we (?:run )?out of\b|` +
		`^` + whoHan + `(?:要|得|需要|应该|该)买(?:些?什么|啥|哪些|的东西)\W*$|(?:购物|采购)清单`)
	// notToBuy finds questions about what was bought.
	notToBuy    = lazily(`(?i)\b(?:did|bought)\b`)
	asksPromise = lazily(`(?i)^what (?:did|have) i (?:promise|promised)(?: to do)?\W*$|^what promises (?:did|have) i (?:make|made)\W*$|^我(?:都)?(?:答应|承诺|保证)(?:过|了)*(?:谁|什么|哪些)(?:了|事|事情)*\W*$`)
	asksToDo    = lazily(`(?i)^(?:and |so )?(?:what|which (?:things|tasks))\b.* (?:i|we)\b.*\b(?:have|need|supposed|got) to (?:do|get done|finish|remember)` + whenTail +
		`|^what (?:must|should) i (?:do|remember|not forget)` + whenTail + `|^what did i say i(?: would|['’]d) do` + whenTail + `|^(?:what(?:['’]s| is)|anything|is there anything)(?: still| else)?(?: left)? to do` + whenTail +
		`|^anything (?:that )?i (?:must|should|have to|need to) (?:do|remember|not forget)` + whenTail + `|^(?:(?:what|which|anything|is there|do i have)\b.*\b)?(?:my|our) to[- ]?dos?(?: list)?` + whenTail + `|^what(?:['’]s| is)(?: still| left)? on (?:the|my|our) (?:to[- ]?do )?list` + whenTail + `|^(?:read|show|tell|give)(?: me)? (?:the|my|our) (?:to[- ]?do|task) list` + whenTail + `|^what(?:['’]s| is) on my list\W*$|^what(?:['’]s| is) (?:due|coming up|happening|planned|scheduled|on(?: (?:my|our|the) (?:calendar|diary|schedule))?)` + whenTail +
		`|^(?:what do|do) (?:i|we) have (?:anything )?(?:on|planned|scheduled|coming up)` + whenTail +
		`|^(?:do i have any|what are my|any) plans` + whenTail + `|` +
		`^` + whoHan + `(?:要|得|该|应该|需要)(?:做|干|办)(?:些?什么|啥|哪些)\W*$|^` + whoHan + `有(?:什么|哪些)(?:事|安排|计划|待办)(?:要做|情)*\W*$|^` + whoHan + `有(?:什么|哪些|啥)(?:要|得|该|需要)(?:做|办|干)的?(?:事情?)?\W*$|待办`)
	// asksAhead finds what has tasks, trips and appointments as its answer if the days that it names are to come.
	asksAhead = lazily(`(?i)^(?:and |so )?(?:what|where) (?:am|are) (?:i|we) (?:doing|going|off to|travell?ing(?: to)?)` + aheadTail + `|^what(?:['’]s| is) (?:happening|planned|scheduled|on)` + aheadTail + `|` +
		`^(?:我们?|咱们?|打算|准备|要|今天|明天|后天|这|下|个|本|周末?|星期|礼拜|月|年|底|初|[一二三四五六七八九十日天号\d]|圣诞节?|春节|元旦|国庆节?|中秋节?)+(?:去|上)(?:哪里?|哪儿|什么地方)(?:玩|旅游|旅行)?\W*$`)
	// asksWhither finds a question about where somebody goes, tellsTrip a plan that is a trip.
	asksWhither = lazily(`(?i)^(?:and |so )?where\b|[去上](?:哪|什么地方)`)
	tellsTrip   = lazily(`(?i)\b(?:go(?:es|ing)?|off|fly(?:ing)?|flights?|travel\pL*|trips?|visit\pL*|driv(?:e|ing)|cruises?|holidays?|vacation|hotel|cottage|stay(?:ing)?|camping)\b|[去飞]|旅|酒店|民宿|出差|度假|机票|航班|高铁|火车`)
	toBuy       = lazily(`(?i)\b(?:buy|shopping|groceries|(?:run|are|we['’]re|i['’]m) out of)\b|买|用完了|没了`)
	notBought   = lazily(`(?i)\b(?:bought|used to)\b|买[了到过]`)
	promised    = lazily(`(?i)\bpromised?\b|答应|承诺|保证`)
	// mustDo finds tasks in texts of which the rules made no plan.
	mustDo    = lazily(`(?i)\b(?:has|have|needs?|ought|got) to\b|\b(?:must|should|don['’]t forget|remember to)\b|^(?:buy|call|pick up|pay|return|book|renew|send|fix|clean|order)\b|^(?:\pL+|我)?(?:还)?(?:要|得|需要|应该|必须|记得|别忘了)\p{Han}`)
	onWeekday = lazily(`(?i)\b(sun|mon|tues|wednes|thurs|fri|satur)day\b|(?:周|星期|礼拜)([日天一二三四五六])`)
	tonight   = strings.NewReplacer("tonight", "today", "今晚", "今天")
)

// openMost is how many plans are looked through: those that were learnt last.
const openMost = 500

// readTodo reads a question about tasks; now is when it is asked, in the wearer's zone.
func readTodo(question string, now time.Time) (w todo, ok bool) {
	switch {
	case asksToBuy().MatchString(question) && !notToBuy().MatchString(question):
		w.only = toBuy()
	case asksPromise().MatchString(question):
		w.only = promised()
	case !asksToDo().MatchString(question):
		if !asksAhead().MatchString(question) {
			return w, false
		}
		if w.from, w.to = daysAhead(question, now); w.to.IsZero() {
			if days, _ := recall.Days(question, now.AddDate(1, 0, 0)); len(days) > 0 { // a bare "December" is the last one
				w.from, w.to = days[0][0], days[0][1]
			}
		}
		w.trips = asksWhither().MatchString(question)
		return w, w.to.After(now)
	}
	w.from, w.to = daysAhead(question, now)
	return w, true
}

// daysAhead returns the days that a question names, from today on; zero: it names none.
func daysAhead(question string, now time.Time) (from, to time.Time) {
	if days, _ := recall.Days(tonight.Replace(strings.ToLower(question)), now); len(days) > 0 && days[0][1].After(now) { // a bare "Friday" would be the last one there
		return days[0][0], days[0][1]
	}
	m := onWeekday().FindStringSubmatch(question)
	if m == nil {
		return from, to
	}
	day := strings.Index("日一二三四五六", strings.Replace(m[2], "天", "日", 1)) / len("日")
	if m[1] != "" {
		day = slices.Index([]string{"sun", "mon", "tues", "wednes", "thurs", "fri", "satur"}, strings.ToLower(m[1]))
	}
	from = time.Date(now.Year(), now.Month(), now.Day()+(day-int(now.Weekday())+7)%7, 0, 0, 0, 0, now.Location())
	return from, from.AddDate(0, 0, 1)
}

// today reports whether the requested day is the day of now. A task without a date counts as one
// for today.
func (w *todo) today(now time.Time) bool { return !now.Before(w.from) && now.Before(w.to) }

// answers reports whether a text says what has to be done. planned: the text is that of a plan.
func (w *todo) answers(text string, planned bool) bool {
	text = hans.Fold(text)
	if w.only != nil {
		return w.only.MatchString(text) && !notBought().MatchString(text)
	}
	return planned || mustDo().MatchString(text) || toBuy().MatchString(text) && !notBought().MatchString(text)
}

// due reports whether a plan is not over yet, and falls into the requested time.
func (w *todo) due(m *memory.Memory, now time.Time) bool {
	f := m.Fields.Episodic
	if f.Started.IsZero() {
		return w.from.IsZero()
	}
	at, over := lasts(m, now.Location())
	return over.After(now) && (w.from.IsZero() || at.Before(w.to) && (!at.Before(w.from) || over.After(w.from)))
}

// plans returns the plans that answer the question: trips if it is where somebody goes, then those with a time, the
// next one first, and then the others, the latest learnt first.
func (qr *Query) plans(ctx context.Context, tx *store.Tx, w *todo, now time.Time, choice *chooser) (list []*memory.Memory, err error) {
	var ids []memory.ID
	err = qr.overview.look(ctx, tx, func() error {
		for _, l := range slices.Backward(qr.overview.byLearnt()) {
			if l.plan && l.state == memory.Active && !l.negates && len(ids) < openMost {
				ids = append(ids, l.id)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for m, err := range tx.MemoriesOf(ids) {
		if err != nil {
			return nil, err
		}
		// The filter by what the caller may see is part of the chooser's filters.
		if m.State == memory.Active && !m.Expired(choice.now) && (m.Slot == nil || memory.Normal(m.Slot.Subject) == "user") && memory.OtherUser(m.Owner.User) == "" && w.due(m, now) && w.answers(m.Text, true) && (!choice.narrows() || choice.allows(qr, tx, m.ID, recall.Memory)) {
			list = append(list, m)
		}
	}
	sorting.Stable(list, func(a, b *memory.Memory) int {
		if w.trips {
			if trip := tellsTrip().MatchString(a.Text); trip != tellsTrip().MatchString(b.Text) {
				if trip {
					return -1
				}
				return 1
			}
		}
		at, other := a.Fields.Episodic.Started, b.Fields.Episodic.Started
		switch {
		case at.IsZero() != other.IsZero():
			return cmp.Compare(other.Unix(), at.Unix())
		case at.IsZero():
			return cmp.Or(b.Learnt.Compare(a.Learnt), bytes.Compare(a.ID[:], b.ID[:]))
		}
		return cmp.Or(at.Compare(other), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return list, nil
}

// addTodo puts tasks before the hits that were found by words.
func (qr *Query) addTodo(ctx context.Context, r *serve.SearchRequest, choice *chooser, k int, res *serve.SearchResult) error {
	now := qr.askedAt(r.At)
	w, ok := readTodo(cmp.Or(r.Own, r.Query), now)
	if !ok || !r.AsOf.IsZero() || !r.KnownAt.IsZero() || !r.Since.IsZero() || !r.Until.IsZero() {
		return nil
	}
	var first []serve.Hit
	if r.Only != serve.OnlyUtterances && (len(r.Types) == 0 || slices.Contains(r.Types, memory.Episodic)) {
		err := qr.c.Engine.View(ctx, func(tx *store.Tx) error {
			list, err := qr.plans(ctx, tx, &w, now, choice)
			for _, m := range list {
				m.Categories = qr.c.Sorter.Of(m)
				first = append(first, serve.Hit{ID: m.ID, Text: m.Text, At: m.When(), Memory: m, Evidence: m.Quotes()})
			}
			return err
		})
		if err = errors.Join(err, choice.err); err != nil {
			return err
		}
	}
	found := len(first)
	var rest []serve.Hit
	for _, h := range res.Hits {
		switch plan := h.Memory != nil && h.Memory.Fields.Episodic != nil && slices.Contains(planned, h.Memory.Fields.Episodic.EventType); {
		case slices.ContainsFunc(first, func(o serve.Hit) bool { return o.ID == h.ID || quotes(&o, h.ID) }):
		case (w.from.IsZero() || w.today(now)) && !plan && h.SharedBy == nil && userOf(&h) == "" && w.answers(h.Text, false):
			first = append(first, h)
		default:
			// Hits of that day that are no tasks are minor: "thanks", or something that the wearer
			// learnt then.
			h.Minor = h.Minor || w.only == nil && (h.Memory == nil || h.Memory.Fields.Episodic == nil || !w.from.IsZero() && !w.within(&h, plan, now))
			rest = append(rest, h)
		}
	}
	minor := func(h serve.Hit) bool { return h.Minor }
	rest = slices.Concat(slices.DeleteFunc(slices.Clone(rest), minor), slices.DeleteFunc(rest, func(h serve.Hit) bool { return !h.Minor })) // hits of the requested time first
	if len(first) == 0 {
		res.Hits, res.Known = rest, res.Known && slices.ContainsFunc(rest, func(h serve.Hit) bool { return !h.Minor })
		return nil
	}
	top := 0.
	for i := range res.Hits {
		top = max(top, res.Hits[i].Score)
	}
	for i := range first {
		first[i].Score = max(top, .5)
		if i < found {
			first[i].Parts = map[string]float64{"time_match": first[i].Score}
		}
	}
	res.Hits = append(first, rest...)
	res.Hits = res.Hits[:min(k, len(res.Hits))]
	// A plan gives the answer the confidence with which it was heard; a line that only has the
	// words of such a plan gives the minimum.
	sure := recall.Unsure
	for i := range found {
		sure = max(sure, first[i].Memory.Confidence)
	}
	res.Known, res.Confidence = true, max(res.Confidence, sure)
	return nil
}

// within reports whether an episode falls into the requested time, and is not over by now. plan
// says that it is something that somebody plans to do.
func (w *todo) within(h *serve.Hit, plan bool, now time.Time) bool {
	at, over := h.At, h.At
	if f := h.Memory.Fields.Episodic; !f.Started.IsZero() {
		at, over = lasts(h.Memory, now.Location())
	} else if plan {
		over = w.to // it is a task without a time
	}
	return !at.Before(w.from) && at.Before(w.to) && over.After(now)
}

// quotes reports whether an utterance is among the evidence of a hit.
func quotes(h *serve.Hit, utterance memory.ID) bool {
	return slices.ContainsFunc(h.Evidence, func(e memory.Evidence) bool { return e.Utterance == utterance })
}
