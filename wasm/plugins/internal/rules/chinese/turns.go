package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// skilled are whose word on a matter counts.
var skilled = [...]string{"主治医生", "医生", "大夫", "牙医", "兽医", "护士", "律师", "会计", "电工", "水管工", "修车师傅", "维修师傅", "装修师傅", "师傅", "教练", "老师", "班主任", "理疗师", "康复师", "营养师", "药剂师", "验光师", "心理咨询师", "咨询师", "设计师", "中介", "顾问", "专家", "技术员", "工程师", "修车的", "水电工", "修手机的", "修电脑的", "修理工", "保险公司", "售后", "装修工", "理发师", "兽医院", "医院", "药店"}

// Advised takes what somebody skilled told the speaker to do: 牙医说要拔两颗智齿.
func Advised(t *discourse.Talk, s syntax.Sentence) bool {
	x := syntax.StripLeadZh(strings.Trim(s.Raw(), " ，,。！!"))
	x, own := discourse.CutOwnZh(x)
	who := timex.LongestZh(x, skilled[:])
	if who == "" {
		return false
	}
	rest := x[len(who):]
	for _, says := range [...]string{"建议我们", "建议我", "建议", "让我们", "让我", "叫我们", "叫我", "不让我", "跟我说", "告诉我", "说了", "说"} {
		what, ok := strings.CutPrefix(rest, says)
		if !ok {
			continue
		}
		what = strings.TrimLeft(what, "，, ")
		if strings.ContainsAny(what, "他她你您") || len([]rune(what)) < 3 || syntax.VagueZh(what) {
			return false
		}
		if strings.HasSuffix(says, "说") || strings.HasSuffix(says, "说了") || says == "告诉我" {
			if strings.HasPrefix(what, "得") || strings.HasPrefix(what, "我") && !syntax.ContainsAny(what, "要", "得", "该", "需要", "不能", "必须") || strings.HasPrefix(what, "咱") || !syntax.ContainsAny(what, "要", "得", "该", "需要", "必须", "不能", "最好", "别", "太", "不用", "可以") {
				return false
			}
		}
		b := t.Bare(s)
		a := t.BaseZh(&b, "semantic", "noted", t.Self, discourse.NotedSure)
		if a.Text = t.RewriteZh(s, b.Whens, false); !own && !strings.Contains(a.Text, t.Self.Name) {
			a.Entities = nil
		}
		for i := range b.Whens {
			if w := &b.Whens[i]; w.HasDay && !w.Habit && w.Day >= t.Now.Day {
				a.Type, a.EventType, a.Started = "episodic", "noted", timex.Moment{Day: w.Day, Minute: 0, Offset: t.Now.Offset}.Unix()
				break
			}
		}
		t.Out.Candidates = append(t.Out.Candidates, a)
		return true
	}
	return false
}

// definite is [discourse.Clause.Definite] of a Chinese clause with the event word.
func definite(x, word string) bool {
	if timex.DueZh(x) || syntax.ContainsAny(x, "我的", "你的", "这个", "那个", "这场", "那场", "把") {
		return true
	}
	_, after, ok := strings.Cut(x, word)
	return ok && word != "" && syntax.StartsWithAny(after, []string{"是", "在", "定在", "安排在"})
}

// FollowWithin is how long, in ms, a line may mean the one before it.
const FollowWithin = 2 * 60 * 1000

// stores end where things are kept.
var stores = []string{"抽屉里", "柜子里", "柜里", "箱子里", "箱里", "盒子里", "盒里", "包里", "袋子里", "架子上", "柜子上", "储物间", "储藏室", "储物间里", "衣柜里", "书柜里", "床底下"}

// stored reports a thing in a place where things are kept, 吸尘器在阳台柜子里, and no food.
func stored(what, where string) bool {
	n := utf8.RuneCountInString(what)
	return n >= 2 && n <= 5 && syntax.EndsWithAny(where, stores) && !strings.ContainsAny(what, "我你他她它谁这那人的是有说都被把了们还不没糕饭菜肉奶果饼糖汤茶面粥") && !timex.PersonZh(what) && !syntax.EndsWithAny(what, syntax.KinZh[:])
}

// HoursSure is how sure it is that something is so every day or week: it may be so today alone.
const HoursSure = 0.65

