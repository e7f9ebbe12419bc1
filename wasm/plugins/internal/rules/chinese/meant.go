package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// changeWords say that a plan changes, and nothing about which one.
var changeWords = func() *strings.Replacer {
	var pairs []string
	for _, w := range append([]string{"取消", "不取消", "我们", "我", "把", "被", "了", "的", "已经", "也", "都", "先", "要", "去", "那个", "这个", "临时", "又", "和", "跟", "与", "，", ","}, discourse.MovesZh...) {
		pairs = append(pairs, w, " ")
	}
	return strings.NewReplacer(pairs...)
}()

// wholeDay are words for anything that is planned.
var wholeDay = syntax.Set("计划 安排 事 行程 活动 约 日程 事情 原计划")

// meant returns the plan that a change or a cancellation names: by its event or by its words, and
// by the day and the person that are named with it. known is false if there is none; p is then an
// unknown plan, so that no other plan ends.
func meant(t *discourse.Talk, b *discourse.BareZh, attr, word string, ends bool) (p discourse.Plan, known bool) {
	var on *timex.When
	for i := range b.Whens {
		if w := &b.Whens[i]; w.HasDay && !w.Habit && w.Grain == 'd' && (w.Weekday || w.Day >= t.Now.Day) && (ends || i < len(b.Whens)-1) {
			on = w
			break
		}
	}
	whole := false
	var words []string
	for _, w := range strings.Fields(changeWords.Replace(b.Text)) {
		switch {
		case wholeDay[w]:
			whole = true
		case utf8.RuneCountInString(w) > 1:
			words = append(words, w)
		}
	}
	with := ""
	for _, k := range [...]string{"和", "跟", "与"} {
		if _, rest, ok := strings.Cut(b.Text, k); ok {
			if with = discourse.NamePrefixZh(rest); with == "" {
				if i := strings.Index(rest, "的"); i > 0 && syntax.PersonZh(rest[:i]) {
					with = rest[:i]
				}
			}
		}
	}
	sort := "" // 眼科 of 眼科预约
	for _, w := range words {
		if of, _, ok := strings.Cut(w, word); ok && word != "" && utf8.RuneCountInString(of) > 1 {
			sort = strings.ToLower(of)
		}
	}
	whose := possessorOf(t, b.Text, word)
	p, known = t.FindOf(whose, func(p *discourse.Plan) bool {
		if !discourse.MayBe(on, p.Day, t.Now.Day) {
			return false
		}
		hay := p.Hay()
		switch {
		case with != "" && !strings.Contains(hay, with):
			return false
		case attr != "":
			return (strings.Contains(hay, attr) || strings.Contains(hay, word)) && (sort == "" || strings.Contains(hay, sort) || plain(p.Label, word))
		case len(words) == 0:
			return whole && on != nil || with != ""
		}
		for _, w := range words {
			if shares(hay, w) {
				return true
			}
		}
		return false
	})
	if known {
		return p, true
	}
	p = discourse.Plan{Subject: t.Self.Key, Attribute: attr, What: word, Day: 1}
	if whose.Named {
		p.Subject = whose.Key
	}
	if on != nil && attr != "" && ends {
		other := discourse.Plan{Day: on.Day}
		p.Attribute += " " + other.Value()
	}
	return p, false
}

// shares reports whether a text has the word, or two adjacent Chinese characters of it.
func shares(hay, word string) bool {
	rs := []rune(strings.ToLower(word))
	if len(rs) > 0 && rs[0] < 0x80 {
		return discourse.HoldsWord(hay, string(rs)) // two letters of "standup" are in "plan"
	}
	for i := 0; i+1 < len(rs); i++ {
		if strings.Contains(hay, string(rs[i:i+2])) {
			return true
		}
	}
	return false
}

// plain reports whether a plan's words name neither the sort of its event nor a person: 有个预约.
func plain(label, word string) bool {
	before, _, ok := strings.Cut(label, word)
	last, _ := utf8.DecodeLastRuneInString(before)
	return ok && !syntax.ContainsAny(before, "和", "跟", "与") && strings.ContainsRune("的个有次场约 ", last)
}
