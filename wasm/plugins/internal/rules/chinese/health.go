package chinese

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// takes takes the medicines of somebody: 我每天吃两片阿司匹林, 我妈在吃二甲双胍, 我早上吃二甲双胍晚上吃阿司匹林.
func takes(t *discourse.Talk, b *discourse.BareZh) bool {
	if !strings.ContainsAny(b.Text, takesZh) && !strings.ContainsAny(b.S.Raw(), takesZh) {
		return false
	}
	before, _ := doseBefore(t, b)
	parts := dosesApart(t, b)
	if len(parts) < 2 {
		parts = []discourse.BareZh{*b}
	}
	for i := range parts {
		d, ok := doseIn(t, &parts[i])
		if ok && !d.known && d.who == "" {
			d.p, d.known = before.p, before.known // the same person
		}
		if !ok || !d.known {
			return i > 0
		}
		d.daily = before.everyDay() && d.when != "" && !d.habit
		d.propose(t)
		before = d
	}
	return true
}

const (
	everyDay = "每天"
	takesZh  = "吃服打注" // one of them is in each verb of doseIn
)

// dose is what a clause says that somebody takes.
type dose struct {
	b           *discourse.BareZh
	who         string // the words for who takes it
	p           discourse.Person
	known       bool     // p is known
	list        string   // the medicines as they are said: 一片二甲双胍和阿司匹林
	said, drugs []string // each of them as it is said, and without its count
	when        string   // the time of day; "" if there is none
	habit       bool     // when is of every day by itself: 每天早上
	daily       bool     // when is of every day because of an earlier 每天
}

// everyDay reports whether the time of a dose is one of each day, so that a time after it is, too.
func (d *dose) everyDay() bool { return d.daily || strings.HasPrefix(d.when, everyDay) }

// doseBefore reads the clause before b in its sentence.
func doseBefore(t *discourse.Talk, b *discourse.BareZh) (d dose, ok bool) {
	s := t.Said
	if s.Text != b.S.Text {
		return d, false
	}
	end := 0
	for end < len(s.Toks) && s.Toks[end].End <= b.S.Start {
		end++
	}
	for end > 0 && s.Toks[end-1].Kind == 'p' {
		end--
	}
	from := end
	for from > 0 && s.Toks[from-1].Kind != 'p' {
		from--
	}
	if from == end {
		return d, false
	}
	part := t.Bare(s.Sub(from, end))
	if d, ok = doseIn(t, &part); ok && !d.known && d.who == "" {
		first, _ := doseBefore(t, &part)
		d.p, d.known, d.daily = first.p, first.known, first.everyDay()
	}
	return d, ok
}

// dosesApart splits a clause before its times: 早上吃二甲双胍, 晚上吃阿司匹林. It returns nothing if a part
// does not say that somebody takes a medicine.
func dosesApart(t *discourse.Talk, b *discourse.BareZh) (parts []discourse.BareZh) {
	from := 0
	for i := 1; i <= len(b.S.Toks); i++ {
		if i < len(b.S.Toks) && (!slices.ContainsFunc(b.Whens, func(w timex.When) bool { return w.First == i }) || !strings.ContainsAny(b.S.Sub(from, i).Raw(), takesZh)) {
			continue
		}
		part := t.Bare(b.S.Sub(from, i))
		if _, ok := doseIn(t, &part); !ok {
			return nil
		}
		parts, from = append(parts, part), i
	}
	return parts
}

// doseIn reads who takes which medicines in a clause.
func doseIn(t *discourse.Talk, b *discourse.BareZh) (d dose, ok bool) {
	x := discourse.TrimZhEnd(b.Text)
	if syntax.ContainsAny(x, "不", "没", "忘", "了", "过", "想", "别", "能", "如果", "要是", "给") {
		return d, false
	}
	for _, verb := range [...]string{"吃", "服用", "服", "打", "注射"} {
		who, list, has := strings.Cut(x, verb)
		for cut := has; cut; {
			who, cut = syntax.CutEnd(who, "一天", everyDay, "天天", "早晚", "各", "都", "再", "还", "饭后", "饭前", "睡前", "现在", "正在", "在", "一直", "长期", "按时", "得", "要")
		}
		d = dose{b: b, who: syntax.TrimHeads(who, "医生让", "大夫让", "医生叫", "医生要"), list: list}
		for said := range strings.FieldsFuncSeq(strings.NewReplacer("还有", "、", "以及", "、").Replace(list), func(r rune) bool { return strings.ContainsRune("和跟与、", r) }) {
			d.said, d.drugs = append(d.said, said), append(d.drugs, uncounted(said))
		}
		if !has || len(d.drugs) == 0 || slices.ContainsFunc(d.drugs, func(d string) bool { return !Drug(d) }) || utf8.RuneCountInString(d.who) > 6 {
			continue
		}
		if d.p, d.known = t.SubjectZh(d.who); d.who == "" && !strings.HasPrefix(x, "在"+verb) {
			d.known = false
		}
		for i := range b.Whens {
			if w := &b.Whens[i]; w.Next > w.First && (w.Habit || d.when == "" && !w.HasDay) {
				d.when, d.habit = b.S.Text[b.S.Toks[w.First].Start:b.S.Toks[w.Next-1].End], w.Habit
				if w.Habit {
					break
				}
			}
		}
		return d, true
	}
	return d, false
}