// open reports a clause that says when a place opens or closes: 电影院十点开门 is not about a film.
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
	a := t.BaseZh(&b, "semantic", "hours", t.Self, HoursSure)
	a.Text, a.Entities = t.RewriteZh(s, nil, false), nil
	t.Out.Candidates = append(t.Out.Candidates, a)
	return true
}

// asSaid is [discourse.Talk.AsSaid] of a Chinese clause.
func asSaid(t *discourse.Talk, b *discourse.BareZh) {
	a := t.BaseZh(b, "episodic", "noted", discourse.Person{}, discourse.NotedSure)
	a.Entities, a.EventType, a.Started = nil, "noted", t.Ev.At
	t.Out.Candidates = append(t.Out.Candidates, a)
}

// Askers ask for something that is to be told.
var Askers = [...]string{"什么", "谁", "哪", "几", "多少", "怎么", "为什么", "为何", "有没有", "是不是"}

// AskersIn reports a text that asks for something.
func AskersIn(x string) bool {
	return syntax.ContainsAny(x, Askers[:]...) || strings.HasSuffix(x, "吗")
}

// Spaced puts a comma for each space of a Chinese text that has no other marks, where recognisers write a space between
// clauses: 奶茶三分糖 我一直都喝这个. Those that write one between words have shorter pieces. Offsets stay.
func Spaced(text string) string {
	const least = 3 // characters that the pieces have on average
	parts := strings.Split(strings.TrimRight(text, "。！？!?. "), " ")
	if len(parts) < 2 || strings.ContainsAny(text, "，,、；：") {
		return text
	}
	n := 0
	for _, part := range parts {
		last, _ := utf8.DecodeLastRuneInString(part)
		if first, _ := utf8.DecodeRuneInString(part); !syntax.IsHan(first) || !syntax.IsHan(last) {
			return text
		}
		n += utf8.RuneCountInString(part)
	}
	if n < least*len(parts) {
		return text
	}
	at := len(strings.Join(parts, " "))
	return strings.ReplaceAll(text[:at], " ", ",") + text[at:]
}

// StandsFor makes the candidates from number from on cite the whole sentence. They were made from its words in another
// order.
func StandsFor(t *discourse.Talk, from int, s syntax.Sentence) {
	for i := from; i < len(t.Out.Candidates); i++ {
		for k := range t.Out.Candidates[i].Spans {
			if span := &t.Out.Candidates[i].Spans[k]; span.Turn == 0 {
				span.Start, span.End = s.Start, s.End
			}
		}
	}
}

var ToDos = [...]string{"待办清单", "待办事项", "任务清单", "要做的事情", "要做的事", "要做的", "待办", "任务"}

// offices are who announces what concerns the speaker, by where they say it.
var offices = []string{"物业", "房东", "学校", "幼儿园", "社区", "居委会", "小区", "供电局", "自来水公司", "供水公司", "电力公司", "燃气公司", "通知", "公告", "群里", "班主任", "老师", "医生", "老板", "领导", "单位", "公司", "客服", "快递", "邻居", "师傅"}

// AnnouncedZh is who announces, and what: 物业说周四停水. It is the speaker's where it is of their house
// or names what is appointed.
func AnnouncedZh(x string) (who, inner string) {
	if inner, ok := strings.CutPrefix(x, "他们说"); ok && !strings.Contains(inner, "他") && syntax.ContainsAny(inner, discourse.OutagesZh...) {
		return "他们", inner
	}
	for _, pre := range [...]string{"我们", "咱们", "我", "楼下", "公司", ""} {
		for _, office := range offices {
			rest, ok := strings.CutPrefix(x, pre)
			if ok {
				rest, ok = strings.CutPrefix(rest, office)
			}
			if !ok {
				continue
			}
			for _, says := range [...]string{"发通知说", "通知说", "通知我们", "通知我", "跟我说", "告诉我", "说了", "说", "通知"} {
				inner, said := strings.CutPrefix(rest, says)
				if !said {
					continue
				}
				if _, word := EventIn(inner); !strings.HasPrefix(inner, "，") && !strings.HasPrefix(inner, "我") && !strings.HasPrefix(inner, "咱") && !strings.ContainsAny(inner, "他她") && (syntax.ContainsAny(inner, discourse.OutagesZh...) || word != "" || syntax.ContainsAny(inner, "上门安装", "上门维修")) {
					return pre + office, inner
				}
			}
		}
	}
	return "", ""
}
