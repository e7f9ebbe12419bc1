package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// open reports whether a clause says when a place opens or closes: 电影院十点开门 is not about a film.
func open(x string) bool {
	return syntax.ContainsAny(x, "开门", "关门", "打烊", "营业", "开到") && !strings.ContainsAny(x, "我你他她把车会")
}

// Opens takes the hours of a place: 图书馆九点开门, 药店开到半夜.
func Opens(t *discourse.Talk, s syntax.Sentence) bool {
	x := discourse.TrimZhEnd(s.Raw())
	own, _ := discourse.CutOwnZh(x)
	if !s.Chinese() || utf8.RuneCountInString(x) > 24 || !open(own) || syntax.ContainsAny(x, "吗", "如果", "要是", "了", "没", "快", "差点", "要", "得", "怎么", "？", "还是", "是不是", "对不对", "不知道", "以为", "说", "以前", "下周", "这周", "几点", "什么时候") {
		return false
	}
	b := t.Bare(s)
	hour := false
	for i := range b.Whens {
		w := &b.Whens[i]
		closed := strings.Contains(x, "不") && (w.Weekday || w.Grain == 'w') // 银行周末不开门
		if w.HasDay && !w.Habit && !closed {
			return false
		}
		hour = hour || w.Clock || w.Habit || closed
	}
	hour = hour || strings.Contains(x, "半夜") || strings.Contains(x, "24小时") || strings.Contains(x, "二十四小时")
	place, _ := discourse.CutOwnZh(b.Text)
	if place = syntax.TrimHeads(place, "家", "附近的", "楼下的", "楼下", "门口的", "门口"); !hour || !syntax.StartsWithAny(place, placesOpen[:]) && !syntax.EndsWithAny(strings.TrimRight(place, "从到晚早中下上午开关门打烊营业 "), placesOpen[:]) {
		return false
	}
	a := t.BaseZh(&b, "semantic", "hours", t.Self, discourse.HoursSure)
	a.Text, a.Entities = t.RewriteZh(s, nil, false), nil
	t.Out.Candidates = append(t.Out.Candidates, a)
	return true
}

// shut reports whether a clause ends, after a word for a visit, with who does not work then or what is closed:
// 理发店休息, 王医生不上班.
func shut(after string) bool {
	switch syntax.TrimHeads(discourse.TrimZhEnd(after), "店", "诊所", "医院", "馆", "师", "都", "也", "要", "会", "全天") {
	case "休息", "放假", "休假", "请假", "不上班", "关门", "不开门", "不营业", "停业", "停诊", "不出诊", "不坐诊", "出诊", "坐诊", "值班":
		return true
	}
	return false
}

// shutPlace reports whether a clause says that a place is closed: 牙医诊所不上班.
func shutPlace(x string) bool {
	for _, place := range placesOpen {
		if _, after, ok := strings.Cut(x, place); ok && shut(after) {
			return true
		}
	}
	return false
}