// uncounted returns a medicine without its count: 阿司匹林 for 两片阿司匹林.
func uncounted(drug string) string {
	for _, unit := range [...]string{"片", "粒", "颗", "次", "毫克", "支", "针"} {
		n, rest, counted := strings.Cut(drug, unit)
		if counted && rest != "" && utf8.RuneCountInString(n) <= 3 && strings.Trim(n, "0123456789一二两三四五半") == "" {
			return rest
		}
	}
	return drug
}

// propose proposes each medicine. One with a time of each day has a slot of its own, with a value
// for each time.
func (d *dose) propose(t *discourse.Talk) {
	if strings.HasPrefix(d.drugs[0], "完") {
		return // 刚吃完药: which?
	}
	for i, drug := range d.drugs {
		made, when := len(t.Out.Candidates), d.when
		if d.daily {
			when = everyDay + when
		}
		if d.habit || d.daily {
			health(t, d.b, d.p, discourse.TimesOf(drug), when)
		} else {
			health(t, d.b, d.p, discourse.Medication, drug)
		}
		if len(t.Out.Candidates) == made {
			continue
		}
		a := &t.Out.Candidates[made]
		if d.habit || d.daily {
			a.Predicate, a.Object = discourse.Medication, drug+" "+when
		}
		if d.daily {
			a.Text = strings.Replace(a.Text, d.when, when, 1)
		}
		if len(d.drugs) > 1 && strings.Contains(a.Text, d.list) {
			a.Details = a.Text
			a.Text = strings.Replace(a.Text, d.list, d.said[i], 1)
		}
	}
}

// noMedicine ends a medicine of the speaker, at any time.
func noMedicine(t *discourse.Talk, b *discourse.BareZh, drug string) {
	for _, attribute := range [...]string{discourse.Medication, discourse.TimesOf(drug)} {
		value := drug
		if attribute != discourse.Medication {
			value = ""
		}
		ended(t, b, "health", attribute, value, true)
		t.Out.Candidates[len(t.Out.Candidates)-1].Sensitivity = "private"
	}
}

// switched takes another medicine in place of one: 我妈把降压药换成了氨氯地平, 医生给我把药换成了氨氯地平, 我的降压药换成氨氯地平了.
func switched(t *discourse.Talk, b *discourse.BareZh) bool {
	head, drug, ok := strings.Cut(discourse.TrimZhEnd(b.Text), "换成")
	drug = strings.TrimSuffix(strings.TrimPrefix(drug, "了"), "了")
	if !ok || !Drug(drug) || syntax.ContainsAny(head, "不", "没", "想", "要", "打算", "可以", "能", "建议", "如果", "以前", "说") {
		return false
	}
	who, old, did := strings.Cut(head, "把")
	if who, by := syntax.CutHead(who, "医生", "大夫"); by && did {
		if who = strings.TrimPrefix(who, "给"); who != "" {
			head = who + "的" + old
		} else {
			head = old
		}
	} else if did {
		head = who + "的" + old
	}
	at := strings.LastIndex(head, "的")
	if at <= 0 {
		return false
	}
	who, old = head[:at], head[at+len("的"):]
	p, ok := t.SubjectZh(who)
	if !ok || old != "药" && !Drug(old) {
		return false
	}
	health(t, b, p, discourse.Medication, drug)
	if p.Key == t.Self.Key && !strings.HasSuffix(old, "药") {
		noMedicine(t, b, old)
	}
	return true
}
