package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// AnsweredSure is the greatest confidence of a statement that was made from a question and its
// answer.
const AnsweredSure = 0.8

// Asked is a question as the one who answers would say it: 你 is 我, and 我 is 你.
type Asked struct {
	Text  string // without 吗, 没, 呢 and marks
	Ends  string // 吗, 没 or 呢; "": none of them
	Whose string // the relative about whom it asks, as 我老公; "": none
	Now   timex.Moment
}

// Swap turns what another person said into the first person.
var Swap = strings.NewReplacer("你", "我", "您", "我", "我", "你")

// near completes 哪 to 哪儿, and replaces polite questions for an age by 多大.
var near = strings.NewReplacer("哪儿", "哪儿", "哪上班", "哪儿上班", "哪工作", "哪儿工作", "哪住", "哪儿住", "哪读", "哪儿读", "哪上学", "哪儿上学", "哪买", "哪儿买", "哪出生", "哪儿出生", "在哪了", "在哪儿了", "放哪了", "放哪儿了", "高寿", "多大", "贵庚", "多大")

// tags are questions after a statement.
var tags = []string{"对吧", "是吧", "对不对", "是不是", "没错吧", "对吗", "是吗"}

// Gaps reports whether a question has a word for what it asks for.
func (q *Asked) Gaps() bool {
	return syntax.ContainsAny(q.Text, Askers[:]...) || strings.Contains(q.Text, "啥") || strings.Contains(q.Text, "多大") || strings.Contains(q.Text, "多高")
}

// asksPlace reports whether a question ends with 在哪, 放哪 or 住哪.
func asksPlace(x string) bool {
	return syntax.EndsWithAny(x, []string{"在哪", "放哪", "住哪", "存哪", "搁哪", "停哪"})
}

// askedBothWays reduces a question that is asked both ways, 来不来 or 是不是, to one, and reports whether
// it was such.
func askedBothWays(x string) (string, bool) {
	rs := []rune(x)
	for i := 1; i+1 < len(rs); i++ {
		if (rs[i] == '不' || rs[i] == '没') && rs[i-1] == rs[i+1] && rs[i-1] != '时' {
			return string(rs[:i]) + string(rs[i+2:]), true
		}
	}
	return x, false
}

// Askers are question words.
var Askers = [...]string{"什么", "谁", "哪", "几", "多少", "怎么", "为什么", "为何", "有没有", "是不是"}

// AskersIn reports whether a text has a question word.
func AskersIn(x string) bool {
	return syntax.ContainsAny(x, Askers[:]...) || strings.HasSuffix(x, "吗")
}

// Asks returns the question of a turn, if it asks exactly one.
func Asks(text string, now timex.Moment) (Asked, bool) {
	all := syntax.Sentences(text)
	const cry = 2 // greatest number of characters: 啊？
	if len(all) == 0 || len(all) > 1 && len(all[len(all)-2].Toks) > cry && (all[len(all)-2].Ends == "？" || all[len(all)-2].Ends == "?") {
		return Asked{}, false
	}
	s := all[len(all)-1]
	x, tagged := strings.TrimRight(s.Raw(), " 。！!"), false
	for _, tag := range tags {
		if r, ok := strings.CutSuffix(x, tag); ok && strings.TrimRight(r, "，, ") != r {
			x, tagged = strings.TrimRight(r, "，, "), true
		}
	}
	if i := strings.LastIndexAny(x, "，,"); i >= 0 {
		_, n := utf8.DecodeRuneInString(x[i:])
		if to := syntax.StripLeadZh(x[:i]); syntax.PersonZh(to) || syntax.KinPrefixZh(to) == to && to != "" {
			return Asked{}, false // 小王，你对什么过敏？
		}
		x = x[i+n:]
	}
	x = syntax.TrimTails(strings.TrimLeft(syntax.StripLeadZh(x), " 那诶欸哎"), "来着", "啊", "呀", "哈", "啦")
	if syntax.ContainsAny(x, "要不", "能不能", "可不可以", "能帮", "可以帮", "好不好", "行不行", "行吗", "好吗", "可以吗", "为什么", "为啥", "怎么", "应该", "密码", "验证码", "卡号") {
		return Asked{}, false
	}
	if rest, ok := syntax.CutHead(x, "行", "好的", "好", "嗯"); ok && syntax.StartsWithAny(rest, []string{"几点", "几号", "哪天", "什么时候", "在哪", "多少钱"}) {
		x = rest // 行几点
	}
	q := Asked{Text: near.Replace(Swap.Replace(x)), Now: now}
	if syntax.StartsWithAny(x, []string{"你", "您"}) && strings.HasSuffix(q.Text, "了吧") {
		q.Text, q.Ends = strings.TrimSuffix(q.Text, "吧"), "吗" // 你搬新家了吧
	}
	for _, end := range [...]string{"没有", "吗", "嘛", "么", "没", "呢"} {
		if r, ok := strings.CutSuffix(q.Text, end); ok && r != "" && !strings.HasSuffix(r, "什") && !strings.HasSuffix(r, "有") {
			q.Text, q.Ends = r, end
			break
		}
	}
	if k := syntax.KinPrefixZh(q.Text); k != "" && strings.HasPrefix(q.Text[len(k):], "我") {
		q.Text = q.Text[len(k):] // 阿姨您贵姓
	}
	if who, rest, ok := strings.Cut(q.Text, "我"); ok && syntax.PersonZh(who) {
		q.Text = "我" + rest // 李哥你们项目上线了吗
	}
	rhetorical := strings.Contains(q.Text, "不是") && !strings.Contains(q.Text, "是不是") // 你不是对芒果过敏吗
	if rhetorical {
		if q.Text = strings.Replace(q.Text, "不是", "", 1); !strings.HasPrefix(q.Text, "我") || strings.HasPrefix(q.Text, "我说") {
			return Asked{}, false
		}
	}
	if syntax.StartsWithAny(q.Text, []string{"会是", "会在", "会几"}) { // 那个会是几点
		q.Text = "会议" + q.Text[len("会"):]
	}
	if rest, ok := syntax.CutHead(q.Text, "我还记得", "我记得", "我知道", "我知不知道"); ok && q.Gaps() && rest != "" {
		q.Text = rest // 你记得我电梯卡在谁那儿吗
	}
	q.Text = syntax.TrimHeads(q.Text, "快过年了", "马上过年了")
	if rest, ours := syntax.CutHead(q.Text, "咱们家", "咱家"); ours {
		q.Text = "我家" + rest
	}
	if who, asks := syntax.CutEnd(q.Text, "过敏什么", "过敏啥"); asks {
		q.Text = who + "对什么过敏"
	}
	if asksPlace(q.Text) {
		q.Text += "儿" // 备用钥匙在哪
	}
	either := false
	q.Text, either = askedBothWays(q.Text)
	own, _ := discourse.CutOwnZh(q.Text)
	lead := q.Text[:len(q.Text)-len(own)]
	if k := syntax.KinPrefixZh(own); k != "" && !strings.HasPrefix(own[len(k):], "的") && (lead != "" || utf8.RuneCountInString(k) > 1) {
		q.Whose = lead + k
	}
	return q, tagged || either || q.Ends != "" || s.Ends == "?" || s.Ends == "？" || q.Gaps() || strings.Contains(q.Text, "还是")
}

// AskedPlans reports whether the previous turn asks what somebody will do: an answer with an order
// of things is then not a procedure.
func AskedPlans(t *discourse.Talk) bool {
	b := t.JustSaid()
	return b != nil && syntax.ContainsAny(b.Text, "打算干", "打算做", "打算怎么", "什么打算", "有啥打算", "什么安排", "怎么安排", "什么计划")
}
